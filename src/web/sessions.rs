//! Sessions, kept in the shop's own database on either engine.

use async_trait::async_trait;
use sqlx::types::Json;
use time::Duration;
use tower_sessions::{
    Expiry, SessionManagerLayer, SessionStore,
    cookie::SameSite,
    session::{Id, Record},
    session_store::{Error, Result},
};

use crate::{
    app::App,
    cart::FORGOTTEN_AFTER,
    clock::Clock,
    db::{Db, retrying},
};

/// The middleware that loads and saves them.
pub fn layer(app: &App) -> SessionManagerLayer<DbSessions> {
    let sessions = DbSessions {
        db: app.till.db.clone(),
        clock: app.till.clock.clone(),
    };
    let seconds = FORGOTTEN_AFTER.num_seconds();
    SessionManagerLayer::new(sessions)
        .with_name("boring_session")
        .with_http_only(true)
        // A link from elsewhere, such as the provider's way back, brings the cookie; a form from elsewhere does not.
        .with_same_site(SameSite::Lax)
        .with_secure(app.till.links.shop().starts_with("https:"))
        .with_expiry(Expiry::OnInactivity(Duration::seconds(seconds)))
}

/// The sessions in the database. When they expire our own clock decides, and the pruner deletes them by the same.
#[derive(Clone, Debug)]
pub struct DbSessions {
    db: Db,
    clock: Clock,
}

#[async_trait]
impl SessionStore for DbSessions {
    /// Saves a new session under an id that nobody has; the id is drawn again on a collision.
    async fn create(&self, record: &mut Record) -> Result<()> {
        while !retrying(|| self.insert(record))
            .await
            .map_err(|error| backend(&error))?
        {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> Result<()> {
        retrying(|| self.upsert(record))
            .await
            .map_err(|error| backend(&error))
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let found = retrying(|| self.find(id)).await;
        Ok(found
            .map_err(|error| backend(&error))?
            .map(|Json(record)| record))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        retrying(|| self.remove(id))
            .await
            .map_err(|error| backend(&error))
    }
}

impl DbSessions {
    /// When a session that is saved now expires.
    fn expiry(&self) -> i64 {
        (self.clock.now() + FORGOTTEN_AFTER).timestamp()
    }

    async fn find(&self, id: &Id) -> sqlx::Result<Option<Json<Record>>> {
        let found: Option<(Json<Record>,)> = self
            .db
            .query("select record from sessions where id = $1 and expires_at > $2")
            .bind(id.to_string())
            .bind(self.clock.now().timestamp())
            .fetch_optional()
            .await?;
        Ok(found.map(|(record,)| record))
    }

    /// Whether the id was free.
    async fn insert(&self, record: &Record) -> sqlx::Result<bool> {
        let mut tx = self.db.begin().await?;
        let inserted = tx
            .query(
                "insert into sessions (id, record, expires_at) values ($1, $2, $3)
                 on conflict do nothing",
            )
            .bind(record.id.to_string())
            .bind(Json(record))
            .bind(self.expiry())
            .execute()
            .await?;
        tx.commit().await?;
        Ok(inserted == 1)
    }

    async fn upsert(&self, record: &Record) -> sqlx::Result<()> {
        let mut tx = self.db.begin().await?;
        tx.query(
            "insert into sessions (id, record, expires_at) values ($1, $2, $3)
             on conflict (id) do update
             set record = excluded.record, expires_at = excluded.expires_at",
        )
        .bind(record.id.to_string())
        .bind(Json(record))
        .bind(self.expiry())
        .execute()
        .await?;
        tx.commit().await
    }

    async fn remove(&self, id: &Id) -> sqlx::Result<()> {
        let mut tx = self.db.begin().await?;
        tx.query("delete from sessions where id = $1")
            .bind(id.to_string())
            .execute()
            .await?;
        tx.commit().await
    }
}

fn backend(error: &sqlx::Error) -> Error {
    Error::Backend(error.to_string())
}

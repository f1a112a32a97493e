//! The naive twin, as a flow: its router is called as a server calls it. It has no workers.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::{Naive, Shopfront, audit, fill_shelves};
use crate::{
    lab::flow::{Answer, Books, Failed, Flow, Front, NoAnswer, Opening, Premises, Request},
    mail::post::{Post, Tray},
    provider::Provider,
    secret::Secret,
};

/// Where the shop thinks that customers reach it.
const PUBLIC_URL: &str = "http://naive.example";

/// Nothing in the lab takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is not done a day after everything has come to rest never will be: nobody is there to do it.
const REST: TimeDelta = TimeDelta::hours(25);

/// A process of the naive shop.
struct Process {
    front: Shopfront,
    /// The same shop, of whose work nobody is told.
    quiet: Naive,
    tray: Tray,
}

/// Opens a process of the naive shop.
pub fn open(premises: Premises) -> Opening {
    Box::pin(async move {
        let quiet = Naive {
            db: premises.database().await?,
            provider: Provider::new(
                &premises.provider_url,
                Secret::new(premises.provider_key),
                PATIENCE,
            )?,
            post: Arc::new(Post::Tray(premises.tray.clone())),
            mail_from: "The Naive Shop <shop@naive.example>".parse()?,
            clock: premises.clock,
            webhook_secrets: [Secret::new(premises.webhook_secret)].into(),
            public_url: PUBLIC_URL.to_owned(),
        };
        fill_shelves(&quiet.db).await?;
        let watched = Naive {
            db: quiet.db.with_probe(premises.probe.clone()),
            provider: quiet.provider.clone().with_probe(premises.probe),
            ..quiet.clone()
        };
        let process: Arc<dyn Flow> = Arc::new(Process {
            front: Shopfront::of(watched),
            quiet,
            tray: premises.tray,
        });
        Ok(process)
    })
}

#[async_trait]
impl Front for Process {
    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer> {
        self.front.answer(request).await
    }
}

#[async_trait]
impl Flow for Process {
    async fn idle(&self) {}

    async fn work(&self) {}

    async fn next_due(&self) -> Result<Option<DateTime<Utc>>, Failed> {
        Ok(None)
    }

    async fn stock(&self, sku: &str, units: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update naive_products set stock = $2, stocked = $2 where sku = $1")
            .bind(sku)
            .bind(units)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn price(&self, sku: &str, minor: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update naive_products set price_minor = $2 where sku = $1")
            .bind(sku)
            .bind(minor)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn books(&self) -> Result<Books, Failed> {
        let Naive {
            db,
            provider,
            clock,
            ..
        } = &self.quiet;
        let report = audit(db, provider, &self.tray, clock.now() + REST).await?;
        let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from naive_products";
        Ok(Books::of(report, db.query(sold).fetch_scalar().await?))
    }
}

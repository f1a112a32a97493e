//! The shop of this crate, as a flow: its router is called as the server calls it, and its workers are stepped.

mod pages;
pub(super) mod requests;
mod shopfront;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(super) use self::shopfront::Shopfront;
use super::flow::{Answer, Books, Failed, Flow, Front, NoAnswer, Opening, Premises, Request};
use crate::{
    app::{App, background::Background},
    audit,
    checkout::{Crowds, Limits, Till, reconciler},
    links::Links,
    mail::post::Post,
    money::{Currency, Money},
    pricing::{Pricing, TaxRates},
    provider::Provider,
    pruner::{
        self, Retention,
        retention::{CARTS_LEAST, EVENTS_LEAST, MESSAGES_LEAST},
    },
    secret::Secret,
    web::{
        admin::access::{self, Access},
        api::ApiKeys,
        metrics::Metrics,
    },
    webhooks::missed,
    workers,
};

/// Where the shop thinks that customers reach it.
const PUBLIC_URL: &str = "http://shop.example";

/// One call of the provider, and one request, take no longer. Nothing that is slow in the lab is meant to be.
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens a process: all that it knows it reads from the database.
pub fn open(premises: Premises) -> Opening {
    Box::pin(Safe::open(premises))
}

/// A process of the shop.
struct Safe {
    app: App,
    front: Shopfront,
    background: Background,
    /// The same till, of whose work nobody is told.
    quiet: Till,
    /// When the two look next that look seldom: for events that were missed, and for what is old.
    looks: Mutex<Looks>,
}

#[derive(Clone, Copy)]
struct Looks {
    missed: DateTime<Utc>,
    old: DateTime<Utc>,
}

impl Safe {
    async fn open(premises: Premises) -> Result<Arc<dyn Flow>, Failed> {
        let quiet = till(&premises).await?;
        let now = quiet.clock.now();
        let till = quiet.with_probe(&premises.probe);
        let app = App {
            webhook_secrets: [Secret::new(premises.webhook_secret)].into(),
            api_keys: ApiKeys::new(&[]),
            mailbox: None,
            lab: None,
            answer_within: PATIENCE,
            proxies: 0,
            access: Access::by(&access::make_up()),
            metrics: Metrics::default(),
            auditing: Arc::default(),
            tasks: TaskTracker::new(),
            till,
        };
        let keep = Retention {
            keep_events: EVENTS_LEAST,
            keep_messages: MESSAGES_LEAST,
            keep_carts: CARTS_LEAST,
        };
        let from = "The Boring Shop <shop@boring.example>".parse()?;
        Ok(Arc::new(Self {
            front: Shopfront::of(&app),
            background: Background::alone(&app, Post::Tray(premises.tray), from, keep),
            quiet,
            looks: Mutex::new(Looks {
                missed: now,
                old: now,
            }),
            app,
        }))
    }

    /// Whether somebody who looks every `beat` looks now.
    fn is_time(&self, look: fn(&mut Looks) -> &mut DateTime<Utc>, beat: TimeDelta) -> bool {
        let now = self.quiet.clock.now();
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        let next = look(&mut looks);
        let is_time = *next <= now;
        if is_time {
            *next = now + beat;
        }
        is_time
    }
}

#[async_trait]
impl Front for Safe {
    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer> {
        self.front.answer(request).await
    }
}

#[async_trait]
impl Flow for Safe {
    async fn idle(&self) {
        self.app.tasks.close();
        self.app.tasks.wait().await;
        self.app.tasks.reopen();
    }

    async fn work(&self) {
        let (workers, never) = (&self.background, CancellationToken::new());
        let now = self.quiet.clock.now();
        if let Err(error) = reconciler::round(&workers.till, &never).await {
            tracing::error!(%error, "the reconciler cannot read what is due");
        }
        if self.is_time(|looks| &mut looks.missed, missed::BEAT)
            && let Err(error) = missed::catch_up(&workers.till, &never).await
        {
            tracing::warn!(%error, "cannot read the provider's events");
        }
        let worked = async {
            workers::do_what_is_due(&workers.relay).await?;
            workers::do_what_is_due(&workers.postman).await?;
            workers::do_what_is_due(&workers.refunder).await?;
            if self.is_time(|looks| &mut looks.old, pruner::LOOK) {
                workers.pruner.round(now, &never).await?;
            }
            Ok::<(), sqlx::Error>(())
        };
        if let Err(error) = worked.await {
            tracing::error!(%error, "work not done; it is taken up again");
        }
    }

    async fn next_due(&self) -> Result<Option<DateTime<Utc>>, Failed> {
        let due: Vec<(Option<DateTime<Utc>>,)> = self
            .quiet
            .db
            .query(
                "select drive_at from checkouts where status = 'pending'
                 union all
                 select coalesce(not_before, created_at) from outbox o
                 where published_at is null and parked_at is null
                   and not exists (select 1 from outbox earlier
                                   where earlier.aggregate_id = o.aggregate_id
                                     and earlier.id < o.id and earlier.published_at is null)
                 union all
                 select coalesce(not_before, created_at) from emails
                 where sent_at is null and given_up_at is null
                 union all
                 select lease_until from refunds where status = 'pending'",
            )
            .fetch_all()
            .await?;
        Ok(due.into_iter().filter_map(|(at,)| at).min())
    }

    async fn stock(&self, sku: &str, units: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update products set stock = $2, stocked = $2, delivered = $2 where sku = $1")
            .bind(sku)
            .bind(units)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn price(&self, sku: &str, minor: i64) -> Result<(), Failed> {
        let mut tx = self.quiet.db.begin().await?;
        tx.query("update products set price_minor = $2 where sku = $1")
            .bind(sku)
            .bind(minor)
            .execute()
            .await?;
        Ok(tx.commit().await?)
    }

    async fn books(&self) -> Result<Books, Failed> {
        let Till {
            db,
            provider,
            clock,
            ..
        } = &self.quiet;
        let report = audit::audit(db, provider, clock.now()).await?;
        let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from products";
        Ok(Books::of(report, db.query(sold).fetch_scalar().await?))
    }
}

/// What a process of the shop works with. Of its work nobody is told.
pub async fn till(premises: &Premises) -> Result<Till, Failed> {
    let currency = Currency::Eur;
    let db = premises.database().await?;
    Ok(Till {
        links: Links::open(&db, PUBLIC_URL, premises.clock.now()).await?,
        db,
        provider: Provider::new(
            &premises.provider_url,
            Secret::new(premises.provider_key),
            PATIENCE,
        )?,
        clock: premises.clock.clone(),
        lease: TimeDelta::seconds(15),
        authentication_time: TimeDelta::hours(1),
        limits: Limits::new(20, 60),
        crowds: Crowds::default(),
        pricing: Arc::new(Pricing {
            currency,
            shipping: Money::new(0, currency),
            tax_rates: TaxRates::default(),
        }),
    })
}

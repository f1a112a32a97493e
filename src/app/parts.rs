//! What a shop is put together from.

use std::{net::SocketAddr, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;

use super::StartError;
use crate::{
    catalog,
    checkout::{Crowds, Limits, Till},
    clock::Clock,
    config::ServeArgs,
    db::Db,
    lab::{Lab, desk::OwnProvider},
    links::Links,
    mail::mailbox::Mailbox,
    money::Currency,
    pricing::Pricing,
    provider::Provider,
    simulator::{Simulator, SimulatorConfig, WebhookTarget},
};

/// Fills an empty catalog. A full one must be priced in the shop's currency: a figure would be right in no other.
pub(super) async fn fill_catalog(
    db: &Db,
    currency: Currency,
    now: DateTime<Utc>,
) -> Result<(), StartError> {
    catalog::demo::seed_when_empty(db, currency, now)
        .await
        .map_err(StartError::Database)?;
    let other = catalog::other_currency(db, currency).await;
    match other.map_err(StartError::Database)? {
        None => Ok(()),
        Some(catalog) => Err(StartError::OtherCurrency { catalog, currency }),
    }
}

pub(super) fn till(
    args: &ServeArgs,
    db: Db,
    clock: Clock,
    pricing: Pricing,
    links: Links,
    provider_url: &str,
) -> Result<Till, StartError> {
    let key = args.provider_key.key.clone();
    Ok(Till {
        provider: Provider::new(provider_url, key, args.provider_timeout)?,
        db,
        clock,
        lease: TimeDelta::from_std(args.lease).unwrap_or(TimeDelta::MAX),
        authentication_time: TimeDelta::from_std(args.authentication_time)
            .unwrap_or(TimeDelta::MAX),
        limits: Limits::new(args.attempts_per_session, args.attempts_per_address),
        crowds: Crowds::default(),
        links,
        pricing: Arc::new(pricing),
    })
}

/// A part of the lab, as long as mails are files.
pub(super) fn mailbox(args: &ServeArgs) -> Option<Mailbox> {
    (args.is_lab_on() && args.smtp_url.is_none()).then(|| Mailbox::at(&args.mail_folder))
}

/// The lab, where it is shown. It plays with the simulator beside the shop, and with no other provider.
pub(super) fn lab(
    args: &ServeArgs,
    simulator: Option<&Simulator>,
    shop: SocketAddr,
    stopping: &CancellationToken,
) -> Option<Lab> {
    let provider = simulator.map(|simulator| OwnProvider {
        control: simulator.control(),
        url: simulator.url(),
        key: args.provider_key.key.clone(),
        webhook: args.webhook_secret.first().map(|_| webhook_at(shop)),
    });
    args.is_lab_on()
        .then(|| Lab::open(provider, stopping.clone()))
}

fn webhook_at(shop: SocketAddr) -> String {
    format!("http://{shop}/webhooks/provider")
}

/// Starts the simulator with a webhook endpoint that points back at the shop.
pub(super) async fn start_simulator(
    args: &ServeArgs,
    shop: SocketAddr,
) -> Result<Simulator, StartError> {
    let secret = args.webhook_secret.first();
    let webhooks = secret.map(|secret| WebhookTarget {
        url: webhook_at(shop),
        secret: secret.expose().to_owned(),
    });
    let simulator = Simulator::start_with(SimulatorConfig {
        listen: args.provider_listen,
        database_url: args.provider_database_url.clone(),
        key: args.provider_key.key.expose().to_owned(),
        webhooks: webhooks.into_iter().collect(),
        ..SimulatorConfig::default()
    });
    Ok(simulator.await?)
}

//! A world: a shop that lives in this process, and everything around it.
//!
//! The shop's process is a [life]: a thread with a runtime and pools of its own, which can end at any boundary with
//! all that it has in memory. What outlives it is outside: its database, the provider (a simulator in memory), the mails
//! that were delivered, and the clock, which moves only by hand. Nothing happens by itself: requests are sent, events are
//! delivered and workers are stepped when a story says so, one after the other.
//!
//! ```text
//! story ── ask, work, deliver ──► World ──► Life (thread, runtime, App) ──► database, provider, tray
//!                                   ▲                  │ every boundary
//!                                   └── orders ── Watch: counts it, and asks the plan for a fault
//! ```
//!
//! A [`Plan`] says at which boundary which [`Fault`] strikes. In reading order:
//!
//! 1. here: what a story can let happen.
//! 2. [`fault`]: what can go wrong, and where.
//! 3. `watch`: the probe of a world.
//! 4. `step`: one thing after the other, and what a fault lets happen in between.
//! 5. `news`: what the provider tells.
//! 6. [`life`]: a process.
//! 7. [`ground`]: what worlds share: a scratch database, and a provider.
//! 8. `tally`: what it came to.

pub mod fault;
pub mod ground;
pub mod life;
mod news;
mod step;
mod tally;
#[cfg(test)]
mod tests;
mod watch;

use std::{collections::HashSet, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use tokio::sync::mpsc;

pub use self::{
    fault::Fault,
    ground::Ground,
    life::Life,
    tally::{Sums, Tally},
    watch::{Moment, Plan, no_faults},
};
use self::{
    life::Open,
    news::Told,
    step::Act,
    watch::{Order, Watch},
};
use super::flow::{Answer, Books, Failed, NoAnswer, Premises, Request};
use crate::{clock::Clock, mail::post::Tray, probe::Probe};

/// So many rounds of workers may follow one another. What goes on for longer never ends.
const ROUNDS_MAX: usize = 100;

/// How long the provider waits before it delivers again what was not taken.
const REDELIVERED_AFTER: Duration = Duration::from_secs(5);

/// A shop and everything around it.
pub struct World<'g> {
    ground: &'g Ground,
    open: Open,
    premises: Premises,
    watch: Watch,
    orders: mpsc::UnboundedReceiver<Order>,
    life: Option<Arc<Life>>,
    /// What the provider has told, as far as it is known.
    told: Told,
    /// The events that the shop has taken.
    taken: HashSet<String>,
}

impl<'g> World<'g> {
    /// A fresh one on `ground`, where nothing was there before. Its shop is opened by `open` when something is first asked of
    /// it; `plan` says what goes wrong.
    pub async fn begin(ground: &'g Ground, open: Open, plan: Plan) -> Result<Self, Failed> {
        let database_url = ground.clear().await?;
        let (give, orders) = mpsc::unbounded_channel();
        let watch = Watch::new(plan, ground.control(), give);
        let premises = Premises {
            database_url,
            connections: None,
            provider_url: ground.provider_url(),
            provider_key: ground::PROVIDER_KEY,
            webhook_secret: ground::WEBHOOK_SECRET,
            clock: Clock::default(),
            tray: Tray::default(),
            probe: watch.probe(0),
        };
        Ok(Self {
            ground,
            open,
            premises,
            watch,
            orders,
            life: None,
            told: Told::default(),
            taken: HashSet::new(),
        })
    }

    // --- What somebody does ---

    /// Sends a request and waits until it, and all that it has left behind, has ended.
    pub async fn ask(&mut self, request: Request) -> Result<Result<Answer, NoAnswer>, Failed> {
        self.run(Act::Request(request)).await
    }

    /// Lets the workers do once what is due.
    pub async fn work(&mut self) -> Result<(), Failed> {
        let _ = self.run(Act::Work).await?;
        Ok(())
    }

    /// Lets the world go on until nothing is due: events are delivered until they are taken, workers run, the provider decides
    /// what it takes days over, and whenever nothing else is left to do now, the clock moves on to the next due moment.
    pub async fn go_on(&mut self) -> Result<Settled, Failed> {
        // Somebody may have been at the provider of whom the shop knows nothing.
        self.told.after = None;
        for _ in 0..ROUNDS_MAX {
            self.deliver_news().await?;
            self.work().await?;
            let is_news_left = !self.news().await?.is_empty();
            let decided = self.ground.control().settle(None).await?;
            if decided > 0 {
                self.told.after = None;
            }
            match self.next_due().await? {
                _ if decided > 0 => {}
                None if !is_news_left => return Ok(Settled::Yes),
                Some(at) if !is_news_left => self.wait_until(at).await?,
                _ => self.advance(REDELIVERED_AFTER).await?,
            }
        }
        Ok(Settled::Never)
    }

    /// Lets the world go on for a while: events are delivered, workers run once, and the clock moves on.
    pub async fn go_on_for(&mut self, time: Duration) -> Result<(), Failed> {
        self.deliver_news().await?;
        self.work().await?;
        self.advance(time).await
    }

    /// The customer answers their bank's question at `page`: yes.
    pub async fn approve(&mut self, page: &str) -> Result<(), Failed> {
        self.told.after = None;
        self.ground.approve(page).await
    }

    /// The customer pays what was declined with another card, on a page of the provider's that is still open.
    pub async fn pay_elsewhere(&mut self, card: &str) -> Result<(), Failed> {
        self.told.after = None;
        self.ground.confirm_newest(card).await
    }

    /// Moves the clocks of the shop and of the provider on.
    pub async fn advance(&mut self, by: Duration) -> Result<(), Failed> {
        self.told.after = None;
        self.premises.clock.advance(by);
        self.ground.control().advance(by).await?;
        Ok(())
    }

    async fn wait_until(&mut self, at: DateTime<Utc>) -> Result<(), Failed> {
        let wait = (at - self.premises.clock.now()).to_std();
        // Clocks move by whole seconds. What is due and was not done waits for something, and that takes time too.
        self.advance(wait.unwrap_or_default() + Duration::from_secs(1))
            .await
    }

    async fn next_due(&mut self) -> Result<Option<DateTime<Utc>>, Failed> {
        let life = self.life().await?;
        let flow = Arc::clone(life.flow());
        life.spawn(async move { flow.next_due().await }).await?
    }

    // --- Before anything happens ---

    /// Puts so many units of a product on the shelf, and no more.
    pub async fn stock(&mut self, sku: &'static str, units: i64) -> Result<(), Failed> {
        let life = self.life().await?;
        let flow = Arc::clone(life.flow());
        life.spawn(async move { flow.stock(sku, units).await })
            .await?
    }

    /// Changes a price, in minor units.
    pub async fn price(&mut self, sku: &'static str, minor: i64) -> Result<(), Failed> {
        let life = self.life().await?;
        let flow = Arc::clone(life.flow());
        life.spawn(async move { flow.price(sku, minor).await })
            .await?
    }

    // --- How it ends ---

    /// What it came to, with the invariants checked.
    pub async fn tally(&mut self) -> Result<Tally, Failed> {
        let life = self.life().await?;
        let flow = Arc::clone(life.flow());
        let books: Books = life.spawn(async move { flow.books().await }).await??;
        let ledger = self.ground.control().ledger().await?;
        Ok(Tally::of(&ledger, books, &self.premises.tray.mails()))
    }

    /// The boundaries that were passed, in their order.
    pub fn moments(&self) -> Vec<Moment> {
        self.watch.moments()
    }

    /// Ends the shop's process once it has done what it was at.
    pub async fn end(&mut self) {
        self.ground.rest().await;
        self.kill().await;
    }

    /// Ends the shop's process, wherever it is.
    pub async fn kill(&mut self) {
        self.watch.bury();
        self.told.is_uncertain = true;
        if let Some(life) = self.life.take() {
            life.end().await;
        }
    }

    /// The shop's process has died, and everybody outside has noticed.
    async fn mourn(&mut self) -> Result<(), Failed> {
        self.kill().await;
        self.ground.notice_the_dead().await
    }

    // --- Processes ---

    /// What its processes are opened with.
    pub fn premises(&self) -> &Premises {
        &self.premises
    }

    /// The process of the moment. When there is none, one is opened.
    pub async fn life(&mut self) -> Result<Arc<Life>, Failed> {
        if let Some(life) = &self.life {
            return Ok(Arc::clone(life));
        }
        let probe = self.watch.next_life();
        let life = Arc::new(self.open_another(probe).await?);
        self.life = Some(Arc::clone(&life));
        Ok(life)
    }

    /// One more process on the same database, whose boundaries are reported to `probe` instead. For whoever steps several
    /// actors by hand.
    pub async fn open_another(&self, probe: Probe) -> Result<Life, Failed> {
        let premises = Premises {
            probe,
            connections: self.ground.connections().await?,
            ..self.premises.clone()
        };
        Life::begin(self.open, premises).await
    }
}

/// Whether a world came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Nothing is due any more.
    Yes,
    /// It went on and on.
    Never,
}

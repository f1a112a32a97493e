//! What is done to the town while it trades.

use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use tokio::time::sleep;

use crate::{
    size::Size,
    street::Street,
    town::{LEASE, SHOPS, Town},
};

/// How often it is said how far it is.
pub const PROGRESS: Duration = Duration::from_secs(10);

/// How often the banks of slow methods decide.
const BANKS: Duration = Duration::from_secs(2);

/// How often each of them was struck.
pub type Blows = BTreeMap<&'static str, usize>;

/// One blow.
#[derive(Clone, Copy, Debug)]
enum Blow {
    KillsShop,
    KillsAllShops,
    KillsProvider,
    KillsShopAndProvider,
    KillsBroker,
    KillsPostgres,
    FreezesShop,
    FreezesProvider,
}

impl Blow {
    fn any(rng: &mut SmallRng, size: &Size, town: &Town) -> Self {
        match rng.random_range(0..100) {
            0..3 => Self::KillsAllShops,
            3..15 => Self::KillsProvider,
            15..19 => Self::KillsShopAndProvider,
            19..32 if town.broker.is_some() => Self::KillsBroker,
            32..36 if size.postgres_restart.is_some() => Self::KillsPostgres,
            36..52 => Self::FreezesShop,
            52..55 => Self::FreezesProvider,
            _ => Self::KillsShop,
        }
    }

    /// Who is killed, in whatever number.
    fn victims(self) -> &'static [&'static str] {
        match self {
            Self::KillsShop => &["shops killed"],
            Self::KillsAllShops => &["shops killed"; SHOPS],
            Self::KillsProvider => &["providers killed"],
            Self::KillsShopAndProvider => &["shops killed", "providers killed"],
            Self::KillsBroker => &["brokers killed"],
            Self::KillsPostgres => &["databases killed"],
            Self::FreezesShop => &["shops frozen"],
            Self::FreezesProvider => &["providers frozen"],
        }
    }

    async fn strikes(self, town: &mut Town, size: &Size, rng: &mut SmallRng) {
        let shop = rng.random_range(0..SHOPS);
        let closed = Duration::from_millis(rng.random_range(0..300));
        let chaos = Some(rng.random());
        let longer_than_a_lease = LEASE + Duration::from_millis(rng.random_range(100..1500));
        match self {
            Self::KillsShop => town.shops_are_killed(&[shop], closed).await,
            Self::KillsAllShops => town.shops_are_killed(&[0, 1, 2], closed).await,
            Self::KillsProvider => town.provider_is_killed(closed, chaos).await,
            Self::KillsShopAndProvider => {
                town.shops_are_killed(&[shop], Duration::ZERO).await;
                town.provider_is_killed(closed, chaos).await;
            }
            Self::KillsBroker => town.broker_is_killed(closed).await,
            Self::KillsPostgres => postgres_is_killed(size).await,
            Self::FreezesShop => town.shop_is_frozen(shop, longer_than_a_lease).await,
            Self::FreezesProvider => town.provider_is_frozen(longer_than_a_lease).await,
        }
    }
}

/// Strikes until the last customer has come.
pub async fn rain(town: &mut Town, street: &Street, size: &Size, began: Instant) -> Blows {
    let mut blows = Blows::new();
    tokio::select! {
        () = strike(town, street, size, &mut blows) => {}
        () = tell_progress(street, began) => {}
        () = let_banks_decide(street) => {}
    }
    blows
}

async fn strike(town: &mut Town, street: &Street, size: &Size, blows: &mut Blows) {
    let mut rng = SmallRng::seed_from_u64(size.seed);
    let mut next = 0;
    loop {
        next += rng.random_range(1..2 * size.purchases_per_blow);
        while street.begun() < next.min(size.purchases) {
            sleep(Duration::from_millis(5)).await;
        }
        if next >= size.purchases {
            return;
        }
        let blow = Blow::any(&mut rng, size, town);
        blow.strikes(town, size, &mut rng).await;
        street.shops_are_at(town.addresses());
        town.webhooks_lead_to(rng.random_range(0..SHOPS));
        for victim in blow.victims() {
            *blows.entry(victim).or_default() += 1;
        }
    }
}

/// In the way the command has it, which returns when the database answers again.
async fn postgres_is_killed(size: &Size) {
    let restart = size.postgres_restart.clone().expect("it may be killed");
    let restarted =
        tokio::task::spawn_blocking(move || Command::new("sh").args(["-c", &restart]).status());
    let status = restarted
        .await
        .expect("no panic")
        .expect("there is a shell");
    assert!(status.success(), "SOAK_POSTGRES_RESTART fails: {status}");
}

async fn tell_progress(street: &Street, began: Instant) {
    loop {
        sleep(PROGRESS).await;
        let (ended, seconds) = (street.ended(), began.elapsed().as_secs().max(1));
        println!(
            "[{seconds:4} s] {ended} purchases, {} a second",
            ended / usize::try_from(seconds).expect("not for ever")
        );
    }
}

async fn let_banks_decide(street: &Street) {
    loop {
        sleep(BANKS).await;
        let settle = format!("{}/_control/settle", street.provider);
        let request = street.http.post(settle).bearer_auth("sk_test_boring");
        // It may be dead at the moment.
        let _ = request.send().await;
    }
}

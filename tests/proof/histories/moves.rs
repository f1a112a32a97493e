//! What can happen in a history, drawn by chance.
//!
//! A move picks what it is about from whatever there is when it is made, so that a history from which moves are left out is
//! still one. What it finds nothing for does not happen.

use std::{fmt, time::Duration};

use boring_checkout::lab::world::Fault;
use proptest::{prelude::*, sample::Index};

use super::cast::Crowd;

/// One thing that happens.
#[derive(Clone, Debug)]
pub enum Move {
    /// A customer puts something into their cart.
    Add { who: usize, what: usize, units: i64 },
    /// A customer opens the checkout form, in a tab of its own.
    Open { who: usize },
    /// A customer sends the form that they opened last, or any that they have, again perhaps; and says, perhaps, that it is
    /// another purchase.
    Submit {
        who: usize,
        form: Option<Index>,
        card: &'static str,
        again: bool,
    },
    /// A customer looks at one of their purchases.
    Look { who: usize, place: Index },
    /// A customer answers the bank's question that they saw last, however long ago.
    Approve { who: usize },
    /// A card that was declined is charged after all, on a page of the provider's that was still open.
    PayLate { intent: Index },
    /// The operator opens the refund form of an order.
    OpenRefund { order: Index },
    /// The operator sends one of the refund forms that are open, again perhaps.
    Refund {
        form: Index,
        percent: i64,
        restock: bool,
    },
    /// Somebody gives money back at the provider's dashboard.
    Dashboard { intent: Index, percent: i64 },
    /// The provider delivers any event that there has been.
    Deliver { event: Index },
    /// The provider delivers what the shop has not taken yet.
    News,
    /// The workers do what is due.
    Work,
    /// Time passes.
    Later { seconds: u64 },
    /// The provider does what it would do some days later: it decides bank debits.
    Decides,
    /// A price changes.
    Price { what: usize, minor: i64 },
    /// Something will break at the boundary that is so far away.
    Breaks { fault: Fault, after: usize },
    /// The process dies, between two requests.
    Dies,
}

/// A card, and how often it is drawn.
const CARDS: [(u32, &str); 6] = [
    (8, "pm_card_visa"),
    (3, "pm_card_threeDSecure2Required"),
    (3, "pm_card_chargeDeclined"),
    (1, "pm_card_chargeDeclinedInsufficientFunds"),
    (2, "pm_sepaDebit_success_de"),
    (1, "pm_sepaDebit_failed_de"),
];

/// Until a retry, a lease, the end of an authentication, the end of a key.
const WAITS: [u64; 6] = [1, 5, 20, 130, 4_000, 90_000];

pub fn moves(crowd: &Crowd) -> impl Strategy<Value = Move> + use<> {
    let who = 0..crowd.customers.len();
    let what = 0..crowd.goods.len();
    let any = proptest::arbitrary::any::<Index>;
    let maybe = proptest::arbitrary::any::<bool>;
    let cards = CARDS.map(|(weight, card)| (weight, Just(card)));
    let card = prop::strategy::Union::new_weighted(cards.to_vec());
    let percent = prop_oneof![2 => Just(100_i64), 1 => 1_i64..=100];
    let fault = prop::sample::select(Fault::ALL.to_vec());
    prop_oneof![
        8 => (who.clone(), what.clone(), 1_i64..=2).prop_map(|(who, what, units)| Move::Add { who, what, units }),
        8 => who.clone().prop_map(|who| Move::Open { who }),
        18 => (who.clone(), prop::option::weighted(0.25, any()), card, maybe())
            .prop_map(|(who, form, card, again)| Move::Submit { who, form, card, again }),
        8 => (who.clone(), any()).prop_map(|(who, place)| Move::Look { who, place }),
        3 => who.prop_map(|who| Move::Approve { who }),
        2 => any().prop_map(|intent| Move::PayLate { intent }),
        2 => any().prop_map(|order| Move::OpenRefund { order }),
        3 => (any(), percent.clone(), maybe())
            .prop_map(|(form, percent, restock)| Move::Refund { form, percent, restock: restock && percent == 100 }),
        1 => (any(), percent).prop_map(|(intent, percent)| Move::Dashboard { intent, percent }),
        6 => any().prop_map(|event| Move::Deliver { event }),
        4 => Just(Move::News),
        8 => Just(Move::Work),
        5 => prop::sample::select(WAITS.to_vec()).prop_map(|seconds| Move::Later { seconds }),
        1 => Just(Move::Decides),
        1 => (what, 100_i64..=900).prop_map(|(what, minor)| Move::Price { what, minor }),
        8 => (fault, 0_usize..40).prop_map(|(fault, after)| Move::Breaks { fault, after }),
        1 => Just(Move::Dies),
    ]
}

/// For people. What it picks only its maker knows, and adds.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { units, .. } => write!(f, "puts {units} into the cart"),
            Self::Open { .. } => write!(f, "opens the checkout form"),
            Self::Submit { card, again, .. } => {
                let wish = if *again { ", as another purchase" } else { "" };
                write!(f, "sends a form, with {card}{wish}")
            }
            Self::Look { .. } => write!(f, "looks at a purchase"),
            Self::Approve { .. } => write!(f, "tells the bank yes"),
            Self::PayLate { .. } => write!(f, "a declined payment is made after all"),
            Self::OpenRefund { .. } => write!(f, "the operator opens a refund form"),
            Self::Refund {
                percent, restock, ..
            } => {
                let goods = if *restock { ", with the goods" } else { "" };
                write!(f, "the operator gives {percent} % back{goods}")
            }
            Self::Dashboard { percent, .. } => {
                write!(f, "{percent} % are given back at the provider")
            }
            Self::Deliver { .. } => write!(f, "an event is delivered"),
            Self::News => write!(f, "the news are delivered"),
            Self::Work => write!(f, "the workers do what is due"),
            Self::Later { seconds } => write!(f, "{:?} pass", Duration::from_secs(*seconds)),
            Self::Decides => write!(f, "the provider decides what is open there"),
            Self::Price { minor, .. } => write!(f, "a price becomes {minor}"),
            Self::Breaks { fault, after } => {
                write!(f, "({fault} in {after} boundaries)")
            }
            Self::Dies => write!(f, "the process dies"),
        }
    }
}

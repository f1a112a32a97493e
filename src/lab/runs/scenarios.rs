//! What can be shown: each is played twice, with the same people and the same misfortune.

use std::pin::Pin;

use super::{plays, scene::Scene};
use crate::lab::{flow::Failed, world::Sums};

/// Something that can be shown.
#[derive(Debug)]
pub struct Scenario {
    /// What it is called in addresses.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What happens.
    pub about: &'static str,
    /// What keeps the shop from harm.
    pub guard: &'static str,
    /// How much of everything there should be at the end.
    pub promise: Sums,
    pub(super) play: for<'s> fn(&'s mut Scene<'_>) -> Playing<'s>,
}

type Playing<'s> = Pin<Box<dyn Future<Output = Result<(), Failed>> + Send + 's>>;

impl Scenario {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.name == name)
    }
}

/// One unit, paid and sold once. What it costs is not promised.
pub(super) const ONCE: Sums = Sums {
    charges: 1,
    charged_minor: 0,
    refunds: 0,
    refunded_minor: 0,
    orders: 1,
    sold: 1,
    mails: 1,
};

/// All of them.
pub static SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "double-click",
        title: "Double click",
        about: "Ada presses the button twice. The first request is held before it has written anything, and the second one \
                overtakes it.",
        guard: "The form carries a key, which is unique in the database: whichever request writes last finds the other \
                one's checkout.",
        promise: ONCE,
        play: |scene| Box::pin(plays::double_click(scene)),
    },
    Scenario {
        name: "dropped-response",
        title: "Dropped response",
        about: "The provider charges the card, and the connection breaks before its answer arrives. If Ada is told that \
                it has failed, she presses the button again.",
        guard: "Silence is no “no”. The shop asks again under the same key, and the provider repeats its answer instead \
                of its charge.",
        promise: ONCE,
        play: |scene| Box::pin(plays::dropped_response(scene)),
    },
    Scenario {
        name: "crash-after-charge",
        title: "Crash after the charge",
        about: "The provider has charged, and the process dies before it has written anything down. Ada sees no answer, \
                and presses the button again.",
        guard: "The checkout was committed before the provider was asked, so whoever comes next finds what there is to \
                finish, be it a retry, a webhook or the reconciler.",
        promise: ONCE,
        play: |scene| Box::pin(plays::crash_after_charge(scene)),
    },
    Scenario {
        name: "webhook-twice",
        title: "Webhook twice",
        about: "Ada has confirmed the payment at her bank, and closes the page. The provider tells of it twice, at the same \
                moment.",
        guard: "The event’s id is inserted in the transaction of its effect. Of two copies one inserts, and the other \
                finds it there.",
        promise: ONCE,
        play: |scene| Box::pin(plays::webhook_twice(scene)),
    },
    Scenario {
        name: "webhook-first",
        title: "Webhook before the response",
        about: "The provider’s webhook overtakes the answer to the call, and the answer is lost on its way.",
        guard: "The event finds the checkout, which was committed before the call, and concludes it. Whatever answer comes \
                after it changes nothing.",
        promise: ONCE,
        play: |scene| Box::pin(plays::webhook_first(scene)),
    },
    Scenario {
        name: "out-of-order",
        title: "Out-of-order events",
        about: "Ada’s bank says no, and then another card is accepted for the same payment. The news of the “no” is held \
                up on its way, and arrives after the news of the success.",
        guard: "Every change says “where status = 'pending'”. What has ended as paid is not pending, and old news changes \
                nothing.",
        promise: ONCE,
        play: |scene| Box::pin(plays::out_of_order(scene)),
    },
    Scenario {
        name: "new-form",
        title: "New form after an error",
        about: "The answer is lost, and Ada does not press the button again: she submits a form with a new key, which she \
                has in another tab.",
        guard: "Of one cart at most one checkout is pending or paid, which is unique in the database. The second form \
                finds it, whatever its key is.",
        promise: ONCE,
        play: |scene| Box::pin(plays::new_form(scene)),
    },
    Scenario {
        name: "last-unit",
        title: "Last unit",
        about: "Ada and Bo want the last lamp. Both have looked, and there was one.",
        guard: "Stock is taken by “set stock = stock - n where stock >= n”, before anybody is charged. The database lets \
                one of them through.",
        promise: ONCE,
        play: |scene| Box::pin(plays::last_unit(scene)),
    },
    Scenario {
        name: "mail-down",
        title: "Mail server down",
        about: "All goes well, but for the mail server, which is down when the confirmation is to be sent.",
        guard: "The mail is owed by a row that was written with the order. A worker tries until it is sent.",
        promise: ONCE,
        play: |scene| Box::pin(plays::mail_down(scene)),
    },
    Scenario {
        name: "refund-twice",
        title: "Refund twice",
        about: "Ada has paid. The operator gives a part of the price back, and presses the button twice.",
        guard: "The refund’s form carries a key as well, and the money is reserved in a row before the provider is asked.",
        promise: Sums {
            refunds: 1,
            mails: 2,
            ..ONCE
        },
        play: |scene| Box::pin(plays::refund_twice(scene)),
    },
    Scenario {
        name: "expired-key",
        title: "Expired key",
        about: "The provider charges, and nothing of it reaches the shop: no answer, no webhook. Ada comes back after 25 \
                hours, when the provider has forgotten the key. (The lab dates her purchase back, nobody has to wait.)",
        guard: "A key that may be forgotten is not sent again. The payment is looked up by the checkout’s id in its \
                metadata.",
        promise: ONCE,
        play: |scene| Box::pin(plays::expired_key(scene)),
    },
];

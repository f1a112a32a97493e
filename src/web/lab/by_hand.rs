//! What can be armed with one press: the usual misfortunes of the wire, once each, for whoever comes next.

use crate::{
    lab::Lab,
    simulator::{Control, Fault},
    web::views::Choice,
};

/// Answers of the provider are lost often enough for the client to give up.
const EACH_TRY: u32 = 4;

const CHARGE: &str = "payment_intents.create";
const SUCCEEDED: &str = "payment_intent.succeeded";

/// Something that can go wrong.
pub(super) struct ByHand {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    what: What,
}

enum What {
    AtProvider(fn() -> Fault),
    NextMail,
}

static ALL: [ByHand; 7] = [
    ByHand {
        name: "drop-response",
        title: "Lose the next answer",
        about: "The card is charged, and the connection breaks. The shop asks again: you see “Paid”.",
        what: What::AtProvider(|| Fault::on_operation(CHARGE).drop_response()),
    },
    ByHand {
        name: "drop-responses",
        title: "Lose all answers to the next charge",
        about: "The shop asks four times in vain, and learns of the payment from the webhook. Lose that as well, and you see that the payment is being checked, and a few seconds later “Paid”.",
        what: What::AtProvider(|| Fault::on_operation(CHARGE).drop_response().times(EACH_TRY)),
    },
    ByHand {
        name: "drop-request",
        title: "Lose the next request",
        about: "It never reaches the provider. The shop asks again: you see “Paid”.",
        what: What::AtProvider(|| Fault::on_operation(CHARGE).drop_request()),
    },
    ByHand {
        name: "error-after",
        title: "Answer 500 to the next charge",
        about: "The card was charged all the same. The shop learns that from the webhook: you see “Paid”.",
        what: What::AtProvider(|| Fault::on_operation(CHARGE).error_after(500)),
    },
    ByHand {
        name: "webhook-twice",
        title: "Send the next webhook five times",
        about: "All at the same moment: you get one order and one mail.",
        what: What::AtProvider(|| Fault::on_webhook(SUCCEEDED).duplicate(5)),
    },
    ByHand {
        name: "webhook-lost",
        title: "Lose the next webhook",
        about: "It comes again later, and you see no difference: the shop knows already.",
        what: What::AtProvider(|| Fault::on_webhook(SUCCEEDED).drop()),
    },
    ByHand {
        name: "mail-down",
        title: "Let the mail server be down",
        about: "The next mail is refused, and tried again: it comes to the mailbox a moment later.",
        what: What::NextMail,
    },
];

/// The one of this name.
pub(super) fn named(name: &str) -> Option<&'static ByHand> {
    ALL.iter().find(|fault| fault.name == name)
}

/// All of them, to be chosen from.
pub(super) fn choices() -> Vec<Choice> {
    let choice = |fault: &ByHand| Choice {
        name: fault.name.to_owned(),
        title: fault.title.to_owned(),
        about: fault.about.to_owned(),
    };
    ALL.iter().map(choice).collect()
}

/// What will go wrong next.
pub(super) fn armed(lab: &Lab) -> Vec<String> {
    let faults = lab.simulator().map(Control::faults);
    let mut armed: Vec<String> = faults
        .unwrap_or_default()
        .iter()
        .map(|armed| armed.fault.to_string())
        .collect();
    if lab.failing_mails() > 0 {
        armed.push("the mail server is down for the next mail".to_owned());
    }
    armed
}

impl ByHand {
    /// Lets it happen to whoever comes next. An error says why it cannot.
    pub(super) fn arm(&self, lab: &Lab) -> Result<(), String> {
        let simulator = lab.simulator().map_err(|_| super::NOT_OURS.to_owned())?;
        match self.what {
            What::AtProvider(fault) => {
                simulator
                    .arm(fault())
                    .map_err(|refused| refused.to_string())?;
            }
            What::NextMail => lab.fail_mails(1),
        }
        Ok(())
    }
}

//! A way through the model, told in plain words.

use crate::{
    check::Story,
    guards::Guard,
    protocol::{Shop, Step},
    state::{Age, Event, Form, Id, Outcome, Payment, State, Status, Task},
};

impl Story {
    /// A sentence or two for each step, and what they come to.
    pub fn lines(&self) -> Vec<String> {
        let path = self.path.clone().into_vec();
        let befores = path.iter().zip(path.iter().skip(1));
        let told = befores.filter_map(|((before, step), (after, _))| {
            Some(
                Teller {
                    shop: &self.shop,
                    before,
                    after,
                }
                .tell((*step)?),
            )
        });
        told.chain([self.promise.broken.to_owned()]).collect()
    }
}

struct Teller<'a> {
    shop: &'a Shop,
    before: &'a State,
    after: &'a State,
}

impl Teller<'_> {
    fn tell(&self, step: Step) -> String {
        match step {
            Step::Looks(form) => format!(
                "{}. The shop looks for a checkout of this form or this cart, and finds none; the shelf has {}.",
                self.sends(form),
                self.before.shelf
            ),
            Step::Submits(form) => self.submits(form),
            Step::Drives(id) => self.drives(id),
            Step::Arrives(request, end) => {
                let who = self.buyer(request.checkout);
                let number = number(request.checkout);
                match end {
                    _ if self.before.under_key(request).is_some() => {
                        format!(
                            "A request for checkout {number} arrives. The provider knows its key, and charges nothing."
                        )
                    }
                    Outcome::Paid if self.before.payments_of(request.checkout).next().is_some() => {
                        format!(
                            "A request for checkout {number} arrives. Its key is new to the provider, which charges {who} again."
                        )
                    }
                    Outcome::Paid => format!(
                        "The request for checkout {number} arrives. The provider charges {who}."
                    ),
                    _ => format!(
                        "The request for checkout {number} arrives. {who}'s card is declined."
                    ),
                }
            }
            Step::Answers(request) => {
                let outcome = self
                    .before
                    .under_key(request)
                    .map_or(Outcome::NeverCharged, |payment| payment.first);
                format!(
                    "The provider's answer arrives: checkout {} is {}.",
                    number(request.checkout),
                    word(outcome)
                )
            }
            Step::Records(id, outcome) => self.records(id, outcome),
            Step::Receives(event) => self.receives(event),
            Step::Applies(event) => self.records(event.checkout, event.outcome),
            Step::GivesBack(id) => format!("The shop gives {} the money back.", self.buyer(id)),
            Step::Ages(id) if self.before.checkout(id).age == Age::Fresh => {
                format!("Checkout {} is 23 hours old by now.", number(id))
            }
            Step::Ages(id) => format!(
                "Checkout {} is 24 hours old by now, and the provider forgets its key.",
                number(id)
            ),
            Step::SucceedsLate(id) => {
                format!(
                    "{} tries again on the bank's page, and the payment succeeds.",
                    self.buyer(id)
                )
            }
            Step::GivesUp(request) => {
                let gives_up = "The answer does not come. Whoever has waited for it gives up";
                if !self.shop.has(Guard::UnknownIsNotFailed) {
                    format!(
                        "{gives_up}, and writes down that checkout {} is declined.",
                        number(request.checkout)
                    )
                } else if self.before.checkout(request.checkout).status == Status::Uncommitted {
                    format!("{gives_up}; the transaction is rolled back.")
                } else {
                    format!("{gives_up}.")
                }
            }
            Step::Crashes => "The shop's process dies, and forgets what it was doing.".to_owned(),
            Step::Loses(_) => "The request is lost on its way.".to_owned(),
            Step::Doubles(_) => "The request is doubled on its way.".to_owned(),
        }
    }

    fn submits(&self, form: Form) -> String {
        let id = Id::try_from(self.before.checkouts.len()).unwrap_or(Id::MAX);
        let (number, who) = (number(id), self.shop.scene.forms[usize::from(form)].who);
        let is_inserted = self.after.checkouts.len() > self.before.checkouts.len();
        if !is_inserted {
            format!("The shop inserts a checkout for {who}; a constraint refuses it.")
        } else if self.after.checkout(id).status == Status::Uncommitted {
            format!(
                "{}. The shop inserts checkout {number}, holds a unit, and asks the provider to charge it. The transaction \
                 stays open meanwhile.",
                self.sends(form)
            )
        } else if self.before.memory == self.after.memory || !self.shop.has(Guard::Reconciler) {
            format!(
                "{}. The shop inserts checkout {number}, holds a unit, and commits.",
                self.sends(form)
            )
        } else {
            format!("The shop inserts checkout {number} for {who}, holds a unit, and commits.")
        }
    }

    fn drives(&self, id: Id) -> String {
        let number = number(id);
        if self.before.requests().count() == self.after.requests().count() {
            let found = self
                .before
                .payments_of(id)
                .next()
                .map_or("there is none", |_| "it is there");
            return format!(
                "Checkout {number} is too old to be sent. Its payment is looked up at the provider: {found}."
            );
        }
        let again = if self.before.drivers(id) > 0 || self.before.payments_of(id).next().is_some() {
            "Somebody else (a retry, the reconciler) asks the provider to charge"
        } else {
            "The provider is asked to charge"
        };
        let attempts = self.after.checkout(id).attempts;
        if attempts == 0 {
            format!("{again} checkout {number}, under its key.")
        } else {
            format!("{again} checkout {number}, under a key made for this attempt.")
        }
    }

    fn receives(&self, event: Event) -> String {
        let heard = format!(
            "The webhook arrives: checkout {} is {}.",
            number(event.checkout),
            word(event.outcome)
        );
        let status = self.before.checkout(event.checkout).status;
        if matches!(status, Status::Uncommitted | Status::Undone) {
            format!("{heard} The shop has no such checkout, and ignores it.")
        } else if !self.shop.has(Guard::EventWithEffect) {
            format!("{heard} The shop marks the event as processed, and commits that.")
        } else {
            format!("{heard} {}", self.records(event.checkout, event.outcome))
        }
    }

    fn records(&self, id: Id, outcome: Outcome) -> String {
        let (before, after) = (self.before.checkout(id), self.after.checkout(id));
        let number = number(id);
        if before == after {
            let also = if self.before.payments_of(id).any(Payment::is_kept)
                && before.status != Status::Paid
            {
                " and keeps the money"
            } else {
                ""
            };
            format!("Checkout {number} has ended; the shop changes nothing{also}.")
        } else if after.owes_refund && !before.owes_refund {
            format!("Checkout {number} has ended; the shop notes that the money has to go back.")
        } else if after.orders > before.orders {
            format!("The shop writes down that checkout {number} is paid, and makes an order.")
        } else {
            format!(
                "The shop writes down that checkout {number} is {}, and puts the unit back.",
                word(outcome)
            )
        }
    }

    fn sends(&self, form: Form) -> String {
        let it = &self.shop.scene.forms[usize::from(form)];
        let is_again = self.before.memory.contains(&Task::Looked(form));
        if is_again {
            "The same form arrives once more".to_owned()
        } else {
            format!("{} sends {}", it.who, it.which)
        }
    }

    fn buyer(&self, id: Id) -> &'static str {
        self.shop.scene.forms[usize::from(self.before.checkout(id).form)].who
    }
}

/// People count from one.
fn number(id: Id) -> u8 {
    id + 1
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Paid => "paid",
        Outcome::Declined => "declined",
        Outcome::NeverCharged => "not charged",
    }
}

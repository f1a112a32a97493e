//! An operator gives all the money of an order back, with a form that is sent more often than once.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rand::{RngExt as _, rngs::SmallRng};

use crate::{
    browser::{Browser, Form},
    street::Street,
    world::PASSWORD,
};

/// Shops are closed for seconds at most.
const PATIENCE: Duration = Duration::from_mins(2);

/// What an operator does with the button.
enum Habit {
    PressesOnce,
    PressesTwiceAtOnce,
    /// So does a colleague, with a form of their own. One of them is told that nothing is left.
    IsNotAlone,
}

/// Once, whoever presses what.
pub async fn gives_back(street: &Street, rng: &mut SmallRng, order: &str) {
    let desk = Desk::at(street, order);
    let habit = match rng.random_range(0..3) {
        0 => Habit::PressesOnce,
        1 => Habit::PressesTwiceAtOnce,
        _ => Habit::IsNotAlone,
    };
    let restocks = rng.random_bool(0.5);
    let shops: [usize; 2] = [rng.random_range(0..3), rng.random_range(0..3)];
    let Some((form, amount_minor)) = desk.opens_form(restocks).await else {
        return street.told.odd(format!("no form for a refund of {order}"));
    };
    street.told.gives_back(order, amount_minor);
    let accepted = match habit {
        Habit::PressesOnce => usize::from(desk.insists(&form, shops[0]).await),
        Habit::PressesTwiceAtOnce => {
            street.repeats.fetch_add(1, Ordering::Relaxed);
            let both = tokio::join!(desk.insists(&form, shops[0]), desk.insists(&form, shops[1]));
            usize::from(both == (true, true))
        }
        Habit::IsNotAlone => {
            let Some((other, _)) = desk.opens_form(restocks).await else {
                return street.told.odd(format!("no second form for {order}"));
            };
            let both = tokio::join!(
                desk.insists(&form, shops[0]),
                desk.insists(&other, shops[1])
            );
            usize::from(both.0) + usize::from(both.1)
        }
    };
    if accepted != 1 {
        let sentence = format!("{accepted} refunds of {order} were accepted, and not one");
        street.told.odd(sentence);
    }
}

struct Desk<'s> {
    street: &'s Street,
    browser: Browser<'s>,
    refunds: String,
    came: Instant,
}

impl<'s> Desk<'s> {
    fn at(street: &'s Street, order: &str) -> Self {
        let credentials = STANDARD.encode(format!("admin:{PASSWORD}"));
        Self {
            street,
            browser: Browser::authorized(street, format!("Basic {credentials}")),
            refunds: format!("/admin/orders/{order}/refunds"),
            came: Instant::now(),
        }
    }

    /// A form for all that is left, and how much that is.
    async fn opens_form(&self, restocks: bool) -> Option<(Form, i64)> {
        let path = format!("{}/new", self.refunds);
        for shop in 0.. {
            if let Some(page) = self.browser.gets(shop, &path).await {
                let key = page.hidden("idempotency_key")?;
                let remaining = page.hidden("remaining")?;
                let minor: i64 = remaining.parse().ok()?;
                let mut form: Form = vec![
                    ("idempotency_key", key),
                    ("remaining", remaining),
                    ("amount", format!("{}.{:02}", minor / 100, minor % 100)),
                ];
                if restocks {
                    form.push(("restock", "yes".to_owned()));
                }
                return Some((form, minor));
            }
            self.rests().await?;
        }
        None
    }

    /// Sends the form until it is answered. Whether there is a refund of it then.
    async fn insists(&self, form: &Form, first: usize) -> bool {
        for shop in first.. {
            match self.browser.posts(shop, &self.refunds, form).await {
                Some(answer) if answer.status == 303 => return true,
                Some(answer) if answer.status == 409 => return false,
                Some(answer) => {
                    let answer = answer.in_short();
                    self.street.told.odd(format!("{}: {answer}", self.refunds));
                    return false;
                }
                None if self.rests().await.is_some() => {
                    self.street.repeats.fetch_add(1, Ordering::Relaxed);
                }
                None => break,
            }
        }
        self.street.told.odd(format!("{}: no answer", self.refunds));
        false
    }

    async fn rests(&self) -> Option<()> {
        tokio::time::sleep(Duration::from_millis(200)).await;
        (self.came.elapsed() < PATIENCE).then_some(())
    }
}

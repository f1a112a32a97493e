//! A customer: one wish to buy one thing, from an empty cart to the last word about it.
//!
//! Impatient, and never wrong: whatever they do, it must end with one charge for one order, or with none.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

use crate::{
    browser::{Answer, Browser, Form},
    operator::gives_back,
    street::Street,
    town::AUTHENTICATION_TIME,
};

/// Who has got nowhere by then is stuck, and that is a fault. Shops are closed for seconds at most.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long somebody looks at "We are checking your payment" before they close the page.
const LOOKS: u32 = 30;

const VISA: &str = "pm_card_visa";
const ASKS: &str = "pm_card_threeDSecure2Required";

/// What there is plenty of. Of the one thing that some want there is too little for them.
const GOODS: [&str; 7] = [
    "TEA-01", "MUG-01", "PEN-01", "BOX-01", "SOC-01", "NTB-01", "CLP-01",
];
const SCARCE: &str = "LMP-01";

/// Somebody.
pub struct Customer<'s> {
    street: &'s Street,
    browser: Browser<'s>,
    rng: SmallRng,
    email: String,
    came: Instant,
}

/// They got nowhere for minutes, or met what there must not be.
struct Stuck;

type Step<T> = Result<T, Stuck>;

/// What the page says that tells how it stands.
enum Seen {
    Paid { order: String },
    NotCharged,
    TooLate,
    Undecided,
}

impl<'s> Customer<'s> {
    pub fn new(street: &'s Street, seed: u64, number: usize) -> Self {
        let own = u64::try_from(number).expect("a number");
        Self {
            street,
            browser: Browser::new(street),
            rng: SmallRng::seed_from_u64(seed.wrapping_add(own)),
            email: format!("buyer-{number}@example.com"),
            came: Instant::now(),
        }
    }

    pub async fn buys(mut self) {
        let ending = self.shops().await.unwrap_or_else(|Stuck| {
            let email = &self.email;
            self.street.told.odd(format!("{email} got nowhere"));
            "got nowhere"
        });
        self.street.goes_home(ending);
    }

    async fn shops(&mut self) -> Step<&'static str> {
        self.fills_cart().await?;
        let mut card = self.picks_card();
        loop {
            let Some((status, form)) = self.checks_out(card).await? else {
                return Ok("found it sold out");
            };
            if self.chance(0.05) {
                return Ok("left before the answer");
            }
            match self.looks_at(&status).await? {
                Seen::Undecided => return Ok("left undecided"),
                Seen::TooLate => return Ok("paid too late"),
                Seen::Paid { order } => {
                    self.comes_back(&status, form).await?;
                    if self.chance(0.06) {
                        gives_back(self.street, &mut self.rng, &order).await;
                        return Ok("paid, and got the money back");
                    }
                    return Ok("paid");
                }
                Seen::NotCharged if self.chance(0.7) => card = VISA,
                Seen::NotCharged => {
                    self.comes_back(&status, form).await?;
                    return Ok("gave up");
                }
            }
        }
    }

    fn picks_card(&mut self) -> &'static str {
        match self.rng.random_range(0..100) {
            0..70 => VISA,
            70..80 => ASKS,
            80..86 => "pm_card_chargeDeclined",
            86..90 => "pm_card_chargeDeclinedInsufficientFunds",
            90..96 => "pm_sepaDebit_success_de",
            _ => "pm_sepaDebit_failed_de",
        }
    }

    async fn fills_cart(&mut self) -> Step<()> {
        let sku = if self.chance(0.02) {
            SCARCE
        } else {
            GOODS[self.rng.random_range(0..GOODS.len())]
        };
        let quantity = self.rng.random_range(1..=2).to_string();
        let form = vec![("sku", sku.to_owned()), ("quantity", quantity)];
        loop {
            let shop = self.any_shop();
            match self.browser.posts(shop, "/cart/items", &form).await {
                Some(answer) if answer.status == 303 => return Ok(()),
                Some(answer) => return Err(self.wonders("at a cart", &answer)),
                None => self.rests().await?,
            }
        }
    }

    /// Ends at a status page, with the form that led there; `None` when it is sold out.
    async fn checks_out(&mut self, card: &str) -> Step<Option<(String, Option<Form>)>> {
        loop {
            let shop = self.any_shop();
            let Some(page) = self.browser.gets(shop, "/checkout").await else {
                self.rests().await?;
                continue;
            };
            // It is being bought, or was: by a form whose answer never came.
            if page.location.starts_with("/checkouts/") {
                return Ok(Some((page.location, None)));
            }
            let Some(form) = self.fills_in(&page, card) else {
                return Err(self.wonders("at a form", &page));
            };
            if page.html.contains("This cart cannot be bought as it is") {
                return Ok(None);
            }
            // After a reload in between there is a new form, with a new key.
            loop {
                if let Some(answer) = self.presses_the_button(&form).await {
                    if answer.location.starts_with("/checkouts/") {
                        return Ok(Some((answer.location, Some(form))));
                    }
                    if answer.status == 409 && answer.html.contains("cannot be bought as it is") {
                        return Ok(None);
                    }
                    return Err(self.wonders("at an answer", &answer));
                }
                self.rests().await?;
                if self.chance(0.5) {
                    break;
                }
                self.street.repeats.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn fills_in(&self, page: &Answer, card: &str) -> Option<Form> {
        let mut form: Form = vec![
            ("email", self.email.clone()),
            ("name", "A Buyer".to_owned()),
            ("address", "1 Plain Street".to_owned()),
            ("city", "Ordinary".to_owned()),
            ("postal_code", "12345".to_owned()),
            ("country", "DE".to_owned()),
            ("payment_method", card.to_owned()),
        ];
        for name in ["idempotency_key", "quoted_total", "quoted_cart"] {
            form.push((name, page.hidden(name)?));
        }
        Some(form)
    }

    /// Once, twice at once, in two shops at once, or once and away.
    async fn presses_the_button(&mut self, form: &Form) -> Option<Answer> {
        let (one, other) = (self.any_shop(), self.any_shop());
        let press = |shop| self.browser.posts(shop, "/checkout", form);
        let answers = match self.rng.random_range(0..100) {
            0..60 => [press(one).await, None],
            60..85 => {
                self.street.repeats.fetch_add(1, Ordering::Relaxed);
                let second = if self.rng.random_bool(0.5) {
                    one
                } else {
                    other
                };
                tokio::join!(press(one), press(second)).into()
            }
            _ => {
                let after = Duration::from_millis(self.rng.random_range(0..120));
                self.browser
                    .posts_and_leaves(one, "/checkout", form, after)
                    .await;
                [None, None]
            }
        };
        let mut answers = answers.into_iter().flatten();
        let (first, second) = (answers.next(), answers.next());
        let (Some(first), Some(second)) = (&first, &second) else {
            return first;
        };
        // Who is told that it is sold out may find it back on the shelf a moment later. Two purchases there are never.
        if first.status == 303 && second.status == 303 && first.location != second.location {
            let both = format!("{} and {}", first.location, second.location);
            let sentence = format!("{} sent a form twice: {both}", self.email);
            self.street.told.odd(sentence);
        }
        let accepted = if first.status == 303 { first } else { second };
        Some(accepted.clone())
    }

    /// Reloads the page until it says how it ended, and does what their bank asks for, or not.
    async fn looks_at(&mut self, status: &str) -> Step<Seen> {
        let answers_bank = self.chance(0.8);
        // Some find their phone just when the shop loses its patience.
        let mut takes_time = self.chance(0.2);
        let verdict = if self.chance(0.75) {
            "approve"
        } else {
            "refuse"
        };
        let checkout = status.trim_start_matches("/checkouts/");
        let street = self.street;
        let told = &street.told;
        for look in 0..LOOKS {
            let shop = self.any_shop();
            let Some(page) = self.browser.gets(shop, status).await else {
                self.rests().await?;
                continue;
            };
            match page.heading() {
                "Paid" => {
                    told.paid(checkout);
                    let order = page.between("order ", " is yours").unwrap_or_default();
                    return Ok(Seen::Paid {
                        order: order.to_owned(),
                    });
                }
                "The payment was declined" | "This checkout was canceled" => {
                    told.not_charged(checkout);
                    return Ok(Seen::NotCharged);
                }
                "Your payment came too late" => {
                    told.too_late(checkout);
                    return Ok(Seen::TooLate);
                }
                "Your bank wants to ask you" if answers_bank => {
                    if std::mem::take(&mut takes_time) {
                        let share = self.rng.random_range(0.9..1.1);
                        tokio::time::sleep(AUTHENTICATION_TIME.mul_f64(share)).await;
                    }
                    let url = page.between("class=\"button\" href=\"", "\"");
                    self.answers_bank(url.unwrap_or_default(), verdict).await;
                }
                "Your bank wants to ask you" => return Ok(Seen::Undecided),
                "We are checking your payment" => {}
                _ => return Err(self.wonders("at a purchase", &page)),
            }
            let longer = Duration::from_millis(50 * u64::from(look.min(20)));
            tokio::time::sleep(Duration::from_millis(100) + longer).await;
        }
        Ok(Seen::Undecided)
    }

    /// On the bank's page. Whether the answer arrived, the next look tells.
    async fn answers_bank(&self, url: &str, verdict: &str) {
        let request = self.street.http.post(url);
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("verdict={verdict}"));
        let _ = request.send().await;
    }

    /// With the browser's back button, and sends the form again; or looks at the page again. It says what it said.
    async fn comes_back(&mut self, status: &str, form: Option<Form>) -> Step<()> {
        let shop = self.any_shop();
        if let Some(form) = form.filter(|_| self.rng.random_bool(0.1)) {
            self.street.repeats.fetch_add(1, Ordering::Relaxed);
            let answer = self.browser.posts(shop, "/checkout", &form).await;
            if let Some(answer) = answer.filter(|answer| answer.location != status) {
                let answer = answer.in_short();
                let sentence = format!("{} sent the form of {status} again: {answer}", self.email);
                self.street.told.odd(sentence);
            }
        } else if self.chance(0.1) {
            self.looks_at(status).await?;
        }
        Ok(())
    }

    fn any_shop(&mut self) -> usize {
        self.rng.random_range(0..3)
    }

    fn chance(&mut self, share: f64) -> bool {
        self.rng.random_bool(share)
    }

    /// Before trying again.
    async fn rests(&mut self) -> Step<()> {
        if self.came.elapsed() > PATIENCE {
            return Err(Stuck);
        }
        let pause = Duration::from_millis(self.rng.random_range(20..400));
        tokio::time::sleep(pause).await;
        Ok(())
    }

    fn wonders(&self, place: &str, answer: &Answer) -> Stuck {
        let sentence = format!("{} wondered {place}: {}", self.email, answer.in_short());
        self.street.told.odd(sentence);
        Stuck
    }
}

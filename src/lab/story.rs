//! What people do when something goes wrong: they try again.
//!
//! Stories are told with these. A story says what its people want; whether a request has to be sent once or four times for
//! that is their own affair, and the shop's.

use std::time::Duration;

use super::{
    flow::{Answer, Customer, Failed, Form, Place, Request, Standing},
    world::{Settled, World},
};

/// So often somebody tries, before they give up and call.
const TRIES: usize = 6;

/// So often somebody looks at a page that says "wait".
const LOOKS: usize = 10;

/// So long somebody waits before they look again.
const A_WHILE: Duration = Duration::from_secs(20);

/// Why a story came to no end. All but the last are the shop's fault.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// Nobody could be helped however often they tried.
    #[error("{0}: no answer, however often it was tried")]
    Unhelped(&'static str),
    /// The answer is not what somebody who does this may get.
    #[error("{0}: answered {1}")]
    Unexpected(&'static str, String),
    /// The page says something else than what is true.
    #[error("the page says {told:?}, and should say {should:?}")]
    ToldWrong {
        /// What it says.
        told: Standing,
        /// What is true.
        should: &'static str,
    },
    /// The world does not come to rest.
    #[error("something stays due for ever")]
    Restless,
    /// The world itself failed.
    #[error("the world failed: {0}")]
    Failed(#[from] Failed),
}

impl World<'_> {
    /// Sends a request until there is an answer.
    pub async fn insist(&mut self, request: Request) -> Result<Answer, Stopped> {
        for _ in 0..TRIES {
            if let Ok(answer) = self.ask(request.clone()).await? {
                return Ok(answer);
            }
        }
        Err(Stopped::Unhelped(request.name()))
    }

    /// A customer puts one unit of a product into the cart, and opens the form. Adding twice makes two, as everybody knows who
    /// has pressed a button twice, so they look how many there are.
    pub async fn want(&mut self, customer: &Customer, sku: &'static str) -> Result<Form, Stopped> {
        for _ in 0..TRIES {
            let _ = self.ask(Request::Add(customer.clone(), sku, 1)).await?;
            self.insist(Request::Keep(customer.clone(), sku, 1)).await?;
            match self.open_form(customer).await? {
                Answer::Form(form) => return Ok(form),
                // The cart is empty: the answer to the first request was lost, and with it the cookie.
                Answer::Refused(None) => {}
                other => return Err(unexpected("want", &other)),
            }
        }
        Err(Stopped::Unhelped("want"))
    }

    /// A customer opens the form, or is sent to what they have bought already.
    pub async fn open_form(&mut self, customer: &Customer) -> Result<Answer, Stopped> {
        self.insist(Request::OpenForm(customer.clone())).await
    }

    /// A customer submits a form until there is an answer: the purchase, or a refusal.
    pub async fn submit(
        &mut self,
        customer: &Customer,
        form: &Form,
        method: &'static str,
    ) -> Result<Answer, Stopped> {
        let request = Request::Submit(customer.clone(), form.clone(), method);
        self.insist(request).await
    }

    /// A customer looks at their purchase, and in between the world goes on, until the page says something else than "wait".
    pub async fn wait(&mut self, customer: &Customer, place: &Place) -> Result<Standing, Stopped> {
        for _ in 0..LOOKS {
            match self.look(customer, place).await? {
                Standing::Processing => self.settle().await?,
                standing => return Ok(standing),
            }
        }
        Ok(Standing::Processing)
    }

    /// A customer looks at their purchase until their bank asks for a confirmation, and gives the page where it does. Nobody
    /// waits until their time is up.
    pub async fn wait_to_be_asked(
        &mut self,
        customer: &Customer,
        place: &Place,
    ) -> Result<String, Stopped> {
        for _ in 0..LOOKS {
            match self.look(customer, place).await? {
                Standing::Asked(page) => return Ok(page),
                Standing::Processing => self.go_on_for(A_WHILE).await?,
                told => {
                    let should = "confirm the payment";
                    return Err(Stopped::ToldWrong { told, should });
                }
            }
        }
        Err(Stopped::Restless)
    }

    /// A customer looks at their purchase.
    pub async fn look(&mut self, customer: &Customer, place: &Place) -> Result<Standing, Stopped> {
        let look = Request::Look(customer.clone(), place.clone());
        match self.insist(look).await? {
            Answer::Standing(standing) => Ok(standing),
            other => Err(unexpected("look", &other)),
        }
    }

    /// The world goes on until nothing is due.
    pub async fn settle(&mut self) -> Result<(), Stopped> {
        match self.go_on().await? {
            Settled::Yes => Ok(()),
            Settled::Never => Err(Stopped::Restless),
        }
    }

    /// A customer who has the form submits it and waits for the outcome.
    pub async fn pay(
        &mut self,
        customer: &Customer,
        form: &Form,
        method: &'static str,
    ) -> Result<(Place, Standing), Stopped> {
        let place = place_of(self.submit(customer, form, method).await?)?;
        let standing = self.wait(customer, &place).await?;
        Ok((place, standing))
    }

    /// The operator gives back so much of an order, in minor units.
    pub async fn give_back(
        &mut self,
        order: &str,
        minor: i64,
        restock: bool,
    ) -> Result<(), Stopped> {
        let open = Request::OpenRefund(order.to_owned());
        let form = form_of(self.insist(open).await?)?;
        let refund = Request::Refund {
            order: order.to_owned(),
            form,
            minor,
            restock,
        };
        place_of(self.insist(refund).await?)?;
        Ok(())
    }

    /// The provider delivers all that it has to tell once more, the newest first.
    pub async fn repeat_everything_backwards(&mut self) -> Result<(), Stopped> {
        for event in self.everything_told().await?.into_iter().rev() {
            let _ = self.deliver(event).await?;
        }
        Ok(())
    }
}

/// The form that an answer is.
pub fn form_of(answer: Answer) -> Result<Form, Stopped> {
    match answer {
        Answer::Form(form) => Ok(form),
        other => Err(unexpected("open", &other)),
    }
}

/// The place that an answer leads to.
pub fn place_of(answer: Answer) -> Result<Place, Stopped> {
    match answer {
        Answer::Place(place) => Ok(place),
        other => Err(unexpected("submit", &other)),
    }
}

/// The number of the order of a purchase that is paid.
pub fn order_of(standing: Standing) -> Result<String, Stopped> {
    match standing {
        Standing::Paid(order) => Ok(order),
        told => Err(Stopped::ToldWrong {
            told,
            should: "paid",
        }),
    }
}

fn unexpected(doing: &'static str, answer: &Answer) -> Stopped {
    Stopped::Unexpected(doing, format!("{answer:?}"))
}

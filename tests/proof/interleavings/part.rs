//! What an actor does.

use std::sync::Arc;

use boring_checkout::{
    checkout::{Till, reconciler},
    lab::{
        flow::{Customer, Failed, Flow, Form, Place, Premises, Request},
        safe,
    },
    probe::{Boundary, report},
    refunds::refunder::Refunder,
    workers,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::provider::{client, post};

/// The card of everybody who does not say otherwise.
pub const VISA: &str = "pm_card_visa";

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The buyer sends the form.
    Form,
    /// The same form arrives again.
    Retry,
    /// The buyer sends the form of another tab: the same cart under another key.
    OtherTab,
    /// Somebody else sends a form, for the same goods.
    Rival,
    /// The buyer looks at the page of the purchase.
    Look,
    /// The buyer answers their bank.
    Approval,
    /// The provider tells that the payment has succeeded, if it has by then.
    Webhook,
    /// The reconciler does what is due.
    Reconciler,
    /// The operator gives a part of the money back.
    Refund,
    /// The same form arrives again.
    RefundRetry,
    /// The operator sends the form of another tab, which gives the same part back once more.
    OtherRefund,
    /// Somebody gives the same part back at the provider's dashboard.
    Dashboard,
    /// The provider tells of the refund, if there is one by then.
    Notice,
    /// The refunder does what is due.
    Refunder,
}

/// What the parts are about.
#[derive(Clone, Debug)]
pub struct Props {
    pub buyer: Customer,
    pub rival: Customer,
    /// With which the buyer pays.
    pub card: &'static str,
    /// Of the buyer's two tabs.
    pub forms: Vec<Form>,
    pub rivals_form: Form,
    /// The page of the purchase.
    pub place: Place,
    /// The page of the buyer's bank.
    pub bank: String,
    /// The order's number.
    pub order: String,
    /// What the refund forms are sent with, in minor units.
    pub given_back: i64,
    /// Of the operator's two tabs.
    pub refund_forms: Vec<Form>,
    /// The provider's payment intent.
    pub intent: String,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Self::Form => "the form",
            Self::Retry => "the form again",
            Self::OtherTab => "the form of another tab",
            Self::Rival => "the form of somebody else",
            Self::Look => "a look at the page",
            Self::Approval => "the answer to the bank",
            Self::Webhook => "the webhook",
            Self::Reconciler => "the reconciler",
            Self::Refund => "the refund",
            Self::RefundRetry => "the refund again",
            Self::OtherRefund => "the refund of another tab",
            Self::Dashboard => "a refund at the provider",
            Self::Notice => "the news of the refund",
            Self::Refunder => "the refunder",
        }
    }

    /// Plays it in a process of the shop, and says how it was answered.
    pub async fn play(
        self,
        props: &Props,
        shop: &Arc<dyn Flow>,
        premises: &Premises,
    ) -> Result<String, Failed> {
        let submit = |form: &Form| Request::Submit(props.buyer.clone(), form.clone(), props.card);
        let refund = |form: &Form| Request::Refund {
            order: props.order.clone(),
            form: form.clone(),
            minor: props.given_back,
            restock: false,
        };
        let request = match self {
            Self::Form | Self::Retry => submit(&props.forms[0]),
            Self::OtherTab => submit(&props.forms[1]),
            Self::Rival => Request::Submit(props.rival.clone(), props.rivals_form.clone(), VISA),
            Self::Look => Request::Look(props.buyer.clone(), props.place.clone()),
            Self::Webhook | Self::Notice => match self.news(premises).await? {
                Some(event) => Request::Deliver(event),
                None => return Ok("nothing to tell yet".to_owned()),
            },
            Self::Refund | Self::RefundRetry => refund(&props.refund_forms[0]),
            Self::OtherRefund => refund(&props.refund_forms[1]),
            Self::Approval => return act(premises, &props.bank, "verdict=approve").await,
            Self::Dashboard => {
                let url = format!("{}/v1/refunds", premises.provider_url);
                let body = format!(
                    "payment_intent={}&amount={}",
                    props.intent, props.given_back
                );
                return act(premises, &url, &body).await;
            }
            Self::Reconciler => {
                let till = till(premises).await?;
                reconciler::round(&till, &CancellationToken::new()).await?;
                return Ok("done".to_owned());
            }
            Self::Refunder => {
                let till = till(premises).await?;
                let pieces = workers::do_what_is_due(&Refunder { till }).await?;
                return Ok(format!("{pieces} refunds driven"));
            }
        };
        Ok(match shop.answer(request).await {
            Ok(answer) => format!("{answer:?}"),
            Err(no_answer) => format!("{no_answer:?}"),
        })
    }

    /// The newest event that the part is about.
    async fn news(self, premises: &Premises) -> Result<Option<Arc<Value>>, Failed> {
        let kind = match self {
            Self::Webhook => "payment_intent.succeeded",
            _ => "refund.",
        };
        report(Some(&premises.probe), Boundary::BeforeSend("events.list")).await?;
        let events = client(premises)?.events_since(0, &[]).await?.events;
        let is_it = |event: &Value| {
            event["type"]
                .as_str()
                .is_some_and(|it| it.starts_with(kind))
        };
        Ok(events.into_iter().rfind(is_it).map(Arc::new))
    }
}

async fn till(premises: &Premises) -> Result<Till, Failed> {
    Ok(safe::till(premises).await?.with_probe(&premises.probe))
}

/// Somebody does something at the provider, past the shop.
async fn act(premises: &Premises, url: &str, body: &str) -> Result<String, Failed> {
    report(Some(&premises.probe), Boundary::BeforeSend("something")).await?;
    post(premises, url, body).await
}

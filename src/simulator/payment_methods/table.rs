//! The test cards: what each is called, and what becomes of a payment with it.

use super::{
    bank_accounts::Debit,
    declines::{
        Decline, EXPIRED, FRAUDULENT, GENERIC, INCORRECT_CVC, INSUFFICIENT_FUNDS, LOST,
        PROCESSING_ERROR, STOLEN, VELOCITY,
    },
    instrument::{Card, Instrument},
};

/// What the issuing bank will say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum Behaviour {
    Pays,
    Declines(Decline),
    /// The customer must authenticate (3-D Secure) first.
    Authenticates {
        then: Option<Decline>,
        off_session: OffSession,
    },
    /// A bank debit: taken at once, decided on later.
    Debits(Debit),
}

/// Whether the bank insists on the customer when they are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum OffSession {
    Declines,
    /// It declines until the customer agreed to such payments, in one with `setup_future_usage=off_session`.
    PassesOnceSetUp,
    Passes,
}

/// What is special about a card besides how its payments end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum Quirk {
    None,
    /// A customer can keep it although every payment is declined.
    IsKeptThoughDeclined,
    /// Its money is available at once.
    BypassesPending,
    /// A refund is pending for a while.
    RefundsPend,
    /// A refund succeeds and fails later.
    RefundsFail,
    /// Its owner disputes every payment.
    Disputes(Complaint),
}

/// What the owner of a card tells their bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::simulator) enum Complaint {
    Fraudulent,
    ProductNotReceived,
    /// The bank only asks: no money moves yet.
    Inquiry,
}

#[derive(Debug)]
pub(in crate::simulator) struct TestMethod {
    pub(in crate::simulator) alias: &'static str,
    pub(in crate::simulator) instrument: Instrument,
    pub(in crate::simulator) behaviour: Behaviour,
    pub(in crate::simulator) quirk: Quirk,
}

const AUTHENTICATES: Behaviour = Behaviour::Authenticates {
    then: None,
    off_session: OffSession::Declines,
};

const VISA: Card = card("visa", "4242", "credit");

/// Every card the simulator knows.
pub(super) const TEST_CARDS: &[TestMethod] = &[
    pays("pm_card_visa", VISA),
    pays("pm_card_visa_debit", card("visa", "5556", "debit")),
    pays("pm_card_mastercard", card("mastercard", "4444", "credit")),
    pays(
        "pm_card_mastercard_debit",
        card("mastercard", "8210", "debit"),
    ),
    pays(
        "pm_card_mastercard_prepaid",
        card("mastercard", "5100", "prepaid"),
    ),
    pays("pm_card_amex", card("amex", "8431", "credit")),
    pays("pm_card_discover", card("discover", "9424", "credit")),
    pays("pm_card_diners", card("diners", "5904", "credit")),
    pays("pm_card_jcb", card("jcb", "0505", "credit")),
    pays("pm_card_unionpay", card("unionpay", "0005", "credit")),
    odd("pm_card_bypassPending", "0077", Quirk::BypassesPending),
    odd("pm_card_pendingRefund", "7726", Quirk::RefundsPend),
    odd("pm_card_refundFail", "5126", Quirk::RefundsFail),
    odd(
        "pm_card_createDispute",
        "0259",
        Quirk::Disputes(Complaint::Fraudulent),
    ),
    odd(
        "pm_card_createDisputeProductNotReceived",
        "2685",
        Quirk::Disputes(Complaint::ProductNotReceived),
    ),
    odd(
        "pm_card_createDisputeInquiry",
        "1976",
        Quirk::Disputes(Complaint::Inquiry),
    ),
    declines("pm_card_chargeDeclined", "0002", GENERIC),
    declines("pm_card_visa_chargeDeclined", "0002", GENERIC),
    declines(
        "pm_card_chargeDeclinedInsufficientFunds",
        "9995",
        INSUFFICIENT_FUNDS,
    ),
    declines(
        "pm_card_visa_chargeDeclinedInsufficientFunds",
        "9995",
        INSUFFICIENT_FUNDS,
    ),
    declines("pm_card_chargeDeclinedLostCard", "9987", LOST),
    declines("pm_card_visa_chargeDeclinedLostCard", "9987", LOST),
    declines("pm_card_chargeDeclinedStolenCard", "9979", STOLEN),
    declines("pm_card_visa_chargeDeclinedStolenCard", "9979", STOLEN),
    declines("pm_card_chargeDeclinedExpiredCard", "0069", EXPIRED),
    declines("pm_card_chargeDeclinedIncorrectCvc", "0127", INCORRECT_CVC),
    declines(
        "pm_card_chargeDeclinedProcessingError",
        "0119",
        PROCESSING_ERROR,
    ),
    declines("pm_card_chargeDeclinedFraudulent", "0019", FRAUDULENT),
    declines(
        "pm_card_chargeDeclinedVelocityLimitExceeded",
        "6975",
        VELOCITY,
    ),
    declines(
        "pm_card_visa_chargeDeclinedVelocityLimitExceeded",
        "6975",
        VELOCITY,
    ),
    TestMethod {
        quirk: Quirk::IsKeptThoughDeclined,
        ..declines("pm_card_chargeCustomerFail", "0341", GENERIC)
    },
    authenticates("pm_card_authenticationRequired", "3184", AUTHENTICATES),
    authenticates(
        "pm_card_authenticationRequiredOnSetup",
        "3155",
        Behaviour::Authenticates {
            then: None,
            off_session: OffSession::PassesOnceSetUp,
        },
    ),
    authenticates(
        "pm_card_authenticationRequiredSetupForOffSession",
        "3246",
        Behaviour::Authenticates {
            then: None,
            off_session: OffSession::Passes,
        },
    ),
    authenticates(
        "pm_card_authenticationRequiredChargeDeclinedInsufficientFunds",
        "3178",
        Behaviour::Authenticates {
            then: Some(INSUFFICIENT_FUNDS),
            off_session: OffSession::Declines,
        },
    ),
    authenticates("pm_card_threeDSecure2Required", "3220", AUTHENTICATES),
    authenticates(
        "pm_card_threeDSecureRequiredChargeDeclined",
        "1629",
        Behaviour::Authenticates {
            then: Some(GENERIC),
            off_session: OffSession::Declines,
        },
    ),
];

const fn card(brand: &'static str, last4: &'static str, funding: &'static str) -> Card {
    Card {
        brand,
        last4,
        funding,
    }
}

const fn pays(alias: &'static str, card: Card) -> TestMethod {
    TestMethod {
        alias,
        instrument: Instrument::Card(card),
        behaviour: Behaviour::Pays,
        quirk: Quirk::None,
    }
}

/// Pays, and is odd afterwards.
const fn odd(alias: &'static str, last4: &'static str, quirk: Quirk) -> TestMethod {
    TestMethod {
        quirk,
        ..pays(alias, card("visa", last4, "credit"))
    }
}

const fn declines(alias: &'static str, last4: &'static str, decline: Decline) -> TestMethod {
    TestMethod {
        alias,
        instrument: Instrument::Card(card("visa", last4, "credit")),
        behaviour: Behaviour::Declines(decline),
        quirk: Quirk::None,
    }
}

const fn authenticates(
    alias: &'static str,
    last4: &'static str,
    behaviour: Behaviour,
) -> TestMethod {
    TestMethod {
        alias,
        instrument: Instrument::Card(card("visa", last4, "credit")),
        behaviour,
        quirk: Quirk::None,
    }
}

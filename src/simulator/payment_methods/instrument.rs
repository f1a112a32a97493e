//! What a payment method is made of, and how the API shows it.

use serde_json::{Value, json};

/// What the customer pays with.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) enum Instrument {
    Card(Card),
    SepaDebit(EuropeanAccount),
    UsBankAccount(AmericanAccount),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct Card {
    pub(in crate::simulator) brand: &'static str,
    pub(in crate::simulator) last4: &'static str,
    pub(in crate::simulator) funding: &'static str,
}

/// A bank account with an IBAN.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct EuropeanAccount {
    pub(in crate::simulator) iban: &'static str,
    pub(in crate::simulator) bank_code: &'static str,
    pub(in crate::simulator) branch_code: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct AmericanAccount {
    pub(in crate::simulator) last4: &'static str,
}

/// Every test card is good until the end of 2040.
const EXP_MONTH: u8 = 12;
const EXP_YEAR: u16 = 2040;

/// Every American test account is at the same bank.
const ROUTING_NUMBER: &str = "110000000";
const BANK_NAME: &str = "STRIPE TEST BANK";

impl Instrument {
    /// The type of the payment method, and the name of the field with its details.
    pub(in crate::simulator) fn kind(&self) -> &'static str {
        match self {
            Instrument::Card(_) => "card",
            Instrument::SepaDebit(_) => "sepa_debit",
            Instrument::UsBankAccount(_) => "us_bank_account",
        }
    }

    /// The details in a payment method.
    pub(super) fn show(&self) -> Value {
        match self {
            Instrument::Card(card) => json!({
                "brand": card.brand,
                "checks": card_checks(),
                "country": "US",
                "display_brand": card.brand,
                "exp_month": EXP_MONTH,
                "exp_year": EXP_YEAR,
                "fingerprint": self.fingerprint(),
                "funding": card.funding,
                "generated_from": null,
                "last4": card.last4,
                "networks": { "available": [card.brand], "preferred": null },
                "regulated_status": "unregulated",
                "three_d_secure_usage": { "supported": true },
                "wallet": null
            }),
            Instrument::SepaDebit(account) => json!({
                "bank_code": account.bank_code,
                "branch_code": account.branch_code,
                "country": account.country(),
                "fingerprint": self.fingerprint(),
                "generated_from": { "charge": null, "setup_attempt": null },
                "last4": account.last4()
            }),
            Instrument::UsBankAccount(account) => json!({
                "account_holder_type": "individual",
                "account_type": "checking",
                "bank_name": BANK_NAME,
                "financial_connections_account": null,
                "fingerprint": self.fingerprint(),
                "last4": account.last4,
                "networks": { "preferred": "ach", "supported": ["ach"] },
                "routing_number": ROUTING_NUMBER,
                "status_details": {}
            }),
        }
    }

    /// The details in a charge of `amount`; `mandate` is what allowed a debit.
    pub(in crate::simulator) fn charge_details(&self, amount: i64, mandate: Option<&str>) -> Value {
        match self {
            Instrument::Card(card) => json!({
                "amount_authorized": amount,
                "authorization_code": null,
                "brand": card.brand,
                "checks": card_checks(),
                "country": "US",
                "electronic_commerce_indicator": null,
                "exp_month": EXP_MONTH,
                "exp_year": EXP_YEAR,
                "fingerprint": self.fingerprint(),
                "funding": card.funding,
                "installments": null,
                "last4": card.last4,
                "mandate": null,
                "network": card.brand,
                "network_transaction_id": null,
                "regulated_status": "unregulated",
                "three_d_secure": null,
                "transaction_link_id": null,
                "wallet": null
            }),
            Instrument::SepaDebit(account) => json!({
                "bank_code": account.bank_code,
                "branch_code": account.branch_code,
                "country": account.country(),
                "fingerprint": self.fingerprint(),
                "last4": account.last4(),
                "mandate": mandate
            }),
            Instrument::UsBankAccount(account) => json!({
                "account_holder_type": "individual",
                "account_type": "checking",
                "bank_name": BANK_NAME,
                "fingerprint": self.fingerprint(),
                "last4": account.last4,
                "mandate": mandate,
                "payment_reference": null,
                "routing_number": ROUTING_NUMBER
            }),
        }
    }

    /// The same for every payment method of the same card or account.
    fn fingerprint(&self) -> String {
        match self {
            Instrument::Card(card) => format!("boring{}{}", card.brand, card.last4),
            Instrument::SepaDebit(account) => format!("boring{}", account.iban),
            Instrument::UsBankAccount(account) => {
                format!("boring{ROUTING_NUMBER}{}", account.last4)
            }
        }
    }
}

impl EuropeanAccount {
    fn country(&self) -> &'static str {
        self.iban.get(..2).unwrap_or_default()
    }

    fn last4(&self) -> &'static str {
        self.iban
            .get(self.iban.len().saturating_sub(4)..)
            .unwrap_or_default()
    }
}

fn card_checks() -> Value {
    json!({ "address_line1_check": null, "address_postal_code_check": null, "cvc_check": null })
}

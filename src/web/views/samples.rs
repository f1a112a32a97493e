//! Every page with hostile text in every field, for the tests.

mod lab;

use askama::Template;

use super::*;

/// Breaks out of text, of an attribute in either kind of quotes, and of a template, wherever nothing escapes it.
pub(super) const HOSTILE: &str =
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}&amp;\u{202e}🧢";

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn api() -> ApiPage {
    let named = || Named {
        name: hostile(),
        note: hostile(),
        about: Said::in_markdown(&hostile()),
    };
    ApiPage {
        chrome: chrome(),
        about: vec![Said::in_markdown(&hostile())],
        operations: vec![Operation {
            id: "operation".to_owned(),
            method: hostile(),
            path: hostile(),
            summary: hostile(),
            about: vec![Said::in_markdown(&hostile())],
            parameters: vec![named()],
            fields: vec![named()],
            answers: vec![named()],
            example: Example {
                call: hostile(),
                answer: hostile(),
            },
        }],
        problems: vec![ProblemKind {
            slug: "problem".to_owned(),
            status: 404,
            title: hostile(),
            detail: hostile(),
        }],
    }
}

pub(super) fn chrome() -> Chrome {
    Chrome {
        cart_units: 3,
        has_mailbox: true,
        has_lab: true,
        has_api: true,
    }
}

fn line() -> Line {
    Line {
        sku: hostile(),
        name: hostile(),
        quantity: 2,
        unit_price: hostile(),
        amount: hostile(),
    }
}

fn tax() -> Tax {
    Tax {
        rate: hostile(),
        amount: hostile(),
    }
}

pub(super) fn product() -> Product {
    Product {
        sku: hostile(),
        name: hostile(),
        description: hostile(),
        price: hostile(),
        stock: 5,
    }
}

fn field(error: Option<&str>) -> Field {
    Field {
        value: hostile(),
        error: error.map(str::to_owned),
        chars_max: 100,
    }
}

pub(super) fn checkout(error: Option<&str>) -> CheckoutPage {
    CheckoutPage {
        chrome: chrome(),
        idempotency_key: hostile(),
        quoted_total: 2490,
        quoted_cart: hostile(),
        lines: vec![line()],
        shipping: Some(hostile()),
        total: hostile(),
        tax: Some(tax()),
        email: field(error),
        name: field(error),
        address: field(error),
        city: field(error),
        postal_code: field(error),
        country: field(error),
        countries: vec![
            Country {
                code: hostile(),
                name: hostile(),
            },
            Country::default(),
        ],
        payment_method: field(error),
        payment_methods: vec![
            PaymentMethod {
                value: "pm_card_visa".into(),
                label: hostile(),
                note: hostile(),
            },
            PaymentMethod {
                value: hostile(),
                label: hostile(),
                note: hostile(),
            },
        ],
        earlier: [
            EarlierState::BeingChecked,
            EarlierState::Paid { ago: hostile() },
        ]
        .map(|state| EarlierPurchase {
            url: hostile(),
            state,
            lines: vec![line()],
            total: hostile(),
        })
        .into(),
        buy_again_error: error.map(str::to_owned),
        ..CheckoutPage::default()
    }
}

pub(super) fn cart(error: Option<&str>, in_payment: Option<&str>) -> CartPage {
    let item = CartLine {
        line: line(),
        typed: hostile(),
        error: error.map(str::to_owned),
    };
    CartPage {
        chrome: chrome(),
        lines: vec![item],
        shipping: Some(hostile()),
        total: hostile(),
        in_payment: in_payment.map(str::to_owned),
    }
}

pub(super) fn status(status: Status) -> StatusPage {
    StatusPage {
        chrome: chrome(),
        checkout_id: hostile(),
        again_url: format!("/checkouts/{}", hostile()),
        has_cart: true,
        status,
        refresh_seconds: None,
        lines: vec![line()],
        shipping: Some(hostile()),
        total: hostile(),
        tax: Some(tax()),
        address: vec![hostile(), hostile()],
    }
}

fn order() -> OrderPage {
    OrderPage {
        chrome: chrome(),
        number: hostile(),
        state: hostile(),
        placed_at: hostile(),
        placed_at_rfc3339: hostile(),
        lines: vec![line()],
        shipping: Some(hostile()),
        total: hostile(),
        tax: Some(tax()),
        payment_method: hostile(),
        payment_reference: hostile(),
        email: hostile(),
        address: vec![hostile(), hostile()],
        refunds: vec![Refund {
            amount: hostile(),
            state: hostile(),
            at: hostile(),
        }],
        refunded: Some(hostile()),
        refunded_tax: Some(tax()),
        on_its_way: Some(hostile()),
        left: Some(hostile()),
    }
}

fn letter() -> Letter {
    Letter {
        name: hostile(),
        from: hostile(),
        to: hostile(),
        subject: hostile(),
        message_id: hostile(),
        date: hostile(),
    }
}

fn mailbox(letters: Vec<Letter>) -> MailboxPage {
    MailboxPage {
        chrome: chrome(),
        letters,
    }
}

fn letter_page() -> LetterPage {
    LetterPage {
        chrome: chrome(),
        letter: letter(),
        text: format!("{HOSTILE}\nhttps://{HOSTILE}\njavascript:{HOSTILE}"),
    }
}

fn error() -> ErrorPage {
    ErrorPage {
        title: hostile(),
        advice: hostile(),
        link: Link {
            url: hostile(),
            label: hostile(),
        },
        reference: Some(hostile()),
        ..ErrorPage::new(chrome(), 500)
    }
}

/// Every page in every state that changes its markup, by name, with hostile text in every field.
pub(super) fn pages() -> Vec<(&'static str, String)> {
    let quantity = hostile();
    let product_page = |error| ProductPage {
        chrome: chrome(),
        product: product(),
        quantity: quantity.clone(),
        error,
    };
    let troubled = CheckoutPage {
        problem: Some(hostile()),
        total_changed: Some(TotalChange {
            was: hostile(),
            now: hostile(),
        }),
        declined: Some(hostile()),
        ..checkout(Some(HOSTILE))
    };
    let paid = Status::Paid {
        order_number: hostile(),
        order_url: hostile(),
    };
    vec![
        (
            "catalog",
            CatalogPage {
                chrome: chrome(),
                products: vec![product()],
            }
            .render(),
        ),
        ("product", product_page(None).render()),
        ("product, refused", product_page(Some(hostile())).render()),
        ("cart", cart(None, None).render()),
        ("cart, refused", cart(Some(HOSTILE), None).render()),
        ("cart, in payment", cart(None, Some(HOSTILE)).render()),
        ("cart, empty", CartPage::default().render()),
        ("checkout", checkout(None).render()),
        ("checkout, refused", troubled.render()),
        ("processing", status(Status::Processing).render()),
        (
            "authentication",
            status(Status::NeedsAuthentication { url: hostile() }).render(),
        ),
        ("paid", status(paid).render()),
        (
            "declined",
            status(Status::Declined {
                reason: hostile(),
                cart_kept: true,
            })
            .render(),
        ),
        ("canceled", status(Status::Canceled).render()),
        (
            "too late, going back",
            status(Status::TooLate(TooLate::GoingBack)).render(),
        ),
        (
            "too late, given back",
            status(Status::TooLate(TooLate::GivenBack { at: hostile() })).render(),
        ),
        (
            "too late, looked into",
            status(Status::TooLate(TooLate::LookedInto)).render(),
        ),
        ("order", order().render()),
        ("api", api().render()),
        ("mailbox", mailbox(vec![letter()]).render()),
        ("mailbox, empty", mailbox(Vec::new()).render()),
        ("letter", letter_page().render()),
        ("error", error().render()),
    ]
    .into_iter()
    .chain(lab::pages())
    .map(|(name, html)| (name, html.expect("a page renders")))
    .collect()
}

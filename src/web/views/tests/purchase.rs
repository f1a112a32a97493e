//! The pages that lead from the shelf to an order: what each offers, and what it must not say.

use askama::Template;

use super::{
    super::{
        CatalogPage, CheckoutPage, Product, ProductPage, Status, StatusPage, TooLate, TotalChange,
        samples::{HOSTILE, cart, checkout, product, status},
    },
    Dom,
};

#[test]
fn each_bad_field_is_tied_to_what_is_wrong_with_it_and_keeps_what_was_typed() {
    let dom = Dom::of(&checkout(Some("Enter something else.")));
    for id in ["email", "name", "address", "city", "postal_code"] {
        let wired = format!("input#{id}[aria-invalid=true][aria-describedby={id}-error]");
        let input = dom.all(&wired);
        assert_eq!(
            input.first().and_then(|input| input.attr("value")),
            Some(HOSTILE),
            "{id}"
        );
    }
    for wired in [
        "select#country[aria-invalid=true][aria-describedby=country-error]",
        "fieldset[aria-invalid=true][aria-describedby=payment_method-error] #payment_method",
        "input#buy_again[aria-invalid=true][aria-describedby=buy_again-error]",
    ] {
        assert!(dom.has(wired), "{wired}");
    }
    assert_eq!(
        dom.all("[role=alert][tabindex='-1'] li a").len(),
        8,
        "the summary names them all"
    );
    assert_eq!(dom.all("#country option[selected]").len(), 1);
    assert_eq!(dom.all("[name=payment_method][checked]").len(), 1);

    let dom = Dom::of(&checkout(None));
    assert!(
        !dom.has("[aria-invalid], [aria-describedby], [role=alert]"),
        "nothing is wrong here"
    );
}

#[test]
fn what_is_known_of_this_form_alone_is_an_error_too() {
    let troubles = [
        CheckoutPage {
            problem: Some("Sold out.".into()),
            ..checkout(None)
        },
        CheckoutPage {
            total_changed: Some(TotalChange::default()),
            ..checkout(None)
        },
        CheckoutPage {
            declined: Some("No funds.".into()),
            ..checkout(None)
        },
    ];
    for page in troubles {
        let dom = Dom::of(&page);
        assert!(dom.is_titled_error() && dom.has("[role=alert]"));
    }
}

#[test]
fn the_server_and_not_the_browser_judges_the_checkout_form() {
    let dom = Dom::of(&checkout(None));
    assert!(dom.has("form[action='/checkout'][method=post][novalidate]"));
    assert!(!dom.has("form[action='/checkout'] [required]"));
    for name in ["idempotency_key", "quoted_total", "quoted_cart"] {
        assert!(dom.has(&format!(
            "form[action='/checkout'] input[type=hidden][name={name}]"
        )));
    }
}

#[test]
fn an_earlier_purchase_is_asked_about_before_the_pay_button_and_only_then() {
    let html = checkout(None).render().expect("a page renders");
    let at = |what: &str| html.find(what).expect(what);
    assert!(at("name=\"buy_again\"") < at("button-pay"));
    assert!(html.contains("still checking"));

    let dom = Dom::of(&CheckoutPage {
        earlier: Vec::new(),
        ..checkout(None)
    });
    assert!(!dom.has("[name=buy_again]") && dom.has(".button-pay"));
}

#[test]
fn an_undecided_payment_is_neither_denied_nor_offered_again() {
    let undecided = [
        Status::Processing,
        Status::NeedsAuthentication { url: "/pay".into() },
    ];
    for state in undecided {
        let page = StatusPage {
            refresh_seconds: Some(2),
            ..status(state)
        };
        let dom = Dom::of(&page);
        assert!(
            !dom.has("form, button, a[href='/checkout']"),
            "a second way to pay"
        );
        assert!(
            dom.has("meta[http-equiv=refresh][content='2']"),
            "it looks again by itself"
        );
        assert!(dom.has("a[href^='/checkouts/']"), "and by hand");
        assert!(dom.has("[role=status][aria-live=polite] h1"));
        let text = dom.text("main").to_lowercase();
        for claim in [
            "not charged",
            "nothing was charged",
            "failed",
            "declined",
            "not paid",
        ] {
            assert!(!text.contains(claim), "it says {claim:?}");
        }
    }
}

#[test]
fn a_decided_payment_is_said_plainly() {
    let dom = Dom::of(&status(Status::Declined {
        reason: "The card has expired.".into(),
        cart_kept: true,
    }));
    assert!(dom.text("main").contains("You were not charged."));
    assert!(dom.has("a[href='/checkout']") && !dom.has("meta[http-equiv=refresh]"));

    let elsewhere = StatusPage {
        has_cart: false,
        ..status(Status::Canceled)
    };
    assert!(!Dom::of(&elsewhere).has("main a[href='/cart']"));

    let dom = Dom::of(&status(Status::Canceled));
    assert!(dom.text("main").contains("Nothing was charged") && dom.has("main a[href='/cart']"));

    for too_late in [TooLate::GoingBack, TooLate::LookedInto] {
        let dom = Dom::of(&status(Status::TooLate(too_late)));
        let text = dom.text("main").to_lowercase();
        for lie in ["charged", "given back on", "thank"] {
            assert!(!text.contains(lie), "it says {lie:?}");
        }
    }

    let (order_number, order_url) = ("B-1".into(), "/orders/B-1".into());
    let dom = Dom::of(&status(Status::Paid {
        order_number,
        order_url,
    }));
    assert!(dom.text("h1") == "Paid" && dom.has("a[href='/orders/B-1']"));
}

#[test]
fn a_cart_in_payment_can_be_looked_at_only() {
    let dom = Dom::of(&cart(None, Some("/checkouts/1")));
    assert!(dom.has("main a[href='/checkouts/1']"));
    assert!(!dom.has("form, button, input, a[href='/checkout']"));
    assert!(Dom::of(&cart(None, None)).has("a[href='/checkout']"));
}

#[test]
fn what_is_sold_out_cannot_be_put_into_the_cart() {
    for (stock, buttons) in [(0, 0), (1, 1)] {
        let product = Product { stock, ..product() };
        let page = CatalogPage {
            products: vec![product.clone()],
            ..CatalogPage::default()
        };
        assert_eq!(
            Dom::of(&page).all("form[action='/cart/items']").len(),
            buttons
        );
        let page = ProductPage {
            product,
            ..ProductPage::default()
        };
        assert_eq!(
            Dom::of(&page).all("form[action='/cart/items']").len(),
            buttons
        );
    }
}

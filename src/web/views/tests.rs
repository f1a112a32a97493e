//! Every page, rendered and read back as a browser would.

use std::collections::HashSet;

use askama::Template;
use scraper::{ElementRef, Html, Selector};

use super::{
    samples::{HOSTILE, cart, checkout, chrome, pages, product, status},
    *,
};

/// A page as a browser understands it.
struct Dom(Html);

impl Dom {
    fn of(page: &impl Template) -> Self {
        Self(Html::parse_document(
            &page.render().expect("a page renders"),
        ))
    }

    fn all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.0
            .select(&Selector::parse(selector).expect("a selector"))
            .collect()
    }

    fn has(&self, selector: &str) -> bool {
        !self.all(selector).is_empty()
    }

    fn text(&self, selector: &str) -> String {
        self.all(selector)
            .iter()
            .flat_map(ElementRef::text)
            .collect()
    }

    fn is_titled_error(&self) -> bool {
        self.text("title").starts_with("Error: ")
    }
}

#[test]
fn hostile_text_is_only_text() {
    for (name, html) in pages() {
        let dom = Dom(Html::parse_document(&html));
        assert_eq!(
            dom.all("script").len(),
            1,
            "{name}: a script of theirs beside ours"
        );
        assert!(!dom.has("img[src=x]"), "{name}: an element of theirs");
        for element in dom.all("*") {
            for (attribute, _) in element.value().attrs() {
                let is_code = attribute.starts_with("on") || attribute == "style";
                assert!(
                    !is_code,
                    "{name}: {attribute} is refused by our content security policy"
                );
                // The one attribute of ours that is spelt otherwise, on the arrows of a diagram.
                let is_of_drawing = attribute == "viewBox";
                assert!(
                    is_of_drawing
                        || attribute
                            .chars()
                            .all(|c| c.is_ascii_lowercase() || "-0123456789".contains(c)),
                    "{name}: {attribute} has broken out of a value"
                );
            }
        }
        if !name.ends_with(", empty") {
            assert!(
                dom.text("main").contains(HOSTILE),
                "{name}: changed on its way"
            );
        }
    }
}

#[test]
fn every_page_can_be_found_ones_way_about_in() {
    for (name, html) in pages() {
        let dom = Dom(Html::parse_document(&html));
        let count = |selector| dom.all(selector).len();
        assert!(
            html.starts_with("<!doctype html>") && dom.has("html[lang=en]"),
            "{name}"
        );
        for landmark in ["h1", "main#main", "body > header", "body > footer", "title"] {
            assert_eq!(count(landmark), 1, "{name}: {landmark}");
        }
        assert!(dom.has("a.skip-link[href='#main']"), "{name}");
        assert!(dom.has("header a[href='/cart']"), "{name}");

        let ids: Vec<_> = dom
            .all("[id]")
            .iter()
            .filter_map(|e| e.attr("id"))
            .collect();
        let known: HashSet<_> = ids.iter().copied().collect();
        assert_eq!(ids.len(), known.len(), "{name}: an id is there twice");
        let references = ["for", "aria-describedby", "aria-labelledby"]
            .into_iter()
            .flat_map(|attribute| {
                let holders = dom.all(&format!("[{attribute}]"));
                holders
                    .into_iter()
                    .filter_map(move |e| e.attr(attribute))
                    .collect::<Vec<_>>()
            })
            .chain(
                dom.all("[href^='#']")
                    .into_iter()
                    .filter_map(|e| e.attr("href")?.get(1..)),
            );
        for reference in references {
            assert!(
                known.contains(reference),
                "{name}: nothing has the id {reference}"
            );
        }
        for input in dom.all("input:not([type=hidden]), select") {
            let id = input.attr("id").unwrap_or_default();
            assert!(
                dom.has(&format!("label[for='{id}']")),
                "{name}: {id} has no label"
            );
        }
        assert_eq!(count("img"), count("img[alt]"), "{name}");
        for file in dom.all("link[href], script[src], img[src]") {
            let url = file.attr("href").or(file.attr("src")).unwrap_or_default();
            assert!(
                url.contains("?v="),
                "{name}: {url} is not a file that we have"
            );
        }
    }
}

#[test]
fn a_title_says_error_exactly_when_something_is_wrong() {
    for (name, html) in pages() {
        let dom = Dom(Html::parse_document(&html));
        let is_wrong = name.ends_with("refused") || ["declined", "error"].contains(&name);
        assert_eq!(dom.is_titled_error(), is_wrong, "{name}");
        assert_eq!(
            dom.has("[role=alert]"),
            is_wrong && name != "error",
            "{name}"
        );
    }
}

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

#[test]
fn every_demo_product_has_a_picture_of_its_own() {
    let skus: Vec<_> = crate::catalog::demo::skus().collect();
    assert_eq!(skus.len(), 8);
    let pictures: HashSet<_> = skus.iter().map(|sku| chrome().picture(sku)).collect();
    assert_eq!(pictures.len(), 8);
    assert!(!pictures.contains(&chrome().picture("ANYTHING-ELSE")));
}

//! Every page, rendered and read back as a browser would.

mod purchase;

use std::collections::HashSet;

use askama::Template;
use scraper::{ElementRef, Html, Selector};

use super::{
    Chrome, ErrorPage,
    samples::{HOSTILE, chrome, pages},
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
fn what_is_in_the_cart_is_said_beside_the_link_to_it_and_of_an_empty_one_nothing() {
    for (cart_units, name, badge) in [
        (0, "Cart", ""),
        (1, "Cart 1 unit", "1 unit"),
        (12, "Cart 12 units", "12 units"),
    ] {
        let chrome = Chrome {
            cart_units,
            ..chrome()
        };
        let page = ErrorPage::new(chrome, 404);
        let dom = Dom::of(&page);
        assert_eq!(dom.text("header a[href='/cart']").trim(), name);
        assert_eq!(dom.text(".cart-units"), badge);
        assert_eq!(dom.has(".cart-units:empty"), badge.is_empty());
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

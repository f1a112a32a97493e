//! An answer, and the form on it.

use std::collections::BTreeMap;

use reqwest::header::HeaderMap;
use scraper::{Html, Selector};

/// An answer of the shop.
#[derive(Clone, Debug)]
pub struct Page {
    pub status: u16,
    pub headers: HeaderMap,
    pub html: String,
}

impl Page {
    pub async fn of(response: reqwest::Response) -> Self {
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            html: response.text().await.expect("a whole page"),
        }
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value
            .map(|value| value.to_str().expect("text"))
            .unwrap_or_default()
    }

    /// Where a redirect leads.
    pub fn location(&self) -> &str {
        assert_eq!(self.status, 303, "not a redirect: {}", self.html);
        self.header("location")
    }

    /// The text of all that a selector finds.
    pub fn text(&self, selector: &str) -> String {
        let html = Html::parse_document(&self.html);
        let selector = Selector::parse(selector).expect("a selector");
        let words = html.select(&selector).flat_map(|element| element.text());
        words
            .flat_map(str::split_whitespace)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The text of each that a selector finds.
    pub fn texts(&self, selector: &str) -> Vec<String> {
        let html = Html::parse_document(&self.html);
        let selector = Selector::parse(selector).expect("a selector");
        html.select(&selector)
            .map(|element| element.text().collect::<String>().trim().to_owned())
            .collect()
    }

    /// An attribute of each that a selector finds.
    pub fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let html = Html::parse_document(&self.html);
        let selector = Selector::parse(selector).expect("a selector");
        html.select(&selector)
            .map(|element| element.attr(name).unwrap_or_default().to_owned())
            .collect()
    }

    pub fn heading(&self) -> String {
        self.text("h1")
    }

    /// The address of the first link that starts like this.
    pub fn link_that_starts(&self, start: &str) -> String {
        let html = Html::parse_document(&self.html);
        let links = Selector::parse("a[href]").expect("a selector");
        html.select(&links)
            .filter_map(|link| link.attr("href"))
            .find(|address| address.starts_with(start))
            .unwrap_or_else(|| panic!("no link to {start}"))
            .to_owned()
    }

    /// The checkout form, as the page has it filled in.
    pub fn form(&self) -> Form {
        assert_eq!(
            self.heading(),
            "Checkout",
            "no form: {} {}",
            self.status,
            self.html
        );
        self.fields()
    }

    /// Whatever form is on the page, as the page has it filled in.
    pub fn fields(&self) -> Form {
        let html = Html::parse_document(&self.html);
        let inputs =
            Selector::parse("main form input, main form option[selected]").expect("a selector");
        let mut fields = BTreeMap::new();
        for input in html.select(&inputs).map(|input| input.value()) {
            let chosen = match input.attr("type") {
                Some("radio" | "checkbox") => input.attr("checked").is_some(),
                _ => true,
            };
            let name = if input.name() == "option" {
                Some("country")
            } else {
                input.attr("name")
            };
            if let (true, Some(name)) = (chosen, name) {
                fields.insert(
                    name.to_owned(),
                    input.attr("value").unwrap_or("on").to_owned(),
                );
            }
        }
        Form(fields)
    }
}

/// A form as a customer holds it: it can be sent any number of times.
#[derive(Clone, Debug)]
pub struct Form(pub BTreeMap<String, String>);

impl Form {
    /// The same form with another text in a field.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut fields = self.0.clone();
        fields.insert(name.to_owned(), value.to_owned());
        Self(fields)
    }

    pub fn without(&self, name: &str) -> Self {
        let mut fields = self.0.clone();
        fields.remove(name);
        Self(fields)
    }

    pub fn field(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Filled in by somebody who lives somewhere.
    pub fn filled(self) -> Self {
        self.with("email", "buyer@example.com")
            .with("name", "A Buyer")
            .with("address", "1 Plain Street")
            .with("city", "Ordinary")
            .with("postal_code", "12345")
            .with("country", "DE")
            .with("payment_method", "pm_card_visa")
    }
}

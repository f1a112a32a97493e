//! Reading the shop's pages, as far as a customer does: the heading, the link to the bank, the order's number, the form.

use std::collections::BTreeMap;

use crate::lab::flow::{Form, Standing};

/// What a status page says; `None` for a page that is none.
pub(super) fn standing(html: &str) -> Option<Standing> {
    Some(match heading(html)? {
        "We are checking your payment" => Standing::Processing,
        "Your bank wants to ask you" => {
            let link = html.split("<a class=\"button\" href=\"").nth(1)?;
            Standing::Asked(unescape(link.split('"').next()?))
        }
        "Paid" => Standing::Paid(order_number(html)?),
        "The payment was declined" => Standing::Declined,
        "This checkout was canceled" => Standing::Ended,
        "Your payment came too late" => Standing::TooLate,
        _ => return None,
    })
}

fn order_number(html: &str) -> Option<String> {
    let link = html.split("href=\"/orders/").nth(1)?;
    link.split('"').next().map(str::to_owned)
}

fn heading(html: &str) -> Option<&str> {
    html.split("<h1>").nth(1)?.split("</h1>").next()
}

/// The hidden fields on a page; `None` when it has no form with a key.
pub(super) fn form(html: &str) -> Option<Form> {
    let fields: BTreeMap<String, String> = html
        .split("<input type=\"hidden\" ")
        .skip(1)
        .filter_map(|input| {
            let input = input.split('>').next()?;
            Some((attribute(input, "name")?, attribute(input, "value")?))
        })
        .collect();
    fields
        .contains_key("idempotency_key")
        .then_some(Form(fields))
}

fn attribute(input: &str, name: &str) -> Option<String> {
    let value = input.split(&format!("{name}=\"")).nth(1)?;
    value.split('"').next().map(unescape)
}

fn unescape(text: &str) -> String {
    text.replace("&#38;", "&").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_its_hidden_fields() {
        let html = r#"<form><input type="hidden" name="idempotency_key" value="k"><input type="hidden" name="quoted_total" value="490"><input name="email" value="x"></form>"#;
        let form = form(html).expect("a form");
        assert_eq!(form.field("idempotency_key"), "k");
        assert_eq!(form.field("quoted_total"), "490");
        assert_eq!(form.0.len(), 2);
        assert_eq!(super::form("<h1>Paid</h1>"), None);
    }

    #[test]
    fn a_page_says_how_the_purchase_stands() {
        let asked = r#"<h1>Your bank wants to ask you</h1><a class="button" href="http://p/3ds/pi_1?a&#38;b" rel="noreferrer">"#;
        let at = "http://p/3ds/pi_1?a&b".to_owned();
        assert_eq!(standing(asked), Some(Standing::Asked(at)));
        let paid = r#"<h1>Paid</h1><a class="button" href="/orders/7K3M-9QXT-2P">See"#;
        let number = "7K3M-9QXT-2P".to_owned();
        assert_eq!(standing(paid), Some(Standing::Paid(number)));
        assert_eq!(standing("<h1>Cart</h1>"), None);
    }
}

//! Requests as browsers and the provider send them, and what comes back.

use std::borrow::Cow;

use axum::{
    body::Body,
    http::{self, StatusCode, header},
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use url::form_urlencoded;

use super::pages;
use crate::lab::flow::{Answer, Customer, Form, Request};

/// What came back.
pub(super) struct Page {
    pub(super) status: StatusCode,
    pub(super) location: String,
    pub(super) cookie: Option<String>,
    pub(super) html: String,
}

impl Page {
    /// What it says to whoever asked for this.
    pub(super) fn answer(self, to: &Request) -> Answer {
        if self.status == StatusCode::SEE_OTHER {
            let is_place = self.location.starts_with("/checkouts/")
                || self.location.starts_with("/admin/orders/");
            return match to {
                _ if is_place => Answer::Place(self.location),
                Request::Add(..) | Request::Keep(..) => Answer::Done,
                _ => Answer::Refused(None),
            };
        }
        let form = pages::form(&self.html);
        if self.status != StatusCode::OK {
            return Answer::Refused(form);
        }
        let standing = || pages::standing(&self.html).map(Answer::Standing);
        let answer = form.map(Answer::Form).or_else(standing);
        // The page of a refund has nothing on it that anybody here reads.
        answer.unwrap_or(Answer::Done)
    }
}

pub(in crate::lab) fn get(path: &str) -> http::Request<Body> {
    let mut request = http::Request::new(Body::empty());
    *request.uri_mut() = path.parse().unwrap_or_default();
    request
}

pub(in crate::lab) fn post(path: &str, body: String) -> http::Request<Body> {
    let mut request = get(path);
    *request.method_mut() = http::Method::POST;
    *request.body_mut() = Body::from(body);
    request
}

pub(in crate::lab) fn post_form<V: AsRef<str>>(
    path: &str,
    fields: &[(&str, V)],
) -> http::Request<Body> {
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish();
    let mut request = post(path, body);
    let kind = http::HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    request
}

pub(super) fn hidden(form: &Form) -> Vec<(&str, &str)> {
    let fields = form.0.iter();
    fields.map(|(name, value)| (&**name, &**value)).collect()
}

/// The checkout form, as somebody who lives somewhere fills it in.
pub(super) fn filled_in<'f>(
    customer: &Customer,
    form: &'f Form,
    method: &'f str,
) -> Vec<(&'f str, Cow<'f, str>)> {
    let typed = [
        ("email", customer.email().into()),
        ("name", customer.name.clone().into()),
        ("address", "1 Plain Street".into()),
        ("city", "Ordinary".into()),
        ("postal_code", "12345".into()),
        ("country", "DE".into()),
        ("payment_method", method.into()),
    ];
    let hidden = hidden(form).into_iter();
    let hidden = hidden.map(|(name, value)| (name, value.into()));
    hidden.chain(typed).collect()
}

pub(in crate::lab) fn signature(secret: &str, at: i64, body: &str) -> String {
    // HMAC takes keys of any length, so this cannot fail; were it to, the shop would refuse the signature.
    let tag = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map(|mut mac| {
        mac.update(format!("{at}.{body}").as_bytes());
        hex::encode(mac.finalize().into_bytes())
    });
    format!("t={at},v1={}", tag.unwrap_or_default())
}

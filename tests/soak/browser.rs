//! A browser: it may get no answer, and a shop that has an error is as good as none.

use std::{
    sync::{Mutex, atomic::Ordering},
    time::Duration,
};

use reqwest::RequestBuilder;

use crate::street::Street;

/// An answer of a shop that is well.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub location: String,
    pub html: String,
}

impl Answer {
    /// The text of the first heading.
    pub fn heading(&self) -> &str {
        between(&self.html, "<h1>", "</h1>").unwrap_or_default()
    }

    /// What a hidden field of a form holds.
    pub fn hidden(&self, name: &str) -> Option<String> {
        let start = format!("<input type=\"hidden\" name=\"{name}\" value=\"");
        between(&self.html, &start, "\"").map(str::to_owned)
    }

    pub fn between(&self, start: &str, end: &str) -> Option<&str> {
        between(&self.html, start, end)
    }

    /// In a line, for who wonders about it.
    pub fn in_short(&self) -> String {
        let Self {
            status, location, ..
        } = self;
        format!("{status} {location} {:?}", self.heading())
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// A form as it is held: name and value of each field.
pub type Form = Vec<(&'static str, String)>;

/// Somebody's browser, which goes to whichever shop it is sent to, with the same cookie.
pub struct Browser<'s> {
    street: &'s Street,
    cookie: Mutex<Option<String>>,
    authorization: Option<String>,
}

impl<'s> Browser<'s> {
    pub fn new(street: &'s Street) -> Self {
        Self {
            street,
            cookie: Mutex::default(),
            authorization: None,
        }
    }

    /// One that knows the operator's password.
    pub fn authorized(street: &'s Street, authorization: String) -> Self {
        Self {
            authorization: Some(authorization),
            ..Self::new(street)
        }
    }

    /// `None`: no answer, or an error that comes and goes.
    pub async fn gets(&self, shop: usize, path: &str) -> Option<Answer> {
        let url = format!("{}{path}", self.street.shop(shop));
        self.sends(self.street.http.get(url)).await
    }

    pub async fn posts(&self, shop: usize, path: &str, form: &Form) -> Option<Answer> {
        self.sends(self.post(shop, path, form)).await
    }

    /// Sends a form and goes away before the answer is there, or hardly is.
    pub async fn posts_and_leaves(&self, shop: usize, path: &str, form: &Form, after: Duration) {
        self.street.abandoned.fetch_add(1, Ordering::Relaxed);
        let request = self.dressed(self.post(shop, path, form));
        let _ = tokio::time::timeout(after, request.send()).await;
    }

    fn post(&self, shop: usize, path: &str, form: &Form) -> RequestBuilder {
        let url = format!("{}{path}", self.street.shop(shop));
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request = self.street.http.post(url).body(body);
        request.header("content-type", "application/x-www-form-urlencoded")
    }

    async fn sends(&self, request: RequestBuilder) -> Option<Answer> {
        let answer = self.receives(self.dressed(request)).await;
        let answer = answer.filter(|answer| answer.status < 500);
        if answer.is_none() {
            self.street.in_vain.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }

    async fn receives(&self, request: RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let status = response.status().as_u16();
        let location = header("location").unwrap_or_default();
        if let Some((cookie, _)) = header("set-cookie")
            .as_deref()
            .and_then(|it| it.split_once(';'))
        {
            *self.cookie.lock().expect("not poisoned") = Some(cookie.to_owned());
        }
        Some(Answer {
            status,
            location,
            html: response.text().await.ok()?,
        })
    }

    fn dressed(&self, request: RequestBuilder) -> RequestBuilder {
        let cookie = self.cookie.lock().expect("not poisoned").clone();
        let headers = [
            ("cookie", cookie),
            ("authorization", self.authorization.clone()),
        ];
        let headers = headers
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }
}

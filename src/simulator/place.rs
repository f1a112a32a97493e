//! URLs as they may be shown: an endpoint's can have a password or a token in it.

use url::Url;

/// The URL without user, password, query and fragment. What is no URL is shown as it is.
pub(super) fn without_secrets(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return text.to_owned();
    };
    // Refused for URLs that can have neither, and then there is nothing to hide.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("…"));
    }
    url.set_fragment(None);
    url.to_string().replace("?%E2%80%A6", "?…")
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn a_url_is_shown_without_what_only_its_owner_knows() {
        assert_eq!(
            without_secrets("http://127.0.0.1:8000/hook"),
            "http://127.0.0.1:8000/hook"
        );
        assert_eq!(
            without_secrets("https://me:hunter2@shop.example/hook?token=hunter2#x"),
            "https://shop.example/hook?…"
        );
    }
}

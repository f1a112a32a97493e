use super::Chrome;

/// Every page that says that something did not work.
#[derive(askama::Template, Clone, Debug)]
#[template(path = "error.html")]
pub struct ErrorPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The HTTP status.
    pub status: u16,
    /// What happened, in a few words.
    pub title: String,
    /// What the visitor can do now, in a sentence or two.
    pub advice: String,
    /// Where to go from here.
    pub link: Link,
    /// What to quote when asking us about it: the id of the request.
    pub reference: Option<String>,
}

/// A way out.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where to.
    pub url: String,
    /// What it says.
    pub label: String,
}

impl ErrorPage {
    /// The page for a status when nothing more is known. No text here claims anything about a payment: whoever
    /// meets a 500 while paying has to look, not to guess.
    pub fn new(chrome: Chrome, status: u16) -> Self {
        let (title, advice, url, label) = match status {
            400 | 415 => (
                "This form did not arrive as it was sent",
                "Part of it is missing, or it is not a form. Nothing was done. Go back and send it again.",
                "/cart",
                "To your cart",
            ),
            421 => (
                "Not by this name",
                "This page is shown at localhost, at an address in figures, and at the name in --public-url. By any \
                 other name another site could pose as this one.",
                "/",
                "To the shop",
            ),
            403 => (
                "This request came from elsewhere",
                "For your safety we only accept forms from our own pages. Open the shop and try there.",
                "/",
                "To the shop",
            ),
            404 => (
                "There is nothing here",
                "The address may be mistyped, or what was here is over, or another visitor's. Purchases open in the browser that \
                 made them, and by the link in their mail.",
                "/",
                "To the shop",
            ),
            405 => (
                "This address cannot be opened like that",
                "It is there for something else, and nothing was done. If you reloaded a page that answered a form, your cart \
                 shows how things stand.",
                "/cart",
                "To your cart",
            ),
            409 => (
                "This has changed in the meantime",
                "Something happened between the page you saw and the button you pressed. Look at the current page \
                 and decide again.",
                "/cart",
                "To your cart",
            ),
            413 => (
                "That was too much at once",
                "The form was longer than we accept. Shorten it and send it again.",
                "/cart",
                "To your cart",
            ),
            422 => (
                "This form was already used",
                "It belongs to another purchase, which stays as it is. Open the checkout for the current form.",
                "/checkout",
                "To the checkout",
            ),
            503 => (
                "We are busy",
                "Try again in a moment. If you were paying: sending the same form again is safe, it is paid once.",
                "/cart",
                "To your cart",
            ),
            _ => (
                "Something went wrong here",
                "It is our fault and we have noted it. If you were paying, look at your cart before you pay again: \
                 it tells when a payment is already under way.",
                "/cart",
                "To your cart",
            ),
        };
        Self {
            chrome,
            status,
            title: title.to_owned(),
            advice: advice.to_owned(),
            link: Link {
                url: url.to_owned(),
                label: label.to_owned(),
            },
            reference: None,
        }
    }
}

use super::Chrome;

/// `GET /mailbox`: the mails that the shop has written.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "mailbox.html")]
pub struct MailboxPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The newest first.
    pub letters: Vec<Letter>,
}

/// `GET /mailbox/{name}`: one of them.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "letter.html")]
pub struct LetterPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// Its head.
    pub letter: Letter,
    /// What it says.
    pub text: String,
}

/// The head of a mail.
#[derive(Clone, Debug, Default)]
pub struct Letter {
    /// Its name in addresses.
    pub name: String,
    /// Whom it is from.
    pub from: String,
    /// Whom it goes to.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What tells two copies of it from two mails.
    pub message_id: String,
    /// When it was written, to be read.
    pub date: String,
}

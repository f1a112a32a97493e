use super::Chrome;

/// `GET /api/v1/docs`: the API, for people.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "api.html")]
pub struct ApiPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// What it is, in paragraphs.
    pub about: Vec<Said>,
    /// What can be done.
    pub operations: Vec<Operation>,
    /// What can go wrong.
    pub problems: Vec<ProblemKind>,
}

/// Something that can be done.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Its name in addresses.
    pub id: String,
    /// The HTTP method.
    pub method: String,
    /// The path, with the names of its parts in braces.
    pub path: String,
    /// What it does, in a few words.
    pub summary: String,
    /// What it does, in paragraphs.
    pub about: Vec<Said>,
    /// What stands in the address and in headers.
    pub parameters: Vec<Named>,
    /// What stands in the body.
    pub fields: Vec<Named>,
    /// Its statuses, and what each says.
    pub answers: Vec<Named>,
    /// How to do it on a command line, and what comes of that.
    pub example: Example,
}

/// A name, and what it stands for.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Besides: where it stands, what it is made of, whether it has to be there.
    pub note: String,
    /// What it stands for.
    pub about: Said,
}

/// A text in which some words are a program's.
#[derive(Clone, Debug, Default)]
pub struct Said(Vec<Words>);

/// Some words of it.
#[derive(Clone, Debug)]
pub struct Words {
    /// The words.
    pub text: String,
    /// Whether they are a program's.
    pub is_code: bool,
}

impl Said {
    /// In a line of Markdown those between backticks are.
    pub fn in_markdown(text: &str) -> Self {
        let words = text.split('`').enumerate().map(|(place, text)| Words {
            text: text.to_owned(),
            is_code: place % 2 == 1,
        });
        Self(words.collect())
    }

    /// All of it.
    pub fn words(&self) -> &[Words] {
        &self.0
    }
}

/// A call, and its answer.
#[derive(Clone, Debug, Default)]
pub struct Example {
    /// A command line.
    pub call: String,
    /// The body of the answer.
    pub answer: String,
}

/// A kind of problem.
#[derive(Clone, Debug, Default)]
pub struct ProblemKind {
    /// Its name in addresses.
    pub slug: String,
    /// The HTTP status.
    pub status: u16,
    /// What it is.
    pub title: String,
    /// What to do about it.
    pub detail: String,
}

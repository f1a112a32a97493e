//! The pages of the lab.

use super::Chrome;

/// `GET /lab`: what can be played, and what can go wrong by hand.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "lab/lab.html")]
pub struct LabPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// Why what was asked for was not done.
    pub problem: Option<String>,
    /// What can be played.
    pub scenarios: Vec<Choice>,
    /// What can go wrong by hand, while the provider is the simulator that this shop has started.
    pub faults: Vec<Choice>,
    /// What will go wrong next.
    pub armed: Vec<String>,
    /// The page of the simulator, if it is ours.
    pub provider_url: Option<String>,
    /// What was played, the latest first.
    pub runs: Vec<RunLink>,
    /// The checkouts that something has happened about, the latest first.
    pub checkouts: Vec<CheckoutLink>,
}

/// A checkout in a list.
#[derive(Clone, Debug, Default)]
pub struct CheckoutLink {
    /// Its id.
    pub id: String,
    /// How it stands: `paid, €4.90`.
    pub state: String,
}

/// Something that can be chosen.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What it is called in forms: letters and hyphens.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What happens.
    pub about: String,
}

/// A run in a list.
#[derive(Clone, Debug, Default)]
pub struct RunLink {
    /// Its id.
    pub id: String,
    /// What was played.
    pub title: String,
    /// What came of it.
    pub came_to: String,
}

/// `GET /lab/runs/{id}`.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "lab/run.html")]
pub struct RunPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The run's id.
    pub id: String,
    /// What is played.
    pub scenario: Choice,
    /// What keeps the shop from harm.
    pub guard: String,
    /// Why it was not played to its end.
    pub stopped: Option<String>,
    /// What came of it; `None` while it is played.
    pub sides: Option<[Side; 2]>,
    /// The arrows of its steps.
    pub arrows: Vec<Arrow>,
    /// Both ledgers.
    pub ledgers: Vec<LedgerLine>,
}

/// `GET /lab/runs/{id}/stage`: step by step, in big type.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "lab/stage.html")]
pub struct StagePage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The run's id.
    pub id: String,
    /// What is played.
    pub scenario: Choice,
    /// How far it is shown: only the last steps up to there are.
    pub sides: [Side; 2],
    /// The arrows of its steps.
    pub arrows: Vec<Arrow>,
    /// The step that it is at.
    pub step: usize,
    /// How many there are.
    pub of: usize,
    /// The one before, and the one after.
    pub before: Option<usize>,
    /// See above.
    pub after: Option<usize>,
}

/// One of the two flows.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Of an element, unique on the page.
    pub id: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What came of it, in a sentence. `None` while that is not told yet.
    pub verdict: Option<String>,
    /// Whether all is well.
    pub is_right: bool,
    /// What happened.
    pub steps: Vec<Step>,
    /// Where the first of them stands among all, counted from 1.
    pub first: usize,
    /// The checkouts that it left in the shop.
    pub checkouts: Vec<String>,
}

/// An arrow between two lanes, which is drawn once and used by many steps.
#[derive(Clone, Debug, Default)]
pub struct Arrow {
    /// Of an element, unique on the page.
    pub id: String,
    /// An SVG path.
    pub path: String,
}

/// A step of a diagram.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The id of its arrow.
    pub arrow: String,
    /// From where to where, in words.
    pub lanes: String,
    /// Who is at work.
    pub who: String,
    /// How long after the first: `12 ms`.
    pub after: String,
    /// Whether something goes wrong in it.
    pub is_bad: bool,
    /// Whether it is where the lab lets something go wrong.
    pub is_struck: bool,
    /// What is done.
    pub parts: Vec<Part>,
}

/// A part of a step.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// In a few words.
    pub text: String,
    /// Where the source of it is shown.
    pub url: Option<String>,
}

/// A line of the two ledgers.
#[derive(Clone, Debug, Default)]
pub struct LedgerLine {
    /// Whose ledger.
    pub ledger: &'static str,
    /// What is counted.
    pub name: &'static str,
    /// With the naive twin, with the shop, and how it should be.
    pub counts: [Count; 3],
}

/// How much of something there is.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// In figures.
    pub text: String,
    /// Whether it should be something else.
    pub is_wrong: bool,
}

/// `GET /lab/checkouts/{id}`: what happens to a checkout.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "lab/checkout.html")]
pub struct TrailPage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The checkout.
    pub id: String,
    /// What happened.
    pub steps: Vec<Step>,
    /// Where the first of them stands among all, counted from 1.
    pub first: usize,
    /// How many steps are before it, when there are any.
    pub earlier: Option<usize>,
    /// The arrows of the steps.
    pub arrows: Vec<Arrow>,
}

/// `GET /lab/{file}:{line}`.
#[derive(askama::Template, Clone, Debug, Default)]
#[template(path = "lab/source.html")]
pub struct SourcePage {
    /// What is around the page.
    pub chrome: Chrome,
    /// The file.
    pub path: String,
    /// The number of the first line that is shown.
    pub first: usize,
    /// Those that are shown.
    pub lines: Vec<String>,
    /// The line that is pointed at.
    pub line: usize,
    /// How many lines the file has.
    pub of: usize,
}

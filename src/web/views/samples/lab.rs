//! The pages of the lab among them.

use askama::Template;

use super::{HOSTILE, chrome, hostile};
use crate::web::views::{
    Arrow, CheckoutLink, Choice, Count, LabPage, LedgerLine, Part, RunLink, RunPage, Side,
    SourcePage, StagePage, Step, TrailPage,
};

/// Each in every state that changes its markup, by name.
pub(super) fn pages() -> Vec<(&'static str, askama::Result<String>)> {
    vec![
        ("lab", lab(None).render()),
        ("lab, refused", lab(Some(HOSTILE)).render()),
        ("run", run().render()),
        (
            "run, refused",
            RunPage {
                stopped: Some(hostile()),
                ..run()
            }
            .render(),
        ),
        (
            "run, played",
            RunPage {
                sides: None,
                ..run()
            }
            .render(),
        ),
        ("stage", stage().render()),
        ("trail", trail().render()),
        ("source", source().render()),
    ]
}

fn lab(problem: Option<&str>) -> LabPage {
    LabPage {
        chrome: chrome(),
        problem: problem.map(str::to_owned),
        scenarios: vec![choice()],
        faults: vec![choice()],
        armed: vec![hostile()],
        provider_url: Some(hostile()),
        runs: vec![RunLink {
            id: hostile(),
            title: hostile(),
            came_to: hostile(),
        }],
        checkouts: vec![CheckoutLink {
            id: hostile(),
            state: hostile(),
        }],
    }
}

fn choice() -> Choice {
    Choice {
        name: "choice".to_owned(),
        title: hostile(),
        about: hostile(),
    }
}

fn run() -> RunPage {
    let count = || Count {
        text: hostile(),
        is_wrong: true,
    };
    RunPage {
        chrome: chrome(),
        id: hostile(),
        scenario: choice(),
        guard: hostile(),
        stopped: None,
        sides: Some([side("naive"), side("safe")]),
        arrows: vec![arrow()],
        ledgers: vec![LedgerLine {
            ledger: "Whose",
            name: "what",
            counts: [count(), count(), count()],
        }],
    }
}

fn side(id: &'static str) -> Side {
    Side {
        id,
        name: "Side",
        verdict: Some(hostile()),
        is_right: false,
        steps: vec![step()],
        first: 1,
        checkouts: vec![hostile()],
    }
}

fn arrow() -> Arrow {
    Arrow {
        id: hostile(),
        path: hostile(),
    }
}

fn step() -> Step {
    Step {
        arrow: hostile(),
        lanes: hostile(),
        who: hostile(),
        after: hostile(),
        is_bad: true,
        is_struck: false,
        parts: vec![Part {
            text: hostile(),
            url: Some(hostile()),
        }],
    }
}

fn stage() -> StagePage {
    StagePage {
        chrome: chrome(),
        id: hostile(),
        scenario: choice(),
        sides: [side("naive"), side("safe")],
        arrows: vec![arrow()],
        step: 1,
        of: 2,
        before: Some(0),
        after: Some(2),
    }
}

fn trail() -> TrailPage {
    TrailPage {
        chrome: chrome(),
        id: hostile(),
        steps: vec![step()],
        first: 1,
        earlier: Some(0),
        arrows: vec![arrow()],
    }
}

fn source() -> SourcePage {
    SourcePage {
        chrome: chrome(),
        path: hostile(),
        first: 7,
        lines: vec![hostile()],
        line: 7,
        of: 9,
    }
}

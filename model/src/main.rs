//! The protocol of a purchase, checked in every state that it can be in.
//!
//! ```text
//! cargo run                 checks it, and tells what goes wrong without each guard
//! cargo run -- thorough     checks it with all people, while something goes wrong: a minute or two
//! ```
//!
//! 1. [`state`]: what there is.
//! 2. [`protocol`]: what can happen.
//! 3. [`shop`]: what the shop does.
//! 4. [`world`]: what the provider, time and misfortune do.
//! 5. [`promises`]: what holds all the time.
//! 6. [`guards`]: what can be taken out.
//! 7. [`check`]: every state is looked at.
//! 8. [`story`]: how a promise was broken, in words.

mod check;
mod guards;
mod promises;
mod protocol;
mod shop;
mod state;
mod story;
mod world;

use std::{env, fmt::Write as _, process::ExitCode, time::Instant};

use guards::Guard;
use protocol::{Scene, Sent};

const ANN: Sent = Sent {
    who: "Ann",
    which: "her form",
    cart: 0,
};
const ANN_AGAIN: Sent = Sent {
    who: "Ann",
    which: "a second form for the same cart",
    cart: 0,
};
const BEN: Sent = Sent {
    who: "Ben",
    which: "his form",
    cart: 1,
};

fn main() -> ExitCode {
    let result = match env::args().nth(1).as_deref() {
        None => document(),
        Some("thorough") => thorough(),
        Some(other) => Err(format!(
            "{other:?} is not known; try no argument, or `thorough`"
        )),
    };
    match result {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn scene(forms: &[Sent], units: i8, troubles: u8) -> Scene {
    Scene {
        forms: forms.to_vec(),
        units,
        troubles,
        days: true,
    }
}

/// What stands in docs/model.md.
fn document() -> Result<String, String> {
    let mut text = include_str!("preface.md").to_owned();
    let scenes = [
        (
            "Ann, with two forms for one cart; two units",
            scene(&[ANN, ANN_AGAIN], 2, 3),
        ),
        (
            "Ann and Ben, with a cart each; one unit",
            scene(&[ANN, BEN], 1, 3),
        ),
    ];
    for (name, scene) in &scenes {
        let states = check::count(scene)?;
        let _ = writeln!(text, "| {name} | {} | {states} |", scene.troubles);
    }
    text.push_str(include_str!("middle.md"));
    for guard in Guard::ALL {
        let story = check::simplest(guard, &simple()).ok_or(format!("{guard:?} is not missed"))?;
        let _ = write!(
            text,
            "\n### {}\n\nBroken: *{}*.\n\n",
            guard.without(),
            story.promise.name
        );
        let lines = story.lines();
        let (end, steps) = lines.split_last().ok_or("a story without an end")?;
        for (number, line) in (1..).zip(steps) {
            let _ = writeln!(text, "{number}. {line}");
        }
        let _ = writeln!(text, "\n{end}");
    }
    Ok(text)
}

/// For stories: the fewer people the better, and no days that nothing depends on.
fn simple() -> Vec<Scene> {
    let people = [
        (vec![ANN], 1),
        (vec![ANN, ANN_AGAIN], 2),
        (vec![ANN, BEN], 1),
    ];
    let scenes = people.map(|(forms, units)| scene(&forms, units, 0));
    let in_one_day = scenes.iter().map(|scene| Scene {
        days: false,
        ..scene.clone()
    });
    in_one_day.chain(scenes.iter().cloned()).collect()
}

/// All of them together, while something goes wrong.
fn thorough() -> Result<String, String> {
    let began = Instant::now();
    let states = check::count(&scene(&[ANN, ANN_AGAIN, BEN], 1, 1))?;
    Ok(format!("{states} states, in {:.0?}\n", began.elapsed()))
}

#[cfg(test)]
mod tests {
    /// It has the numbers, and a story for each guard; without one of them there is an error.
    #[test]
    fn the_document_tells_what_the_model_does() {
        let document = super::document().expect("every promise holds, and every guard is missed");
        let written = include_str!("../../docs/model.md");
        assert_eq!(
            document, written,
            "write it anew: cargo run > ../docs/model.md"
        );
    }
}

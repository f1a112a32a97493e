//! From the steps of a trail to what is drawn: arrows between lanes, and words beside them.

use std::collections::BTreeSet;

use crate::{
    lab::trail::{
        Place,
        steps::{Lane, Part, Step},
    },
    web::views,
};

/// A lane is so wide, in the units of the drawing.
const LANE: usize = 52;

/// What every step passes on its way: shown where there is nothing else to be shown. A statement is none of it: its place is
/// that of whoever wrote it.
const PLUMBING: [&str; 2] = ["src/db/", "src/provider/transport.rs"];

/// The steps, each with the time since the first.
pub(super) fn view(steps: &[Step]) -> Vec<views::Step> {
    let began_at = steps.first().map(|step| step.at);
    let view = |step: &Step| {
        let after = began_at.map_or(0, |at| (step.at - at).num_milliseconds());
        views::Step {
            arrow: id(step.from, step.to),
            lanes: in_words(step.from, step.to),
            who: step.who.clone(),
            after: format!("{after} ms"),
            is_bad: step.is_bad,
            is_struck: step.is_struck,
            parts: parts(step),
        }
    };
    steps.iter().map(view).collect()
}

/// The arrows that these steps use.
pub(super) fn arrows<'s>(steps: impl IntoIterator<Item = &'s views::Step>) -> Vec<views::Arrow> {
    let used: BTreeSet<&str> = steps.into_iter().map(|step| step.arrow.as_str()).collect();
    let every = Lane::ALL
        .iter()
        .flat_map(|from| Lane::ALL.map(|to| (*from, to)));
    let every = every.map(|(from, to)| views::Arrow {
        id: id(from, to),
        path: arrow(from, to),
    });
    every
        .filter(|arrow| used.contains(arrow.id.as_str()))
        .collect()
}

fn parts(step: &Step) -> Vec<views::Part> {
    let is_plumbing = |place: &&Place| PLUMBING.iter().any(|it| place.file.starts_with(it));
    let places = || step.parts.iter().filter_map(|part| part.place.as_ref());
    let says_more = !places().all(|place| is_plumbing(&place));
    let part = |part: &Part| {
        let place = part.place.as_ref();
        views::Part {
            text: part.text.clone(),
            url: place.filter(|it| !(says_more && is_plumbing(it))).map(url),
        }
    };
    step.parts.iter().map(part).collect()
}

fn url(Place { file, line }: &Place) -> String {
    format!("/lab/{file}:{line}#at")
}

fn id(from: Lane, to: Lane) -> String {
    format!("a{}{}", place(from), place(to))
}

/// A line with a head at its end; a dot for what somebody does alone.
fn arrow(from: Lane, to: Lane) -> String {
    let (x, end) = (middle(from), middle(to));
    match x.cmp(&end) {
        std::cmp::Ordering::Less => format!("M{x} 12H{}m-6-4l6 4-6 4", end - 1),
        std::cmp::Ordering::Greater => format!("M{x} 12H{}m6-4l-6 4 6 4", end + 1),
        std::cmp::Ordering::Equal => format!("M{} 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0", x - 4),
    }
}

fn middle(lane: Lane) -> usize {
    place(lane) * LANE + LANE / 2
}

/// How many lanes are on its left.
fn place(lane: Lane) -> usize {
    Lane::ALL.iter().take_while(|it| **it != lane).count()
}

fn in_words(from: Lane, to: Lane) -> String {
    if from == to {
        from.name().to_owned()
    } else {
        format!("{} to {}", from.name(), to.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_points_to_where_it_ends() {
        assert_eq!(arrow(Lane::Browser, Lane::Shop), "M26 12H77m-6-4l6 4-6 4");
        assert_eq!(arrow(Lane::Provider, Lane::Shop), "M182 12H79m6-4l-6 4 6 4");
        assert_eq!(
            arrow(Lane::Shop, Lane::Shop),
            "M74 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0"
        );
    }
}

//! From the steps of a trail to what is drawn: arrows between lanes, and words beside them.

use crate::{
    lab::trail::{
        Place,
        steps::{Lane, Step},
    },
    web::views,
};

/// A lane is so wide, in the units of the drawing.
const LANE: usize = 52;

/// The steps, each with the time since the first.
pub(super) fn view(steps: &[Step]) -> Vec<views::Step> {
    let began_at = steps.first().map(|step| step.at);
    let view = |step: &Step| {
        let after = began_at.map_or(0, |at| (step.at - at).num_milliseconds());
        views::Step {
            arrow: arrow(step.from, step.to),
            lanes: in_words(step.from, step.to),
            who: step.who.clone(),
            after: format!("{after} ms"),
            is_bad: step.is_bad,
            parts: step
                .parts
                .iter()
                .map(|part| views::Part {
                    text: part.text.clone(),
                    url: part.place.as_ref().map(url),
                })
                .collect(),
        }
    };
    steps.iter().map(view).collect()
}

fn url(Place { file, line }: &Place) -> String {
    format!("/lab/source/{file}?line={line}#meant")
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
    let before = Lane::ALL.iter().take_while(|it| **it != lane).count();
    before * LANE + LANE / 2
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

//! The first of the operator's pages: whether somebody has to do something.

use axum::{extract::State, http::StatusCode, response::Response};
use chrono::{DateTime, Utc};

use super::{
    checkouts,
    chrome::Chrome,
    error::Failure,
    list::{Search, exactly},
};
use crate::{
    app::App,
    checkout::Status,
    gauges::{self, Gauges},
    web::show,
};

#[derive(askama::Template)]
#[template(path = "admin/overview.html")]
struct Overview {
    chrome: Chrome,
    now: String,
    search: Search,
    groups: [Group; 3],
}

/// Numbers that belong together.
struct Group {
    heading: &'static str,
    /// Whether anything but zero is bad news.
    is_bad: bool,
    tiles: Vec<Tile>,
}

/// A number, and the page that shows what it counts.
struct Tile {
    count: i64,
    label: &'static str,
    url: String,
    note: Option<String>,
}

/// `GET /admin`.
pub async fn overview(State(app): State<App>) -> Result<Response, Failure> {
    let gauges = gauges::read(&app.till.db).await?;
    let page = Overview {
        chrome: Chrome::at("/admin"),
        now: exactly(app.till.clock.now()),
        search: checkouts::anything(),
        groups: [stuck(&gauges), under_way(&gauges), ended(&gauges)],
    };
    Ok(show::page(StatusCode::OK, &page)?)
}

fn stuck(gauges: &Gauges) -> Group {
    Group {
        heading: "What waits for you",
        is_bad: true,
        tiles: vec![
            tile(
                gauges.discrepancies_open,
                "open discrepancies",
                "/admin/discrepancies",
            ),
            tile(gauges.outbox_parked, "parked messages", "/admin/outbox"),
            tile(gauges.mails_given_up, "mails given up", "/admin/mail"),
        ],
    }
}

fn under_way(gauges: &Gauges) -> Group {
    let pending = checkouts(gauges, Status::Pending, "undecided checkouts");
    let to_publish = gauges.outbox_unpublished - gauges.outbox_parked;
    let messages = tile(to_publish, "messages to publish", "/admin/outbox");
    Group {
        heading: "What goes on by itself",
        is_bad: false,
        tiles: vec![
            Tile {
                note: gauges.pending_since.map(since),
                ..pending
            },
            tile(
                gauges.refunds_pending,
                "refunds on their way",
                "/admin/refunds",
            ),
            Tile {
                note: gauges.unpublished_since.map(since),
                ..messages
            },
            tile(gauges.mails_waiting, "mails to send", "/admin/mail"),
        ],
    }
}

fn ended(gauges: &Gauges) -> Group {
    Group {
        heading: "What has ended",
        is_bad: false,
        tiles: vec![
            checkouts(gauges, Status::Paid, "paid checkouts"),
            checkouts(gauges, Status::Declined, "declined checkouts"),
            checkouts(gauges, Status::Canceled, "canceled checkouts"),
        ],
    }
}

fn checkouts(gauges: &Gauges, status: Status, label: &'static str) -> Tile {
    let counted = gauges.checkouts.iter().find(|(it, _)| *it == status);
    let count = counted.map_or(0, |&(_, count)| count);
    tile(count, label, &format!("/admin/checkouts?q={status}"))
}

fn since(at: DateTime<Utc>) -> String {
    format!("the oldest since {}", exactly(at))
}

fn tile(count: i64, label: &'static str, url: &str) -> Tile {
    Tile {
        count,
        label,
        url: url.to_owned(),
        note: None,
    }
}

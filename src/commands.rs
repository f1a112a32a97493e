//! What a person, or a script, does to a shop that may be running: each command opens the database, does its one thing, and
//! ends.

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
};

use boring_checkout::{
    audit::{self, Progress},
    catalog::import::{self, Entry, ImportError, Problems, Unreadable},
    clock::Clock,
    config::{
        AuditArgs, CatalogAction, Database, EventsAction, MailAction, MigrateArgs, OutboxAction,
        ProviderAt, SweepArgs, SweptFlow,
    },
    db::Db,
    lab::sweep::{Flow, Shown, Sweep, beside::Beside, report::Report, scenarios::SCENARIOS},
    mail,
    money::Currency,
    outbox::operator,
    provider::Provider,
    webhooks::operator as events,
};

use tokio_util::sync::CancellationToken;

use crate::{Failure, asked_to_stop, fail, print, start_log};

/// A run is a conversation between threads: most of the time it waits for its turn, and others can make theirs.
const RUNS_FOR_EACH_PROCESSOR: usize = 3;

/// So many of anything take long enough to be watched.
const MANY: usize = 10_000;

/// Checks every invariant.
pub async fn audit(args: AuditArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    let db = open_as_it_is(&args.database).await?;
    let provider = client(args.provider)?;
    let now = Clock::default().now();
    let report = audit::audit_watched(&db, &provider, now, show_how_far).await?;
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&report)?))?;
    } else {
        print(&report.to_string())?;
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

/// Tries every fault at every boundary.
pub async fn sweep(args: SweepArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log())?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let sweep = Sweep {
        flow: Flow::Safe,
        scenarios: match args.scenario {
            Some(scenario) => vec![scenario],
            None => SCENARIOS.iter().collect(),
        },
        server: args.database_url,
        pairs: args.pairs,
        every: usize::try_from(args.every)?,
        only: args.fault,
        jobs: (args.jobs).map_or(processors * RUNS_FOR_EACH_PROCESSOR, usize::from),
    };
    let (stop, end) = (CancellationToken::new(), asked_to_stop()?);
    let stopped = stop.clone();
    tokio::spawn(async move {
        let _ = end.await;
        stop.cancel();
    });
    let of = |flow| {
        sweep_of(
            Sweep {
                flow,
                ..sweep.clone()
            },
            stopped.clone(),
        )
    };
    let (ok, json, text) = match args.flow {
        SweptFlow::Safe => told(&of(Flow::Safe).await?),
        SweptFlow::Naive => told(&of(Flow::Naive).await?),
        SweptFlow::Both => {
            let (safe, naive) = (of(Flow::Safe).await?, of(Flow::Naive).await?);
            let both = Beside { safe, naive };
            (both.is_as_expected(), both.to_json(), both.to_string())
        }
    };
    print(&if args.json { format!("{json}\n") } else { text })?;
    Ok(ExitCode::from(u8::from(!ok)))
}

fn told(report: &Report) -> (bool, serde_json::Value, String) {
    (report.is_clean(), report.to_json(), report.to_string())
}

async fn sweep_of(sweep: Sweep, stop: CancellationToken) -> Result<Report, Failure> {
    let shown = if std::io::stderr().is_terminal() {
        Shown::Yes
    } else {
        Shown::No
    };
    let swept = tokio::task::spawn_blocking(move || sweep.run(shown, &stop)).await?;
    Ok(swept.map_err(|error| format!("the sweep could not be made: {error}"))?)
}

/// Creates or upgrades the schema.
pub async fn migrate(args: &MigrateArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    Db::open(args.database.url.expose())
        .await
        .map_err(|error| format!("cannot migrate the database: {error}"))?;
    print("The schema is up to date.\n")?;
    Ok(ExitCode::SUCCESS)
}

/// Puts goods on the shelf.
pub async fn catalog(action: CatalogAction) -> Result<ExitCode, Failure> {
    let CatalogAction::Import {
        file,
        priced_in,
        database,
        log,
    } = action;
    start_log(&log)?;
    let name = if is_stdin(&file) {
        "stdin".into()
    } else {
        file.to_string_lossy()
    };
    let currency = priced_in.currency;
    let entries = match read_catalog(&file, currency) {
        Ok(entries) => entries,
        Err(Unreadable::Refused(problems)) => return refuse_catalog(&problems, &name),
        Err(error) => return Err(format!("cannot read {name}: {error}").into()),
    };
    let db = Db::open(database.url.expose())
        .await
        .map_err(|error| format!("cannot open the database: {error}"))?;
    let now = Clock::default().now();
    let progress = |done| show_progress(done, entries.len());
    match import::import(&db, &entries, currency, now, progress).await {
        Ok(imported) => {
            print(&format!("{imported}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(ImportError::Refused(problems)) => refuse_catalog(&problems, &name),
        Err(error) => Err(format!("nothing was imported: {error}").into()),
    }
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn read_catalog(file: &Path, currency: Currency) -> Result<Vec<Entry>, Unreadable> {
    if is_stdin(file) {
        import::read(std::io::stdin().lock(), currency)
    } else {
        import::read(std::fs::File::open(file)?, currency)
    }
}

/// The rows to mend, as compilers print them, so that an editor can jump to them.
fn refuse_catalog(problems: &Problems, file: &str) -> Result<ExitCode, Failure> {
    write!(std::io::stderr(), "{}", problems.in_file(file))?;
    Ok(fail("nothing was imported"))
}

fn show_progress(done: usize, of: usize) {
    if of >= MANY {
        show(&format!("{done} of {of}"));
    }
}

fn show_how_far(progress: Progress) {
    match progress {
        Progress::Payments(count) if count >= MANY => show(&format!("{count} payments read")),
        Progress::Checkouts(count) if count >= MANY => show(&format!("{count} checkouts compared")),
        Progress::Books => show("the shop's books"),
        Progress::Payments(_) | Progress::Checkouts(_) => {}
    }
}

/// For whoever looks on for long. What is printed next is written over it.
fn show(how_far: &str) {
    if std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\x1b[K{how_far}\r");
    }
}

/// What is stuck on its way out, and trying it again.
pub async fn outbox(action: OutboxAction) -> Result<ExitCode, Failure> {
    match action {
        OutboxAction::List { database, log } => {
            start_log(&log)?;
            print_lines(&operator::unpublished(&open_as_it_is(&database).await?).await?)?;
        }
        OutboxAction::Retry { id, database, log } => {
            start_log(&log)?;
            let db = open_as_it_is(&database).await?;
            let retried = operator::retry(&db, id).await?;
            if let (Some(id), 0) = (id, retried) {
                return Err(
                    format!("no row {id} is parked: `outbox list` shows those that are").into(),
                );
            }
            print(&format!("{retried} tried again.\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is not sent, and trying it again.
pub async fn mail(action: MailAction) -> Result<ExitCode, Failure> {
    match action {
        MailAction::List { database, log } => {
            start_log(&log)?;
            print_lines(&mail::operator::owed(&open_as_it_is(&database).await?).await?)?;
        }
        MailAction::Retry {
            about,
            database,
            log,
        } => {
            start_log(&log)?;
            let db = open_as_it_is(&database).await?;
            let retried = mail::operator::retry(&db, about.as_ref()).await?;
            print(&format!("{retried} tried again.\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What the provider told, and asking for it again.
pub async fn events(action: EventsAction) -> Result<ExitCode, Failure> {
    match action {
        EventsAction::List {
            limit,
            database,
            log,
        } => {
            start_log(&log)?;
            print_lines(&events::processed(&open_as_it_is(&database).await?, limit).await?)?;
        }
        EventsAction::Redeliver {
            id,
            database,
            provider,
            log,
        } => {
            start_log(&log)?;
            let db = open_as_it_is(&database).await?;
            let now = Clock::default().now();
            let redelivered = events::redeliver(&db, &client(provider)?, &id, now).await?;
            print(&format!("{redelivered}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn client(at: ProviderAt) -> Result<Provider, Failure> {
    let timeout = std::time::Duration::from_secs(10);
    Ok(Provider::new(&at.url, at.key.key, timeout)?)
}

async fn open_as_it_is(database: &Database) -> Result<Db, Failure> {
    let opened = Db::open_as_it_is(database.url.expose()).await;
    Ok(opened.map_err(|error| {
        format!("cannot open the database: {error} (it is made by `serve` or `migrate`)")
    })?)
}

/// Nothing is said where it is in nobody's way: a script that counts lines counts none.
fn print_lines(rows: &[impl std::fmt::Display]) -> std::io::Result<()> {
    if rows.is_empty() {
        return writeln!(std::io::stderr(), "Nothing.");
    }
    let mut out = std::io::stdout().lock();
    for row in rows {
        writeln!(out, "{row}")?;
    }
    out.flush()
}

//! The command line.

use std::{
    error::Error as _,
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
};

use boring_checkout::{
    app::Shop,
    audit,
    catalog::import::{self, Entry, ImportError, Problems, Unreadable},
    clock::Clock,
    config::{
        AuditArgs, CatalogAction, Cli, Command, Database, EventsAction, Log, LogFormat, MailAction,
        MigrateArgs, OutboxAction, ProviderArgs, ProviderAt, ServeArgs, SweepArgs, SweptFlow,
    },
    db::Db,
    lab::sweep::{Flow, Shown, Sweep, beside::Beside, report::Report, scenarios::SCENARIOS},
    mail,
    money::Currency,
    outbox::operator,
    port_file::PortFile,
    provider::Provider,
    secret::Secret,
    simulator::{Chaos, Simulator, SimulatorConfig, WebhookTarget},
    web::admin::access::USER,
    webhooks::operator as events,
};
use clap::{
    Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

/// Something that was asked for cannot be done as asked.
const UNUSABLE: u8 = 2;

/// So many products take long enough to be watched.
const LONG_IMPORT: usize = 10_000;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    if let Err(error) = dotenvy::dotenv()
        && !error.not_found()
    {
        return fail(&format!("cannot read .env: {error}"));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    let done = match cli.command {
        None => serve(&cli.serve).await,
        Some(Command::Serve(args)) => serve(&args).await,
        Some(Command::Provider(args)) => provider(args).await,
        Some(Command::Audit(args)) => audit(args).await,
        Some(Command::Sweep(args)) => sweep(args).await,
        Some(Command::Migrate(args)) => migrate(&args).await,
        Some(Command::Catalog(args)) => catalog(args.action).await,
        Some(Command::Outbox(args)) => outbox(args.action).await,
        Some(Command::Mail(args)) => mail(args.action).await,
        Some(Command::Events(args)) => events(args.action).await,
    };
    done.unwrap_or_else(|error| fail(&error.to_string()))
}

async fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    let end = asked_to_stop()?;
    let shop = Shop::start(args).await?;
    let url = &shop.app.till.public_url;
    let mut lines = vec![shop_is_at(url)];
    lines.extend(shop.app.mailbox.iter().map(|_| mails_are_at(url)));
    lines.push(operator_is_at(url, shop.made_up_password.as_ref()));
    lines.extend(shop.simulator.iter().map(|it| provider_is_at(&it.url())));
    // At once: whoever reads the first line has them all.
    print(&lines.concat())?;
    end.await?;
    tracing::info!("stopping");
    shop.stop().await;
    Ok(ExitCode::SUCCESS)
}

async fn provider(args: ProviderArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    let end = asked_to_stop()?;
    let port_file = args.port_file.as_deref().map(PortFile::prepare);
    let mut port_file = port_file.transpose()?;
    let simulator = Simulator::start_with(simulator(args)?).await?;
    if let Some(file) = &mut port_file {
        file.write(simulator.port())?;
    }
    print(&provider_is_at(&simulator.url()))?;
    end.await?;
    drop(port_file);
    simulator.stop().await;
    Ok(ExitCode::SUCCESS)
}

fn simulator(args: ProviderArgs) -> Result<SimulatorConfig, Failure> {
    let database_url = match (args.database_url, args.ephemeral) {
        (Some(_), true) => {
            return Err(
                "--ephemeral keeps everything in memory: it cannot be used with --database-url"
                    .into(),
            );
        }
        (None, true) => "sqlite::memory:".to_owned(),
        (url, false) => url.unwrap_or_else(|| "sqlite://data/provider.db".to_owned()),
    };
    let chaos = match (args.chaos, args.chaos_rates) {
        (None, Some(_)) => return Err("--chaos-rates cannot be used without --chaos SEED".into()),
        (seed, rates) => seed.map(|seed| Chaos {
            seed,
            rates: rates.unwrap_or_default(),
        }),
    };
    let webhooks = args.webhook.into_iter().map(|(url, secret)| WebhookTarget {
        url,
        secret: secret.expose().to_owned(),
    });
    Ok(SimulatorConfig {
        listen: args.listen,
        database_url,
        key: args.key.expose().to_owned(),
        webhooks: webhooks.collect(),
        chaos,
        ..SimulatorConfig::default()
    })
}

fn shop_is_at(url: &str) -> String {
    format!("The Boring Shop is open at   {url}\n")
}

fn mails_are_at(shop: &str) -> String {
    format!("The mails it sends are at    {shop}/mailbox\n")
}

/// A password that was made up is told here and nowhere else.
fn operator_is_at(shop: &str, made_up: Option<&Secret>) -> String {
    let password = made_up.map_or(String::new(), |it| {
        format!("The password of \"{USER}\" is   {}\n", it.expose())
    });
    format!("The operator's pages are at  {shop}/admin\n{password}")
}

fn provider_is_at(url: &str) -> String {
    format!("The payment provider is at   {url}\n")
}

async fn audit(args: AuditArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    let db = open_as_it_is(&args.database).await?;
    let provider = client(args.provider)?;
    let report = audit::audit(&db, &provider, Clock::default().now()).await?;
    if args.json {
        print(&format!("{}\n", serde_json::to_string(&report)?))?;
    } else {
        print(&report.to_string())?;
    }
    Ok(ExitCode::from(u8::from(!report.ok)))
}

async fn sweep(args: SweepArgs) -> Result<ExitCode, Failure> {
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
        jobs: args.jobs.map_or(processors, usize::from),
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

async fn migrate(args: &MigrateArgs) -> Result<ExitCode, Failure> {
    start_log(&args.log)?;
    Db::open(args.database.url.expose())
        .await
        .map_err(|error| format!("cannot migrate the database: {error}"))?;
    print("The schema is up to date.\n")?;
    Ok(ExitCode::SUCCESS)
}

async fn catalog(action: CatalogAction) -> Result<ExitCode, Failure> {
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

/// For whoever looks at a long import. What is printed next is written over it.
fn show_progress(done: usize, of: usize) {
    if of >= LONG_IMPORT && std::io::stderr().is_terminal() {
        let _ = write!(std::io::stderr(), "\x1b[K{done} of {of}\r");
    }
}

async fn outbox(action: OutboxAction) -> Result<ExitCode, Failure> {
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

async fn mail(action: MailAction) -> Result<ExitCode, Failure> {
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

async fn events(action: EventsAction) -> Result<ExitCode, Failure> {
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

/// Logs go to standard error, so that what a command prints can be piped.
fn start_log(log: &Log) -> Result<(), Failure> {
    // Who is down is said by ours, once; the client repeats it at every attempt. A filter can name it all the same.
    let filter = EnvFilter::try_new(format!("async_nats=off,{}", log.filter)).map_err(|_| {
        format!(
            "--log: {:?} is not a log filter such as info or info,sqlx=debug",
            log.filter
        )
    })?;
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match log.format {
        LogFormat::Pretty => subscriber.init(),
        LogFormat::Json => subscriber.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Listens from now on, so that a signal which comes while the shop is opening is not lost; waits when awaited.
fn asked_to_stop() -> std::io::Result<impl Future<Output = std::io::Result<()>>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    })
}

/// Help and version as clap prints them; of an error its first line, which says what is wrong.
fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return fail("what to do is missing: --help after the command lists it");
    }
    if error.kind() == ErrorKind::MissingRequiredArgument
        && let Some(ContextValue::Strings(names)) = error.get(ContextKind::InvalidArg)
    {
        return fail(&format!("{} is missing", names.join(", ")));
    }
    // Clap would repeat the value, and a value may be a secret.
    if let (Some(flag), Some(reason)) = (error.get(ContextKind::InvalidArg), error.source()) {
        return fail(&format!("{flag}: {reason}"));
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    fail(line.trim_start_matches("error: "))
}

fn fail(line: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "boring-checkout: {line}");
    ExitCode::from(UNUSABLE)
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

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

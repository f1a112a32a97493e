//! The command line: what is asked for, and the two servers. What else can be done stands in [`commands`].

mod commands;

use std::{
    error::Error as _,
    io::{IsTerminal as _, Write as _},
    process::ExitCode,
};

use boring_checkout::{
    app::Shop,
    config::{Cli, Command, Log, LogFormat, ProviderArgs, ServeArgs},
    lab::trail,
    port_file::PortFile,
    secret::Secret,
    simulator::{Chaos, Simulator, SimulatorConfig, WebhookTarget},
    web::admin::access::USER,
};
use clap::{
    Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::{
    EnvFilter, Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// Something that was asked for cannot be done as asked.
const UNUSABLE: u8 = 2;

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
        Some(Command::Audit(args)) => commands::audit(args).await,
        Some(Command::Sweep(args)) => commands::sweep(args).await,
        Some(Command::Migrate(args)) => commands::migrate(&args).await,
        Some(Command::Catalog(args)) => commands::catalog(args.action).await,
        Some(Command::Outbox(args)) => commands::outbox(args.action).await,
        Some(Command::Mail(args)) => commands::mail(args.action).await,
        Some(Command::Events(args)) => commands::events(args.action).await,
    };
    done.unwrap_or_else(|error| fail(&error.to_string()))
}

async fn serve(args: &ServeArgs) -> Result<ExitCode, Failure> {
    args.check()?;
    start_log_with(&args.log, args.is_lab_on())?;
    let end = asked_to_stop()?;
    let shop = Shop::start(args).await?;
    let url = shop.app.till.links.shop();
    let mut lines = vec![shop_is_at(url)];
    lines.extend(shop.app.lab.iter().map(|_| lab_is_at(url)));
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

fn lab_is_at(shop: &str) -> String {
    format!("Its lab is at                {shop}/lab\n")
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

/// Logs go to standard error, so that what a command prints can be piped.
fn start_log(log: &Log) -> Result<(), Failure> {
    start_log_with(log, false)
}

/// The same, and the lab keeps of it what it shows, however little is logged.
fn start_log_with(log: &Log, for_lab: bool) -> Result<(), Failure> {
    // Who is down is said by ours, once; the client repeats it at every attempt. A filter can name it all the same.
    let filter = EnvFilter::try_new(format!("async_nats=off,{}", log.filter)).map_err(|_| {
        format!(
            "--log: {:?} is not a log filter such as info or info,sqlx=debug",
            log.filter
        )
    })?;
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    let lines = match log.format {
        LogFormat::Pretty => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let log = tracing_subscriber::registry();
    if for_lab {
        log.with(trail::beside(lines, filter)).init();
    } else {
        log.with(lines).with(filter).init();
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

fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

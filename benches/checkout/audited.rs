//! The audit of many purchases: how much memory it takes.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use sqlx::{Connection as _, SqliteConnection};

use super::{
    database::{Engine, Ground},
    http::{Connection, post},
    old,
    processes::{PROGRAM, Process, command, most_resident_megabytes},
};

/// How often it is looked at.
const LOOKS: Duration = Duration::from_millis(20);

/// What an audit took.
pub struct Audited {
    pub took: Duration,
    pub megabytes: f64,
    pub is_clean: bool,
}

/// Makes so many purchases in the books of a shop and of its provider, and has them audited.
pub async fn audit(ground: &Ground, engine: Engine, count: i64) -> Audited {
    let database = ground.database(engine, "audited").await;
    old::make(&database.db, count).await;
    let books = format!(
        "sqlite://{}/provider-{}.db",
        ground.folder.display(),
        engine.name()
    );
    let simulator = start(ground, &books);
    pay(&mut Connection::to(simulator.address));
    drop(simulator);
    copy_payment(&books, count).await;
    let simulator = start(ground, &books);
    let mut audit = command(PROGRAM, None)
        .args(["audit", "--log", "warn", "--database-url", &database.url])
        .args(["--provider-url", &format!("http://{}", simulator.address)])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (began, mut megabytes) = (Instant::now(), 0.0);
    loop {
        megabytes = most_resident_megabytes(audit.id()).max(megabytes);
        if let Some(ended) = audit.try_wait().unwrap() {
            let is_clean = ended.success();
            let took = began.elapsed();
            return Audited {
                took,
                megabytes,
                is_clean,
            };
        }
        std::thread::sleep(LOOKS);
    }
}

fn start(ground: &Ground, books: &str) -> Process {
    let mut simulator = command(PROGRAM, None);
    simulator
        .args(["provider", "--listen", "127.0.0.1:0", "--log", "warn"])
        .args(["--database-url", books]);
    Process::start(&mut simulator, &ground.folder, "audited-simulator")
}

/// A payment, for the others to be like it.
fn pay(provider: &mut Connection) {
    let form = [
        ("amount", "2490"),
        ("currency", "eur"),
        ("payment_method", "pm_card_visa"),
        ("payment_method_types[0]", "card"),
        ("confirm", "true"),
        ("metadata[checkout_id]", "-"),
    ];
    let authorization = "Authorization: Bearer sk_test_boring\r\n";
    let paid = provider.send(&post("/v1/payment_intents", authorization, &form));
    assert_eq!(paid.status, 200, "{}", paid.text());
}

/// The payments of [`old::make`], in the provider's books.
async fn copy_payment(books: &str, count: i64) {
    let mut provider = SqliteConnection::connect(books).await.unwrap();
    let copied = sqlx::query(
        "insert into objects (body)
         with recursive n (i) as (select 1 union all select i + 1 from n where i < $1)
         select json_set(one.body, '$.id', 'pi_' || printf('%010x', i), '$.metadata.checkout_id',
                         '01900000-0000-7000-8000-' || printf('%012x', i))
         from n, (select body from objects where kind = 'payment_intent') one",
    );
    copied.bind(count).execute(&mut provider).await.unwrap();
    provider.close().await.unwrap();
}

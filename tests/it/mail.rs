//! The buyer hears of an order once, whatever becomes of mail servers, and no mail server has a say in a checkout.

use std::{fs, net::SocketAddr, time::Duration};

use boring_checkout::{
    db::Db,
    mail::{compose::Composer, post::Post, postman::Postman},
    outbox::{
        Message,
        inbox::{Consumer, consume},
    },
    secret::Secret,
    workers::Work as _,
};
use futures_util::future::join_all;
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

use crate::{
    killed::{Town, insist},
    outbox::another_shop,
    world::{
        Database, Expected, Mail, MailServer, Mood, ONCE, Process, Relay, Shop, Visitor, eventually,
    },
};

async fn with_server() -> (Shop, MailServer) {
    let server = MailServer::open().await;
    let shop = Shop::open_with_workers(&["--smtp-url", &server.url]).await;
    (shop, server)
}

async fn buys(shop: &Shop, email: &str) -> Visitor {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await.with("email", email);
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    buyer
}

async fn text(db: &Db, sql: &'static str) -> String {
    db.query(sql).fetch_scalar().await.expect(sql)
}

const GIVEN_UP: &str = "select count(*) from emails where given_up_at is not null";

#[tokio::test]
async fn the_buyer_gets_one_mail_with_a_link_that_shows_the_order_to_whoever_has_it() {
    let shop = Shop::open_with_workers(&[]).await;
    buys(&shop, "tea@example.com").await;
    shop.finishes().await;
    let number = text(shop.db(), "select number from orders").await;

    let folder = shop.database.mail_folder();
    let files: Vec<_> = fs::read_dir(&folder).expect("the folder").collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let file = format!("{folder}/{number}-order_confirmation.eml");
    let mail = Mail::of(&fs::read_to_string(&file).expect("named after the order"));
    assert_eq!(mail.header("To"), "tea@example.com");
    assert_eq!(mail.header("Subject"), format!("Your order {number}"));
    assert_eq!(
        mail.header("Message-ID"),
        format!("<{number}.order_confirmation@boring.example>")
    );
    let (plain, html) = (mail.part("text/plain"), mail.part("text/html"));
    for part in [&plain, &html] {
        for said in [number.as_str(), "Plain black tea", "€4.90"] {
            assert!(part.contains(said), "{said} in {part}");
        }
    }
    let link = plain.lines().find(|line| line.starts_with("http"));
    let link = link.expect("a link");
    assert!(html.contains(link), "{link} in {html}");

    let path = link.strip_prefix(&shop.url).expect("a link to the shop");
    let stranger = shop.visitor();
    assert!(stranger.sees(path).await.text("main").contains(&number));
    let (address, tag) = path.split_once("?key=").expect("a key");
    let (until, signature) = tag.split_once('-').expect("the end of its time");
    let other_tag = format!("{until}-{}", signature.replace(|_: char| true, "0"));
    let later: u64 = until.parse::<u64>().expect("seconds") + 1;
    for wrong in [
        address.to_owned(),
        format!("{address}?key="),
        format!("{address}?key={other_tag}"),
        format!("{address}?key={}", &tag[..32]),
        format!("{address}?key={later}-{signature}"),
        format!("{address}?key={signature}"),
        format!("{path}&key={tag}"),
        format!("{address}?key=%ff"),
        format!("/orders/0000-0000-00?key={tag}"),
    ] {
        assert_eq!(stranger.sees(&wrong).await.status, 404, "{wrong}");
    }
    assert_eq!(shop.report().await.counts.emails, 1);
    shop.expects(ONCE).await;

    // In some years somebody else may read the mailbox.
    shop.later(90 * 24 * 3600 - 60);
    assert_eq!(stranger.sees(path).await.status, 200);
    shop.later(60);
    assert_eq!(stranger.sees(path).await.status, 404);
}

/// A link stays good when the shop is started again.
#[tokio::test]
async fn all_processes_and_all_days_know_each_others_links() {
    let shop = Shop::open_with_workers(&[]).await;
    buys(&shop, "tea@example.com").await;
    let other = another_shop(&shop, &["--public-url", &shop.url]).await;
    let number = text(shop.db(), "select number from orders")
        .await
        .parse()
        .expect("a number");
    let placed_at = shop.app().till.clock.now();
    assert_eq!(
        shop.app().till.links.to_order(&number, placed_at),
        other.app.till.links.to_order(&number, placed_at)
    );
    other.stop().await;
}

#[tokio::test]
async fn r54_a_mail_server_that_fails_in_any_way_delays_the_mail_and_nothing_else() {
    for mood in [Mood::Hangs, Mood::IsBusy] {
        let (shop, server) = with_server().await;
        server.is_in(mood);
        // One more than the postman can carry.
        let mails = Postman::PLACES + 1;
        let counted = i64::try_from(mails).expect("few");
        for _ in 0..mails {
            buys(&shop, "tea@example.com").await;
        }
        eventually("all are shipped", || async {
            shop.count("select count(*) from shipments").await == counted
        })
        .await;
        eventually("it was asked", || async {
            server.visits() >= Postman::PLACES
        })
        .await;
        assert_eq!(server.mails().len(), 0, "{mood:?}");
        assert_eq!(shop.report().await.counts.emails, 0, "{mood:?}");

        server.is_in(Mood::Takes);
        sends_the_rest(&shop).await;
        assert_eq!(server.mails().len(), mails, "{mood:?}");
        assert_eq!(server.message_ids().len(), mails, "{mood:?}");
        assert_eq!(shop.report().await.counts.emails, counted, "{mood:?}");
    }
}

/// Moves the clock, until everything is sent that was to be tried later.
async fn sends_the_rest(shop: &Shop) {
    eventually("every mail is sent", || async {
        shop.app().till.clock.advance(Duration::from_secs(1));
        let unsent = "select (select count(*) from outbox where published_at is null)
                           + (select count(*) from emails where sent_at is null)";
        shop.count(unsent).await == 0
    })
    .await;
}

#[tokio::test]
async fn r54_a_day_without_a_mail_server_loses_no_mail() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("smtp://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    let shop = Shop::open().await;
    buys(&shop, "tea@example.com").await;
    shop.settles().await;
    let till = &shop.app().till;
    let message: Message = till
        .db
        .query("select * from outbox")
        .fetch_one()
        .await
        .expect("its news");
    consume(&till.db, Consumer::Mailer, &message, till.clock.now())
        .await
        .expect("consumed");
    let postman = |post| {
        let composer = Composer {
            db: till.db.clone(),
            from: "shop@boring.example".parse().expect("a mailbox"),
            links: shop.app().till.links.clone(),
        };
        Postman::new(&till.db, &till.clock, composer, post)
    };
    let tries = async |postman: &Postman| {
        let mails = postman.claim(4).await.expect("a claim");
        for mail in mails {
            postman.perform(mail).await.expect("performed");
        }
    };

    let down = postman(Post::smtp(&Secret::new(url)).expect("a URL"));
    for _ in 0..24 * 4 {
        tries(&down).await;
        till.clock.advance(Duration::from_mins(15));
    }
    let attempts = "select attempts from emails where given_up_at is null";
    assert_eq!(shop.count(attempts).await, 24 * 4);
    let server = MailServer::open().await;
    let up = postman(Post::smtp(&Secret::new(server.url.as_str())).expect("a URL"));
    tries(&up).await;
    assert_eq!(server.mails().len(), 1);
    tries(&up).await;
    assert_eq!(server.mails().len(), 1);
}

#[tokio::test]
async fn r55_a_mail_that_was_taken_without_a_word_comes_again_under_the_same_id() {
    let (shop, server) = with_server().await;
    server.is_in(Mood::TakesAndDrops);
    buys(&shop, "tea@example.com").await;
    eventually("it is taken", || async { server.mails().len() == 1 }).await;

    server.is_in(Mood::Takes);
    sends_the_rest(&shop).await;
    assert_eq!(server.mails().len(), 2);
    assert_eq!(server.message_ids().len(), 1, "the receiver can tell");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r55_a_refused_recipient_stops_nobody_elses_mail() {
    let (shop, server) = with_server().await;
    server.refuses("nobody@example.com");
    for n in 0..6 {
        buys(&shop, "nobody@example.com").await;
        buys(&shop, &format!("good{n}@example.com")).await;
    }
    eventually("the good ones have their mail", || async {
        server.mails().len() == 6
    })
    .await;
    eventually("the bad ones are given up", || async {
        shop.app().till.clock.advance(Duration::from_secs(1));
        shop.count(GIVEN_UP).await == 6
    })
    .await;
    assert_eq!(server.mails().len(), 6, "each once");
    let report = shop.report().await;
    assert!(report.ok, "{report}");

    let listed = command(&shop, &["list"]).await;
    assert_eq!(listed.lines().count(), 6, "{listed}");
    assert!(listed.contains("given up at"), "{listed}");
    assert!(listed.contains("nobody of that name"), "{listed}");
    server.refuses_nobody();
    let first = listed.split_whitespace().next().expect("an order");
    assert_eq!(command(&shop, &["retry", first]).await, "1 tried again.\n");
    assert_eq!(command(&shop, &["retry"]).await, "5 tried again.\n");
    shop.finishes().await;
    assert_eq!(server.mails().len(), 12);
    assert_eq!(server.message_ids().len(), 12);
    assert_eq!(command(&shop, &["list"]).await, "");
}

/// `boring-checkout mail …` on the shop's database, from another process.
pub async fn command(shop: &Shop, arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_boring-checkout"));
    command.arg("mail").args(arguments);
    command.args(["--database-url", &shop.database.url(), "--log", "warn"]);
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    let output = output.expect("no panic").expect("it starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// It was busy for long, and its first no may mean "later".
#[tokio::test]
async fn one_refusal_after_many_other_failures_gives_nothing_up() {
    let (shop, server) = with_server().await;
    server.is_in(Mood::IsBusy);
    server.refuses("tea@example.com");
    buys(&shop, "tea@example.com").await;
    let attempts = "select coalesce(max(attempts), 0) from emails";
    eventually("it is tried often", || async {
        shop.app().till.clock.advance(Duration::from_secs(1));
        shop.count(attempts).await >= 6
    })
    .await;
    server.is_in(Mood::Takes);
    let refused = "select count(*) from emails where last_error like 'refused%'";
    eventually("it is refused", || async {
        shop.app().till.clock.advance(Duration::from_secs(1));
        shop.count(refused).await == 1
    })
    .await;
    assert_eq!(shop.count(GIVEN_UP).await, 0);

    server.refuses_nobody();
    sends_the_rest(&shop).await;
    assert_eq!(server.mails().len(), 1);
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn r55_postmen_of_several_processes_share_the_work() {
    let server = MailServer::open().await;
    let shop = Shop::open().await;
    for _ in 0..8 {
        buys(&shop, "tea@example.com").await;
    }
    let flags = ["--smtp-url", server.url.as_str()];
    let others = join_all((0..3).map(|_| another_shop(&shop, &flags))).await;
    shop.finishes().await;
    eventually("all are sent", || async { server.message_ids().len() == 8 }).await;
    for other in others {
        other.stop().await;
    }
    assert_eq!(server.mails().len(), 8, "none twice");
}

/// Behind the form, which lets no line break through.
#[tokio::test]
async fn nothing_that_a_customer_typed_becomes_a_header_or_markup() {
    let server = MailServer::open().await;
    let shop = Shop::open().await;
    buys(&shop, "tea@example.com").await;
    buys(&shop, "injection@example.com").await;
    let mut tx = shop.db().begin().await.expect("a transaction");
    tx.query("update checkouts set name = $1, city = $2")
        .bind("A\r\nBcc: all@example.com\r\n\r\nTotal: <b>")
        .bind("\u{202e}<script>\n")
        .execute()
        .await
        .expect("changed");
    tx.query("update checkouts set email = $1 where email = 'injection@example.com'")
        .bind("a@example.com\r\nBcc: all@example.com")
        .execute()
        .await
        .expect("changed");
    tx.commit().await.expect("a commit");

    let other = another_shop(&shop, &["--smtp-url", &server.url]).await;
    shop.finishes().await;
    other.stop().await;
    let mails = server.mails();
    let [mail] = &mails[..] else {
        panic!("{mails:?}")
    };
    assert_eq!(mail.to, ["tea@example.com"]);
    assert!(!mail.headers().contains("Bcc"), "{}", mail.headers());
    assert!(!mail.headers().contains("all@"), "{}", mail.headers());
    let plain = mail.part("text/plain");
    assert!(
        plain.contains("A  Bcc: all@example.com    Total: <b>\r\n"),
        "{plain}"
    );
    let html = mail.part("text/html");
    assert!(
        html.contains("all@example.com    Total: &#60;b&#62;"),
        "{html}"
    );
    assert!(!html.contains("<script"), "{html}");
    assert_eq!(shop.count(GIVEN_UP).await, 1, "an address that is none");
}

/// Forty orders wait for their mails, twelve customers press the button until they have paid, and the shop is killed
/// twenty times.
#[tokio::test]
async fn r55_killed_at_random_moments_as_many_orders_as_shipments_as_mails() {
    const KILLS: usize = 20;
    const WAITING: usize = 40;
    const CUSTOMERS: usize = 12;
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = SmallRng::seed_from_u64(seed);
    let town = Town::found().await;
    let server = MailServer::open().await;
    let front = Relay::open().await;
    let url = format!("http://{}", front.address);
    let opens = async |workers: bool| {
        let flags = [
            "--lease",
            "300ms",
            "--provider-timeout",
            "5s",
            "--smtp-url",
            &server.url,
        ];
        let shop = if workers {
            Process::shop_with_workers(&town.database, &town.provider, &flags).await
        } else {
            Process::shop(&town.database, &town.provider, &flags).await
        };
        let address: SocketAddr = shop.address().parse().expect("an address");
        town.wire.leads_to(address);
        front.leads_to(address);
        shop
    };
    let mut shop = opens(false).await;
    let visitors =
        (0..WAITING + CUSTOMERS).map(|_| async { Visitor::at(&url).with_cart("TEA-01", 1).await });
    let buyers = join_all(visitors).await;
    let forms = join_all(buyers.iter().map(Visitor::opens_checkout)).await;
    let submissions: Vec<_> = buyers.iter().zip(&forms).collect();
    let (waiting, insisting) = submissions.split_at(WAITING);
    join_all(waiting.iter().map(|(buyer, form)| insist(buyer, form))).await;

    let insisting =
        async { join_all(insisting.iter().map(|(buyer, form)| insist(buyer, form))).await };
    let killing = async {
        for _ in 0..KILLS {
            let killed = std::mem::replace(&mut shop, opens(true).await);
            killed.kill();
            let moment = Duration::from_millis(rng.random_range(0..150));
            tokio::time::sleep(moment).await;
        }
    };
    tokio::join!(insisting, killing);
    shop.kill();

    // What those who were killed had in hand comes again when their leases have run out.
    let heir = later(&town.database, &town.provider.url, &server.url).await;
    let all = WAITING + CUSTOMERS;
    let count = async |sql| usize::try_from(town.books.count(sql).await).expect("not negative");
    eventually("every mail is sent", || async {
        count("select count(*) from emails where sent_at is not null").await == all
    })
    .await;
    heir.stop().await;
    assert_eq!(count("select count(*) from orders").await, all);
    assert_eq!(count("select count(*) from shipments").await, all);
    assert_eq!(server.message_ids().len(), all);
    let repeats = server.mails().len() - all;
    println!("{repeats} mails came twice");
    assert!(repeats <= KILLS * Postman::PLACES, "{repeats}");
    let n = i64::try_from(all).expect("few");
    town.books
        .expect(Expected {
            charges: n,
            orders: n,
            sold: n,
        })
        .await;
}

/// A shop in this process, whose clock is five minutes ahead.
async fn later(database: &Database, provider: &str, smtp: &str) -> boring_checkout::app::Shop {
    let flags = ["--smtp-url", smtp];
    let shop = crate::outbox::shop_on(database, provider, &flags).await;
    shop.app.till.clock.advance(Duration::from_mins(5));
    shop
}

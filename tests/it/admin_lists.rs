//! Lists: paged through while the shop goes on.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use boring_checkout::{
    ids::{CheckoutId, RefundId},
    probe::{Boundary, Probe},
};
use uuid::Uuid;

use crate::world::{ONCE, Operator, PASSWORD, Page, Shop, front};

pub async fn buys(shop: &Shop, email: &str) -> String {
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await.with("email", email);
    let status = buyer.submits(&form).await.location().to_owned();
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    status.rsplit('/').next().expect("an id").to_owned()
}

/// What stands in the first cell of the last table's rows.
fn names(page: &Page, column: usize) -> Vec<String> {
    page.texts(&format!(
        "section:last-of-type tbody tr td:nth-child({column})"
    ))
}

fn link(page: &Page, rel: &str) -> Option<String> {
    page.attributes(&format!("a[rel={rel}]"), "href")
        .into_iter()
        .next()
}

/// Turns the pages of a list from its newest row to its oldest, and back. `grows` adds to it each time a page is turned.
async fn turns_pages<F: Future<Output = ()>>(
    operator: &Operator,
    list: &str,
    column: usize,
    grows: impl Fn() -> F,
) -> (Vec<String>, Vec<String>) {
    let mut page = operator.sees(list).await;
    assert_eq!(
        link(&page, "prev"),
        None,
        "nothing is newer than the newest"
    );
    let mut down = names(&page, column);
    while let Some(older) = link(&page, "next") {
        grows().await;
        page = operator.sees(&older).await;
        let rows = names(&page, column);
        assert!((1..=50).contains(&rows.len()), "{} rows", rows.len());
        down.extend(rows);
    }
    let mut up = names(&page, column);
    up.reverse();
    while let Some(newer) = link(&page, "prev") {
        page = operator.sees(&newer).await;
        up.extend(names(&page, column).into_iter().rev());
    }
    (down, up)
}

fn is_complete(down: &[String], before: &[String]) {
    let seen: BTreeSet<_> = down.iter().collect();
    assert_eq!(seen.len(), down.len(), "a row came twice");
    let missing: Vec<_> = before.iter().filter(|row| !seen.contains(row)).collect();
    assert!(missing.is_empty(), "passed by: {missing:?}");
    assert_eq!(
        down.len(),
        before.len(),
        "what came later stands on the pages before"
    );
}

/// Many at the same microsecond, as a burst of webhooks may be.
async fn hears(shop: &Shop, names: &[String], second: i64) {
    let mut tx = shop.db().begin().await.expect("a transaction");
    for (place, name) in names.iter().enumerate() {
        let at = second + i64::try_from(place / 60).expect("few");
        tx.query(
            "insert into processed_events (event_id, type, object_id, verdict, received_at)
             values ($1, 'payment_intent.succeeded', $1, 'applied', $2)",
        )
        .bind(name)
        .bind(chrono::DateTime::from_timestamp(at, 0).expect("a time"))
        .execute()
        .await
        .expect("a row");
    }
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn while_new_events_arrive_no_row_is_passed_by_and_none_comes_twice() {
    let shop = Shop::open().await;
    let events: Vec<String> = (0..250)
        .map(|it| format!("evt_{}", Uuid::from_u128(it * 7919 % 251)))
        .collect();
    hears(&shop, &events, 1_800_000_000).await;
    let grows = || async {
        let news: Vec<String> = (0..7).map(|_| format!("evt_{}", Uuid::new_v4())).collect();
        hears(&shop, &news, 1_900_000_000).await;
    };
    let (down, up) = turns_pages(&shop.operator(), "/admin/events", 5, grows).await;
    is_complete(&down, &events);
    // Back at the beginning, which shows the newest ones.
    let oldest_first: Vec<_> = down.iter().rev().collect();
    assert!(up.len() >= 250, "{}", up.len());
    assert_eq!(up.iter().take(200).collect::<Vec<_>>(), oldest_first[..200]);
}

#[tokio::test]
async fn checkouts_mails_and_messages_are_paged_through_alike() {
    let shop = Shop::open().await;
    let original = buys(&shop, "ada@example.org").await;
    shop.settles().await;
    let original: CheckoutId = original.parse().expect("an id");
    let adds = async |count: usize| {
        let mut tx = shop.db().begin().await.expect("a transaction");
        let mut ids = Vec::new();
        for _ in 0..count {
            let id = CheckoutId::new();
            tx.query(
                "insert into checkouts (id, idempotency_key, cart_id, visitor_id, fingerprint, status, amount_minor,
                     currency, email, name, address, city, postal_code, country, payment_method, provider_request,
                     attempts, created_at, concluded_at)
                 select $1, $2, cart_id, visitor_id, fingerprint, 'declined', amount_minor,
                     currency, email, name, address, city, postal_code, country, payment_method, provider_request,
                     attempts, created_at, concluded_at
                 from checkouts where id = $3",
            )
            .bind(id)
            .bind(Uuid::new_v4())
            .bind(original)
            .execute()
            .await
            .expect("a checkout");
            tx.query(
                "insert into emails (about, kind, checkout_id, created_at)
                 select id, 'order_confirmation', id, created_at from checkouts where id = $1",
            )
            .bind(id)
            .execute()
            .await
            .expect("a mail");
            tx.query(
                "insert into outbox (aggregate_id, event_type, version, payload, created_at)
                 select $1, 'note', 1, payload, created_at from outbox where id = (select min(id) from outbox)",
            )
            .bind(id)
            .execute()
            .await
            .expect("a message");
            ids.push(id.to_string());
        }
        tx.commit().await.expect("a commit");
        ids
    };
    let ids = adds(120).await;
    let grows = || async {
        adds(3).await;
    };
    let operator = shop.operator();
    let declined = "/admin/checkouts?q=declined";
    let (down, _) = turns_pages(&operator, declined, 7, grows).await;
    is_complete(&down, &ids);
    // By now there are more; the mails about them are all of the same microsecond.
    let all = async |sql: &'static str| -> Vec<String> {
        let all: Vec<(Uuid,)> = shop.db().query(sql).fetch_all().await.expect(sql);
        all.into_iter().map(|(id,)| id.to_string()).collect()
    };
    let mails = all("select about from emails").await;
    assert!(mails.len() > 120);
    let (down, _) = turns_pages(&operator, "/admin/mail", 5, async || {}).await;
    is_complete(&down, &mails);
    let messages = all("select aggregate_id from outbox").await;
    let (down, _) = turns_pages(&operator, "/admin/outbox", 5, async || {}).await;
    is_complete(&down, &messages);
    let notes = all("select aggregate_id from outbox where event_type = 'note'").await;
    let (down, _) = turns_pages(&operator, "/admin/outbox?q=note", 5, async || {}).await;
    is_complete(&down, &notes);
}

#[tokio::test]
async fn refunds_are_paged_through_too() {
    let shop = Shop::open().await;
    let order = buys(&shop, "ada@example.org").await;
    let order: CheckoutId = order.parse().expect("an id");
    let adds = async |count: usize| {
        let mut tx = shop.db().begin().await.expect("a transaction");
        let mut names = Vec::new();
        for _ in 0..count {
            let name = format!("re_{}", Uuid::new_v4());
            tx.query(
                "insert into refunds (id, kind, checkout_id, payment_intent_id, amount_minor, currency, status,
                     provider_id, attempts, created_at, concluded_at)
                 select $1, 'order', id, payment_intent_id, 1, currency, 'failed', $2, 0, created_at, created_at
                 from checkouts where id = $3",
            )
            .bind(RefundId::new())
            .bind(&name)
            .bind(order)
            .execute()
            .await
            .expect("a refund");
            names.push(name);
        }
        tx.commit().await.expect("a commit");
        names
    };
    let refunds = adds(120).await;
    let grows = || async {
        adds(3).await;
    };
    let (down, _) = turns_pages(&shop.operator(), "/admin/refunds", 7, grows).await;
    is_complete(&down, &refunds);
}

/// What somebody may type, of each form that a list knows.
const TYPED: [&str; 10] = [
    "paid",
    "parked",
    "order_confirmation",
    "order.placed",
    "ada%40example.org",
    "pi_1",
    "re_1",
    "evt_1",
    "7K3M9QXT2P",
    "00000000-0000-0000-0000-000000000000",
];

/// Each list is read along an index from a place on, however long it is and whatever is searched for: nothing is scanned. Only
/// what concerns one purchase or one address, which is little, is sorted. PostgreSQL, which looks at how much there is, says
/// nothing of use about a small table.
#[tokio::test]
async fn no_list_reads_a_whole_table_to_show_a_page() {
    let shop = Shop::open().await;
    if shop.database.is_postgres() {
        return;
    }
    buys(&shop, "ada@example.org").await;
    shop.settles().await;
    let statements = Arc::new(Mutex::new(BTreeSet::new()));
    let probe = Probe::new({
        let statements = Arc::clone(&statements);
        move |boundary| {
            if let Boundary::BeforeStatement(sql) | Boundary::BeforeQuery(sql) = boundary {
                statements.lock().expect("not poisoned").insert(sql);
            }
            async { Ok(()) }
        }
    });
    let operator = Operator::at(&front(&shop, probe).await, PASSWORD);
    for list in [
        "checkouts",
        "orders",
        "customers",
        "refunds",
        "events",
        "outbox",
        "mail",
        "discrepancies",
    ] {
        for turn in [
            "newer=0",
            "newer=0~0",
            "newer=00000000-0000-0000-0000-000000000000",
            "newer=0~00000000-0000-0000-0000-000000000000~order_confirmation~0",
        ] {
            operator.sees(&format!("/admin/{list}?{turn}")).await;
            for typed in TYPED {
                let path = format!("/admin/{list}?q={typed}&{turn}");
                operator.sees(&path).await;
            }
        }
    }
    let statements: Vec<&str> = statements
        .lock()
        .expect("not poisoned")
        .iter()
        .copied()
        .collect();
    let lists = statements.iter().filter(|sql| sql.contains("limit "));
    let mut looked_at = 0;
    for sql in lists {
        let explain: &'static str = Box::leak(format!("explain query plan {sql}").into_boxed_str());
        let plan: Vec<(i64, i64, i64, String)> =
            shop.db().query(explain).fetch_all().await.expect(sql);
        let plan: Vec<&str> = plan.iter().map(|(_, _, _, step)| step.as_str()).collect();
        let is_of_few = sql.contains("c.id in (")
            || sql.contains("checkout_id in (")
            || sql.contains("checkout_id = (")
            || sql.contains("checkout_id = $")
            || sql.contains("aggregate_id = ");
        for step in &plan {
            let is_whole_table = step.starts_with("SCAN ") && !step.contains(" USING ");
            let is_sorted = step.contains("USE TEMP B-TREE FOR ORDER BY");
            assert!(
                !is_whole_table && (is_of_few || !is_sorted),
                "{step} for {sql}"
            );
        }
        looked_at += 1;
    }
    assert!(looked_at >= 60, "{looked_at} of {statements:#?}");
    shop.expects(ONCE).await;
}

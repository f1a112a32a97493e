//! Both ledgers, seen from outside of any shop.

use boring_checkout::{
    audit::{self, Report},
    clock::Clock,
    db::Db,
    provider,
};

use super::{Database, Expected, Provider, eventually};

/// Both ledgers of shops that run, and are killed, in processes of their own.
pub struct Books {
    db: Db,
    client: provider::Provider,
}

impl Books {
    pub async fn of(database: &Database, provider: &Provider) -> Self {
        let key = "sk_test_boring".into();
        let client =
            provider::Provider::new(&provider.url, key, std::time::Duration::from_secs(10));
        Self {
            db: database.open().await,
            client: client.expect("a URL"),
        }
    }

    pub async fn count(&self, sql: &'static str) -> i64 {
        self.db.query(sql).fetch_scalar().await.expect(sql)
    }

    /// The shop's database.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Waits until nothing is undecided.
    pub async fn settle(&self) {
        eventually("nothing is pending", || async {
            self.count("select count(*) from checkouts where status = 'pending'")
                .await
                == 0
        })
        .await;
    }

    pub async fn report(&self) -> Report {
        audit::audit(&self.db, &self.client, Clock::default().now())
            .await
            .expect("both ledgers can be read")
    }

    pub async fn expect(&self, expected: Expected) {
        self.settle().await;
        let report = self.report().await;
        assert!(report.ok, "{report}");
        let sold = "select cast(coalesce(sum(stocked - stock), 0) as bigint) from products";
        let found = Expected {
            charges: report.counts.provider_succeeded,
            orders: report.counts.orders,
            sold: self.count(sold).await,
        };
        assert_eq!(found, expected, "{report}");
    }
}

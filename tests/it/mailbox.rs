//! The mails that the shop has written, shown in the lab.

use boring_checkout::config::Cli;
use clap::Parser as _;

use crate::world::{ONCE, Shop};

#[tokio::test]
async fn a_mail_can_be_read_in_the_mailbox() {
    let shop = Shop::open_with_workers(&[]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let empty = buyer.sees("/mailbox").await;
    assert!(empty.text("main").contains("No mail yet"));

    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.finishes().await;

    let anybody = shop.visitor();
    let mailbox = anybody.sees("/mailbox").await;
    assert_eq!(mailbox.text(".site-nav a[href='/mailbox']"), "Mailbox");
    let letter = mailbox.link_that_starts("/mailbox/");
    let page = anybody.sees(&letter).await;
    assert!(page.heading().starts_with("Your order "), "{page:?}");
    assert!(
        page.text(".facts")
            .contains(".order_confirmation@boring.example")
    );
    // The link in it leads to the order, as it does from a mail program.
    let link = page.link_that_starts(&shop.url);
    let order = link.strip_prefix(&shop.url).expect("the shop's");
    assert!(anybody.sees(order).await.heading().starts_with("Order "));

    let html = anybody.sees(&format!("{letter}/html")).await;
    assert!(html.text("body").contains("Thank you for your order"));
    let policy = html.header("content-security-policy");
    assert!(policy.starts_with("sandbox "), "{policy}");
    assert!(!policy.contains("script"), "{policy}");
    shop.expects(ONCE).await;
}

#[tokio::test]
async fn nothing_but_a_mail_can_be_read_there() {
    let shop = Shop::open_with_workers(&[]).await;
    let folder = std::path::PathBuf::from(shop.database.mail_folder());
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("note.txt"), "secret").expect("a file");
    std::fs::write(folder.join(".draft.eml"), "Subject: secret\r\n\r\nsecret").expect("a file");
    std::fs::write(
        folder.with_file_name("above.eml"),
        "Subject: secret\r\n\r\nsecret",
    )
    .expect("a file");
    let visitor = shop.visitor();
    for name in [
        "note.txt",
        "note",
        ".draft",
        "..%2Fabove",
        "%2e%2e%2fabove",
        "nothing",
        "a%00b",
    ] {
        for path in [format!("/mailbox/{name}"), format!("/mailbox/{name}/html")] {
            let page = visitor.sees(&path).await;
            assert_eq!(page.status, 404, "{path}");
        }
    }
    assert!(
        visitor
            .sees("/mailbox")
            .await
            .text("main")
            .contains("No mail yet")
    );
}

#[tokio::test]
async fn without_the_lab_there_is_no_mailbox() {
    for flags in [
        &["--no-lab"][..],
        &["--public-url", "https://shop.example"],
        &["--smtp-url", "smtp://127.0.0.1:1"],
    ] {
        let shop = Shop::open_with_workers(flags).await;
        let visitor = shop.visitor();
        for path in ["/mailbox", "/mailbox/x", "/mailbox/x/html"] {
            assert_eq!(
                visitor.sees(path).await.status,
                404,
                "{path} with {flags:?}"
            );
            let posted = visitor.posts(path, &[]).await;
            assert_eq!(posted.status, 404, "{path} with {flags:?}");
        }
        assert_eq!(
            visitor.sees("/").await.text(".site-nav a[href='/mailbox']"),
            ""
        );
    }
}

/// Everybody on the network who can open the shop could open every order, so that has to be wished.
#[test]
fn the_lab_is_on_where_only_this_machine_sees_it_unless_it_is_said() {
    let is_on = |flags: &[&str]| {
        let all = [&["boring-checkout"], flags].concat();
        Cli::try_parse_from(all).expect("flags").serve.is_lab_on()
    };
    for on in [
        &[][..],
        &["--listen", "[::1]:3000"],
        &["--public-url", "http://localhost:8080"],
        &["--listen", "0.0.0.0:3000", "--lab"],
        &["--listen", "0.0.0.0:3000", "--lab=yes"],
    ] {
        assert!(is_on(on), "{on:?}");
    }
    for off in [
        &["--listen", "0.0.0.0:3000"][..],
        &["--public-url", "https://shop.example"],
        &["--public-url", "http://localhost.shop.example"],
        &["--no-lab"],
        &["--lab=false"],
        &["--no-lab", "--lab=false"],
    ] {
        assert!(!is_on(off), "{off:?}");
    }
}

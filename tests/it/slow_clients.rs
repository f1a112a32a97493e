//! Clients that are slow, on purpose or not, keep nobody waiting but themselves.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::world::{ONCE, Shop};

/// Sends the beginning of a request, and returns all that the server says until it hangs up.
async fn begins(shop: &Shop, beginning: &str) -> String {
    let address = shop.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let sent = stream.write_all(beginning.as_bytes()).await;
    sent.expect("taken");
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    let hung_up = timeout(Duration::from_secs(10), read).await;
    hung_up.expect(beginning).expect("text");
    answer
}

const FORM: &str =
    "content-type: application/x-www-form-urlencoded\r\ncontent-length: 500\r\n\r\nemail=";

#[tokio::test]
async fn who_does_not_finish_a_request_is_hung_up_on() {
    let shop = Shop::open_with(&["--request-timeout", "1s"]).await;
    let silent = ["", "GET / HTTP/1.1\r\nhost: shop\r\nx: "];
    let answers = join_all(silent.map(|beginning| begins(&shop, beginning))).await;
    assert_eq!(answers, ["", ""]);
    let trickling = ["/checkout", "/cart/items", "/webhooks/provider"];
    let trickling = trickling.map(|path| format!("POST {path} HTTP/1.1\r\nhost: shop\r\n{FORM}"));
    for answer in join_all(trickling.iter().map(|beginning| begins(&shop, beginning))).await {
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    // Nothing that was begun is left, and who is quicker is served.
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let status = buyer.buys().await;
    assert_eq!(buyer.waits_at(&status).await, "Paid");
    shop.expects(ONCE).await;
}

/// A customer whose answer took too long has bought all the same, and finds it.
#[tokio::test]
async fn what_takes_too_long_goes_on_without_the_client() {
    let shop = Shop::open_with(&["--request-timeout", "1s"]).await;
    let buyer = shop.visitor().with_cart("TEA-01", 1).await;
    let form = buyer.opens_checkout().await;
    let slow = serde_json::json!({
        "on": {"operation": "payment_intents.create"}, "fault": "delay", "delay_ms": 3000,
    });
    shop.provider.fault(slow).await;

    let answer = buyer.submits(&form).await;

    assert_eq!(answer.status, 503);
    assert!(answer.text("main").contains("it is paid once"));
    let again = buyer.submits(&form).await;
    assert_eq!(buyer.waits_at(again.location()).await, "Paid");
    shop.expects(ONCE).await;
}

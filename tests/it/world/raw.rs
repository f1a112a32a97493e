//! Requests that no decent client sends.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// Sends these bytes to the server at `url` and returns the status and all that it answers. The request has to ask
/// for the connection to be closed.
pub async fn raw(url: &str, request: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://"))
        .await
        .expect("it listens");
    // A server may answer, and hang up, before it has read everything.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let status = status
        .parse()
        .unwrap_or_else(|_| panic!("no answer: {answer:?}"));
    (status, answer)
}

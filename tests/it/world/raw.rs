//! Requests that no decent client sends.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// A server that still waits for more by then has not understood the request.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// Sends these bytes to the server at `url` and returns the status and all that it answers. The request has to ask
/// for the connection to be closed.
pub async fn raw(url: &str, request: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://"))
        .await
        .expect("it listens");
    // A server may answer, and hang up, before it has read everything.
    let _ = stream.write_all(request).await;
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).unwrap_or_default();
    let status = status
        .parse()
        .unwrap_or_else(|_| panic!("no answer: {answer:?}"));
    (status, answer)
}

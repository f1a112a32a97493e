//! A connection that says whatever it is told to, and costs little.

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

use super::world::KEY;

/// One connection that is kept open, and opened again when the other side closed it.
pub(super) struct Connection {
    address: String,
    stream: BufReader<TcpStream>,
}

impl Connection {
    /// `address` is `host:port`.
    pub(super) async fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        stream.set_nodelay(true).unwrap();
        Self {
            address: address.to_owned(),
            stream: BufReader::new(stream),
        }
    }

    /// Sends a whole request, and returns the status and the body of the answer.
    pub(super) async fn send(&mut self, request: &[u8]) -> (u16, String) {
        self.stream.write_all(request).await.expect("it listens");
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).await.expect("an answer");
            assert!(
                read > 0,
                "no answer to {}",
                String::from_utf8_lossy(request)
            );
            if line.trim().is_empty() {
                break;
            }
            head.push(line.to_ascii_lowercase());
        }
        let status = head[0]
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let header = |name: &str| head.iter().find_map(|line| line.strip_prefix(name));
        let length = header("content-length:").map_or(0, |length| length.trim().parse().unwrap());
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.expect("a body");
        if header("connection:").is_some_and(|value| value.trim() == "close") {
            *self = Self::open(&self.address).await;
        }
        (
            status.expect("a status"),
            String::from_utf8(body).expect("text"),
        )
    }

    /// A well-formed call of `/_control`, and its answer.
    pub(super) async fn control(&mut self, method: &str, path: &str, body: &str) -> Value {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let (_, body) = self.send(request.as_bytes()).await;
        serde_json::from_str(&body).expect("JSON")
    }
}

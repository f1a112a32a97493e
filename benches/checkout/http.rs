//! A client that costs next to nothing: it shares the machine with what it measures.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

/// One connection, kept open.
pub struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
}

/// What of an answer anybody here wants to know.
pub struct Answer<'c> {
    pub status: u16,
    /// Empty when it leads nowhere.
    pub location: String,
    pub cookie: Option<String>,
    pub body: &'c [u8],
}

impl Connection {
    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::with_capacity(16 * 1024, stream),
            line: String::new(),
            body: Vec::new(),
        }
    }

    /// Sends a request as it is, and reads the whole answer.
    pub fn send(&mut self, request: &str) -> Answer<'_> {
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let status = self.next_line().split(' ').nth(1).unwrap().parse().unwrap();
        let (mut length, mut location, mut cookie) = (0, String::new(), None);
        while let Some((name, value)) = self.next_line().split_once(':') {
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().unwrap();
            } else if name.eq_ignore_ascii_case("location") {
                value.clone_into(&mut location);
            } else if name.eq_ignore_ascii_case("set-cookie") {
                cookie = value.split(';').next().map(str::to_owned);
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).unwrap();
        Answer {
            status,
            location,
            cookie,
            body: &self.body,
        }
    }

    fn next_line(&mut self) -> &str {
        self.line.clear();
        let read = self.stream.read_line(&mut self.line).unwrap();
        assert!(read > 0, "the connection was closed");
        self.line.trim_end()
    }
}

impl Answer<'_> {
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.body).unwrap()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(self.body).unwrap()
    }

    pub fn says(&self, text: &str) -> bool {
        self.body
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    }
}

/// `GET path`, with the headers that are given as whole lines.
pub fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")
}

/// `POST` of a form.
pub fn post(path: &str, headers: &str, form: &[(&str, &str)]) -> String {
    let form = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(form)
        .finish();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    )
}

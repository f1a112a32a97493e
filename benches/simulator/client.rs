//! A client that costs next to nothing, so that the server is what is measured.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

/// One connection, kept open.
pub struct Client(BufReader<TcpStream>);

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    /// The body of the answer, which must be a 200.
    pub fn post(&mut self, path: &str, form: &str, key: &str) -> String {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_test_boring\r\n\
             Idempotency-Key: {key}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{form}",
            form.len()
        );
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (status, length) = self.head();
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        let body = String::from_utf8(body).unwrap();
        assert!(status.contains(" 200 "), "{status} {body}");
        body
    }

    /// The status line, and the length of the body.
    fn head(&mut self) -> (String, usize) {
        let mut lines = std::iter::from_fn(|| {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
        });
        let status = lines.next().expect("the connection was closed");
        let length = lines
            .filter_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse().unwrap())
            })
            .last();
        (status, length.expect("a Content-Length"))
    }
}

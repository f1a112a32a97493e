//! A mail server that does what a test wants of it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
    sync::watch,
};

/// What it does with those who come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Takes,
    /// Accepts the connection and never says a word, until its mood changes.
    Hangs,
    /// "Not now."
    IsBusy,
    /// Takes the mail and closes the connection without saying so.
    TakesAndDrops,
}

/// A mail as it came.
#[derive(Clone, Debug)]
pub struct Mail {
    pub to: Vec<String>,
    raw: String,
}

impl Mail {
    pub fn of(raw: &str) -> Self {
        let (to, raw) = (Vec::new(), raw.to_owned());
        Self { to, raw }
    }

    pub fn headers(&self) -> &str {
        self.raw.split_once("\r\n\r\n").expect("headers").0
    }

    pub fn header(&self, name: &str) -> &str {
        let lines = self.headers().lines();
        let mut values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let value = values
            .next()
            .unwrap_or_else(|| panic!("{name} in {self:?}"));
        assert_eq!(values.next(), None, "{name} once");
        value
    }

    /// The part of this type, decoded.
    pub fn part(&self, kind: &str) -> String {
        let start = format!("Content-Type: {kind}; charset=utf-8\r\n");
        let (_, part) = self.raw.split_once(&start).expect("the part");
        let (headers, body) = part.split_once("\r\n\r\n").expect("headers of it");
        let body = body.split("\r\n--").next().expect("its body");
        if headers.contains("7bit") {
            return body.to_owned();
        }
        assert!(headers.contains("quoted-printable"), "{headers}");
        let mut bytes = Vec::new();
        let mut pieces = body.split('=');
        bytes.extend(pieces.next().expect("a first one").bytes());
        for piece in pieces {
            let (code, rest) = piece.split_at(2);
            if code != "\r\n" {
                bytes.extend(hex::decode(code).expect("hexadecimal"));
            }
            bytes.extend(rest.bytes());
        }
        String::from_utf8(bytes).expect("UTF-8")
    }
}

#[derive(Clone)]
pub struct MailServer {
    pub url: String,
    mood: watch::Sender<Mood>,
    refused: Arc<Mutex<BTreeSet<String>>>,
    visits: Arc<Mutex<usize>>,
    mails: Arc<Mutex<Vec<Mail>>>,
}

impl MailServer {
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = Self {
            url: format!("smtp://{address}"),
            mood: watch::Sender::new(Mood::Takes),
            refused: Arc::default(),
            visits: Arc::default(),
            mails: Arc::default(),
        };
        let doorman = server.clone();
        tokio::spawn(async move {
            while let Ok((visitor, _)) = listener.accept().await {
                let server = doorman.clone();
                // Whoever hangs up in the middle has changed their mind.
                tokio::spawn(async move { server.serves(visitor).await.ok() });
            }
        });
        server
    }

    pub fn is_in(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    pub fn refuses(&self, address: &str) {
        self.refused
            .lock()
            .expect("not poisoned")
            .insert(address.to_owned());
    }

    pub fn refuses_nobody(&self) {
        self.refused.lock().expect("not poisoned").clear();
    }

    pub fn visits(&self) -> usize {
        *self.visits.lock().expect("not poisoned")
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().expect("not poisoned").clone()
    }

    /// All Message-IDs, each once.
    pub fn message_ids(&self) -> BTreeSet<String> {
        let mails = self.mails();
        mails
            .iter()
            .map(|mail| mail.header("Message-ID").to_owned())
            .collect()
    }

    async fn serves(&self, visitor: TcpStream) -> std::io::Result<()> {
        *self.visits.lock().expect("not poisoned") += 1;
        let mood = *self.mood.borrow();
        if mood == Mood::Hangs {
            let mut moods = self.mood.subscribe();
            let _ = moods.wait_for(|mood| *mood != Mood::Hangs).await;
            return Ok(());
        }
        let (reads, mut says) = visitor.into_split();
        let mut lines = BufReader::new(reads).lines();
        say(
            &mut says,
            if mood == Mood::IsBusy {
                "421 not now"
            } else {
                "220 at your service"
            },
        )
        .await?;
        let mut to = Vec::new();
        while let Some(line) = lines.next_line().await? {
            let recipient = line
                .strip_prefix("RCPT TO:<")
                .and_then(|rest| rest.split('>').next());
            let is_refused =
                recipient.is_some_and(|it| self.refused.lock().expect("not poisoned").contains(it));
            if is_refused {
                say(&mut says, "550 5.1.1 nobody of that name").await?;
            } else if line == "DATA" {
                say(&mut says, "354 go on").await?;
                let mut raw = String::new();
                loop {
                    let Some(line) = lines.next_line().await? else {
                        return Ok(()); // They were killed in the middle of it.
                    };
                    if line == "." {
                        break;
                    }
                    raw.push_str(line.strip_prefix('.').unwrap_or(&line));
                    raw.push_str("\r\n");
                }
                let mail = Mail {
                    to: std::mem::take(&mut to),
                    raw,
                };
                self.mails.lock().expect("not poisoned").push(mail);
                if mood == Mood::TakesAndDrops {
                    return Ok(());
                }
                say(&mut says, "250 taken").await?;
            } else {
                to.extend(recipient.map(str::to_owned));
                say(&mut says, "250 fine").await?;
            }
        }
        Ok(())
    }
}

async fn say(to: &mut OwnedWriteHalf, line: &str) -> std::io::Result<()> {
    to.write_all(format!("{line}\r\n").as_bytes()).await
}

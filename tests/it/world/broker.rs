//! A NATS server of the test's own, which can be killed, and can lose what it has stored.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use async_nats::jetstream::{self, consumer::Info};
use tempfile::TempDir;
use tokio::{io::AsyncReadExt as _, net::TcpStream, time::timeout};

use super::eventually;

/// A NATS server with JetStream.
pub struct Broker {
    program: PathBuf,
    folder: TempDir,
    login: Option<(String, String)>,
    address: SocketAddr,
    child: Option<Child>,
}

impl Broker {
    /// `None`, and the test is over, when there is no server to test with. `tests/engines.rs` says so; where nothing may be
    /// skipped, it is a failure.
    pub async fn open() -> Option<Self> {
        Self::open_for(None).await
    }

    /// One that wants to know who comes.
    pub async fn open_for(login: Option<(&str, &str)>) -> Option<Self> {
        let Some(program) = std::env::var_os("TEST_NATS_SERVER") else {
            let may_skip = std::env::var_os("CI").is_none_or(|ci| ci != "true");
            assert!(may_skip, "TEST_NATS_SERVER=/path/to/nats-server is missing");
            return None;
        };
        let mut broker = Self {
            program: program.into(),
            folder: tempfile::tempdir().expect("a temporary folder"),
            login: login.map(|(user, password)| (user.to_owned(), password.to_owned())),
            address: free_address(),
            child: None,
        };
        broker.starts().await;
        Some(broker)
    }

    /// The URL for those who need not say who they are.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it, on the port and with the store that it had. It serves when this returns.
    pub async fn starts(&mut self) {
        assert!(self.child.is_none(), "it runs");
        let mut command = Command::new(&self.program);
        command.args(["--addr", &self.address.ip().to_string()]);
        command.args(["--port", &self.address.port().to_string(), "--jetstream"]);
        command.arg("--store_dir").arg(self.folder.path());
        if let Some((user, password)) = &self.login {
            command.args(["--user", user, "--pass", password]);
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.child = Some(child.expect("TEST_NATS_SERVER starts"));
        let address = self.address;
        eventually("the broker serves", || answers(address)).await;
    }

    /// SIGKILL: nothing is finished, nothing is said. What it has stored stays.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Its disk is lost while it is down.
    pub fn loses_everything(&mut self) {
        assert!(self.child.is_none(), "it runs");
        std::fs::remove_dir_all(self.folder.path()).expect("removed");
    }

    /// A connection of the test's own.
    pub async fn jetstream(&self) -> jetstream::Context {
        let mut options = async_nats::ConnectOptions::new();
        if let Some((user, password)) = &self.login {
            options = options.user_and_password(user.clone(), password.clone());
        }
        jetstream::new(options.connect(self.url()).await.expect("it answers"))
    }

    /// How many messages are in the stream, once a shop has made it.
    pub async fn stored(&self) -> u64 {
        let jetstream = self.jetstream().await;
        eventually("there is the stream", || async {
            jetstream.get_stream("BORING_CHECKOUT").await.is_ok()
        })
        .await;
        let stream = jetstream.get_stream("BORING_CHECKOUT").await;
        stream.expect("a stream").cached_info().state.messages
    }

    /// What the broker knows of a consumer, once it exists.
    pub async fn consumer(&self, name: &str) -> Info {
        let jetstream = self.jetstream().await;
        let stream = jetstream.get_stream_no_info("BORING_CHECKOUT").await;
        let stream = stream.expect("a name");
        eventually("there is the consumer", || async {
            stream.consumer_info(name).await.is_ok()
        })
        .await;
        stream.consumer_info(name).await.expect("it is there")
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// It cannot be reserved. Nobody else is likely to take it before the broker does, or while it is down.
fn free_address() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

/// It greets whoever comes, and only once it is ready.
async fn answers(address: SocketAddr) -> bool {
    let greeting = async {
        let mut connection = TcpStream::connect(address).await?;
        let mut greeting = [0; 4];
        connection.read_exact(&mut greeting).await?;
        std::io::Result::Ok(greeting)
    };
    matches!(timeout(Duration::from_secs(1), greeting).await, Ok(Ok(greeting)) if &greeting == b"INFO")
}

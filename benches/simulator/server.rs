//! The servers that are measured: real processes, ended with the round.

use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

pub struct Server {
    process: Child,
    address: SocketAddr,
    /// Keeps the database until the round ends.
    _folder: Option<TempDir>,
}

impl Server {
    pub fn in_memory() -> Self {
        Self::simulator("sqlite::memory:", None)
    }

    pub fn on_disk() -> Self {
        let folder = TempDir::new().unwrap();
        let url = format!("sqlite://{}", folder.path().join("provider.db").display());
        Self::simulator(&url, Some(folder))
    }

    fn simulator(database: &str, folder: Option<TempDir>) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_boring-checkout"))
            .args([
                "provider",
                "--listen",
                "127.0.0.1:0",
                "--log",
                "warn",
                "--database-url",
                database,
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (_, address) = line
            .trim_end()
            .rsplit_once("http://")
            .expect("a line with the URL");
        Self {
            address: address.parse().unwrap(),
            process,
            _folder: folder,
        }
    }

    pub fn localstripe(program: &Path) -> Self {
        let free = TcpListener::bind("[::]:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = Command::new(program)
            .args(["--from-scratch", "--port", &free.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], free));
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "localstripe did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            process,
            address,
            _folder: None,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn resident_kilobytes(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").trim().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

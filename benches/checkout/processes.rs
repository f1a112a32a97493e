//! The shop, the simulator and the naive shop, each a process of its own that ends with the run, and what they use up.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use super::disk::Syncs;

/// The program itself.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_boring-checkout");

/// Signs webhooks.
pub const WEBHOOK_SECRET: &str = "whsec_boring";

/// A process that serves.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// Starts it, and waits until it says where it is. Its log goes to `folder`.
    pub fn start(command: &mut Command, folder: &Path, name: &str) -> Self {
        let log = File::create(folder.join(format!("{name}.log"))).unwrap();
        let child = command.stdout(Stdio::piped()).stderr(log).spawn();
        let mut child = child.unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (_, address) = line
            .trim_end()
            .rsplit_once("http://")
            .unwrap_or_else(|| panic!("{name} does not start: see {}", folder.display()));
        let address = address.parse().unwrap();
        Self { child, address }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command that knows nothing of the environment that this one was started in.
pub fn command(program: impl AsRef<std::ffi::OsStr>, syncs: Option<&Syncs>) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    if let Some(syncs) = syncs {
        syncs.watch(&mut command);
    }
    command
}

/// Runs a command to its end, and returns what it printed.
pub fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A port that is free now.
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// Seconds of processor time that a process has used so far, with those children of its that have ended.
pub fn cpu_seconds(pid: u32) -> f64 {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return 0.0;
    };
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(4);
    ticks.map(|it| it.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

/// The same of a process and of all children that it has now.
pub fn cpu_seconds_of_family(parent: u32) -> f64 {
    let children = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        (parent_of(pid)? == parent).then_some(pid)
    });
    children.chain([parent]).map(cpu_seconds).sum()
}

pub fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// What a process has in memory now, in megabytes.
pub fn resident_megabytes(pid: u32) -> f64 {
    of_status(pid, "VmRSS:") / 1024.0
}

/// What it had at most.
pub fn most_resident_megabytes(pid: u32) -> f64 {
    of_status(pid, "VmHWM:") / 1024.0
}

/// What of it are files: the program, which is in memory once for all its processes.
pub fn file_megabytes(pid: u32) -> f64 {
    of_status(pid, "RssFile:") / 1024.0
}

fn of_status(pid: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

/// Bytes that a process has given to the disk so far.
pub fn written_bytes(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let line = io
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes:"));
    line.and_then(|it| it.trim().parse().ok())
        .unwrap_or_default()
}

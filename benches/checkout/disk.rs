//! The disk: how long a sync takes, and a disk that is slower than this one.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// The library that is put between a program and the disk.
const SYNCS: &str = include_str!("syncs.c");

/// How long a small write and its sync take, in milliseconds: the median of a hundred, or of those that a second has time for.
pub fn sync_milliseconds(folder: &Path) -> f64 {
    let path = folder.join("sync");
    let mut file = File::create(&path).unwrap();
    let mut took = Vec::new();
    let began = Instant::now();
    while took.len() < 100 && began.elapsed() < Duration::from_secs(1) {
        let one = Instant::now();
        file.write_all(&[0; 4096]).unwrap();
        file.sync_data().unwrap();
        took.push(one.elapsed());
    }
    std::fs::remove_file(path).unwrap();
    took.sort_unstable();
    took.get(took.len() / 2).unwrap().as_secs_f64() * 1000.0
}

/// Counts the syncs of the programs that it is given to, and makes each take longer.
#[derive(Clone, Debug)]
pub struct Syncs {
    library: PathBuf,
    count: PathBuf,
    delay: Duration,
}

impl Syncs {
    /// Compiles the library into `folder`.
    pub fn counted(folder: &Path, delay: Duration) -> Self {
        let (source, library) = (folder.join("syncs.c"), folder.join("syncs.so"));
        std::fs::write(&source, SYNCS).unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O2", "-o"])
            .arg(&library)
            .arg(&source)
            .arg("-ldl")
            .status();
        assert!(compiled.expect("there is a cc").success());
        let count = folder.join(format!("syncs-{}", delay.as_micros()));
        std::fs::write(&count, [0; 8]).unwrap();
        Self {
            library,
            count,
            delay,
        }
    }

    /// Puts the library before whatever `command` starts.
    pub fn watch(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("SYNCS_COUNT", &self.count)
            .env("SYNCS_DELAY_US", self.delay.as_micros().to_string());
    }

    /// How many there were so far.
    pub fn so_far(&self) -> u64 {
        let bytes = std::fs::read(&self.count).unwrap();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    }
}

//! A wire that a test holds in its hand: it can be slow, lead elsewhere, or nowhere, and break in the middle of a word.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// Forwards connections from an address of its own to wherever it leads at the moment.
pub struct Relay {
    pub address: SocketAddr,
    wire: Arc<Wire>,
}

#[derive(Default)]
struct Wire {
    target: Mutex<Option<SocketAddr>>,
    latency_ms: AtomicU64,
    swallows: AtomicBool,
    scissors: Mutex<Option<Scissors>>,
    cuts: AtomicUsize,
}

/// Decide where each connection is cut.
struct Scissors {
    rng: SmallRng,
    bytes_mean: u64,
}

impl Relay {
    /// One that leads nowhere yet: connections are closed at once.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let relay = Self {
            address: listener.local_addr().expect("an address"),
            wire: Arc::default(),
        };
        let wire = Arc::clone(&relay.wire);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(join(near, Arc::clone(&wire)));
            }
        });
        relay
    }

    /// From now on every piece of data takes so much longer, in each direction.
    pub fn takes(&self, latency: Duration) {
        let latency = u64::try_from(latency.as_millis()).expect("a short time");
        self.wire.latency_ms.store(latency, Ordering::Relaxed);
    }

    /// From now on nothing arrives any more, and nobody is told.
    pub fn swallows(&self) {
        self.wire.swallows.store(true, Ordering::Relaxed);
    }

    pub fn leads_to(&self, target: SocketAddr) {
        *self.wire.target.lock().expect("not poisoned") = Some(target);
    }

    /// From now on each new connection breaks after so many bytes as `seed` says, back and forth, `bytes_mean` on average:
    /// what came up to there has arrived, and nothing more.
    pub fn breaks(&self, seed: u64, bytes_mean: u64) {
        let rng = SmallRng::seed_from_u64(seed);
        *self.scissors() = Some(Scissors { rng, bytes_mean });
    }

    /// From now on nothing breaks, and nothing that is open either.
    pub fn mends(&self) {
        *self.scissors() = None;
    }

    /// How many connections were broken so far.
    pub fn broken(&self) -> usize {
        self.wire.cuts.load(Ordering::Relaxed)
    }

    fn scissors(&self) -> std::sync::MutexGuard<'_, Option<Scissors>> {
        self.wire.scissors.lock().expect("not poisoned")
    }
}

/// How much a connection still carries. `None`: everything.
type Length = Option<Arc<Mutex<u64>>>;

/// The connection is cut.
struct Cut;

async fn join(near: TcpStream, wire: Arc<Wire>) {
    let target: Option<SocketAddr> = *wire.target.lock().expect("not poisoned");
    let Some(target) = target else { return };
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    // Small pieces are not to wait for each other: both ends send at once what they send.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let length = wire.length();
    let (near_reads, near_writes) = near.into_split();
    let (far_reads, far_writes) = far.into_split();
    // The first cut drops both ends of both directions.
    let joined = tokio::try_join!(
        wire.carry(near_reads, far_writes, &length),
        wire.carry(far_reads, near_writes, &length),
    );
    if joined.is_err() {
        wire.cuts.fetch_add(1, Ordering::Relaxed);
    }
}

impl Wire {
    fn length(&self) -> Length {
        let mut scissors = self.scissors.lock().expect("not poisoned");
        let Scissors { rng, bytes_mean } = scissors.as_mut()?;
        let bytes = rng.random_range(1..=2 * *bytes_mean);
        Some(Arc::new(Mutex::new(bytes)))
    }

    async fn carry(
        &self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        length: &Length,
    ) -> Result<(), Cut> {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            let latency = self.latency_ms.load(Ordering::Relaxed);
            if latency > 0 {
                tokio::time::sleep(Duration::from_millis(latency)).await;
            }
            if self.swallows.load(Ordering::Relaxed) {
                continue;
            }
            let carried = self.carries(length, read);
            if to.write_all(&buffer[..carried]).await.is_err() {
                return Ok(());
            }
            if carried < read {
                return Err(Cut);
            }
        }
        let _ = to.shutdown().await;
        Ok(())
    }

    /// How many of so many bytes arrive.
    fn carries(&self, length: &Length, bytes: usize) -> usize {
        let is_mended = || self.scissors.lock().expect("not poisoned").is_none();
        let Some(length) = length else { return bytes };
        let mut left = length.lock().expect("not poisoned");
        let wanted = u64::try_from(bytes).expect("a buffer's length");
        if wanted <= *left || is_mended() {
            *left = left.saturating_sub(wanted);
            return bytes;
        }
        usize::try_from(std::mem::take(&mut *left)).expect("less than a buffer's length")
    }
}

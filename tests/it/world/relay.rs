//! A wire that a test holds in its hand: it can be slow, lead elsewhere, or nowhere.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

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
    target: Arc<Mutex<Option<SocketAddr>>>,
    latency_ms: Arc<AtomicU64>,
    swallows: Arc<AtomicBool>,
}

impl Relay {
    /// One that leads nowhere yet: connections are closed at once.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let relay = Self {
            address: listener.local_addr().expect("an address"),
            target: Arc::default(),
            latency_ms: Arc::default(),
            swallows: Arc::default(),
        };
        let (target, latency_ms) = (Arc::clone(&relay.target), Arc::clone(&relay.latency_ms));
        let swallows = Arc::clone(&relay.swallows);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let target: Option<SocketAddr> = *target.lock().expect("not poisoned");
                tokio::spawn(join(
                    near,
                    target,
                    Arc::clone(&latency_ms),
                    Arc::clone(&swallows),
                ));
            }
        });
        relay
    }

    /// From now on every piece of data takes so much longer, in each direction.
    pub fn takes(&self, latency: Duration) {
        let latency = u64::try_from(latency.as_millis()).expect("a short time");
        self.latency_ms.store(latency, Ordering::Relaxed);
    }

    /// From now on nothing arrives any more, and nobody is told.
    pub fn swallows(&self) {
        self.swallows.store(true, Ordering::Relaxed);
    }

    pub fn leads_to(&self, target: SocketAddr) {
        *self.target.lock().expect("not poisoned") = Some(target);
    }
}

async fn join(
    near: TcpStream,
    target: Option<SocketAddr>,
    latency_ms: Arc<AtomicU64>,
    swallows: Arc<AtomicBool>,
) {
    let Some(target) = target else { return };
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    let (near_reads, near_writes) = near.into_split();
    let (far_reads, far_writes) = far.into_split();
    tokio::join!(
        carry(near_reads, far_writes, &latency_ms, &swallows),
        carry(far_reads, near_writes, &latency_ms, &swallows),
    );
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    latency_ms: &AtomicU64,
    swallows: &AtomicBool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let latency = latency_ms.load(Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(latency)).await;
        if swallows.load(Ordering::Relaxed) {
            continue;
        }
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

//! A wire that a test holds in its hand: it can be slow, lead elsewhere, or nowhere.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
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
}

impl Relay {
    /// One that leads nowhere yet: connections are closed at once.
    pub async fn open() -> Self {
        Self::with_latency(Duration::ZERO).await
    }

    /// One on which every piece of data takes `latency` longer, in each direction.
    pub async fn with_latency(latency: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let target = Arc::new(Mutex::new(None));
        let leads = Arc::clone(&target);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let target: Option<SocketAddr> = *leads.lock().expect("not poisoned");
                tokio::spawn(join(near, target, latency));
            }
        });
        Self { address, target }
    }

    pub fn leads_to(&self, target: SocketAddr) {
        *self.target.lock().expect("not poisoned") = Some(target);
    }
}

async fn join(near: TcpStream, target: Option<SocketAddr>, latency: Duration) {
    let Some(target) = target else { return };
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    let (near_reads, near_writes) = near.into_split();
    let (far_reads, far_writes) = far.into_split();
    tokio::join!(
        carry(near_reads, far_writes, latency),
        carry(far_reads, near_writes, latency),
    );
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, latency: Duration) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        tokio::time::sleep(latency).await;
        if to.write_all(&buffer[..read]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}

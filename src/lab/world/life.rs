//! A life: one process of a shop, as far as it can be one within this process.
//!
//! It has a thread and a runtime of its own. When it ends, every task is dropped wherever it is: caches, counts and queues
//! are gone, connections are closed, and the database rolls back what was not committed. Whatever comes next has only what
//! is on disk.

use std::{sync::Arc, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    lab::flow::{Failed, Flow, Opening, Premises},
    waits,
};

/// Opens a process of a shop.
pub type Open = fn(Premises) -> Opening;

/// A process.
pub struct Life {
    flow: Arc<dyn Flow>,
    runtime: Handle,
    stop: CancellationToken,
    ended: CancellationToken,
}

impl Life {
    /// Opens one in a thread of its own.
    pub async fn begin(open: Open, premises: Premises) -> Result<Self, Failed> {
        let (stop, ended) = (CancellationToken::new(), CancellationToken::new());
        let (tell, told) = oneshot::channel();
        let (end, at_the_end) = (stop.clone(), ended.clone().drop_guard());
        thread::Builder::new()
            .name("life".to_owned())
            .spawn(move || {
                let _at_the_end = at_the_end;
                waits::none_on_this_thread();
                let runtime = match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime,
                    Err(error) => return drop(tell.send(Err(error.into()))),
                };
                runtime.block_on(async {
                    let opened = open(premises).await;
                    let opened = opened.map(|flow| (flow, Handle::current()));
                    if tell.send(opened).is_ok() {
                        end.cancelled().await;
                    }
                });
                // Here every task is dropped, wherever it is.
                drop(runtime);
            })?;
        let (flow, runtime) = told.await??;
        Ok(Self {
            flow,
            runtime,
            stop,
            ended,
        })
    }

    /// The shop in it.
    pub fn flow(&self) -> &Arc<dyn Flow> {
        &self.flow
    }

    /// Lets something go on in it.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.runtime.spawn(work)
    }

    /// Ends it, wherever it is, and waits until nothing of it is left but what others hold.
    pub async fn end(&self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

//! What breaks in a history, and where.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use boring_checkout::lab::world::{Fault, Moment, Plan};

/// What will break.
#[derive(Clone, Default)]
pub struct Faults(Arc<Mutex<Armed>>);

#[derive(Default)]
struct Armed {
    /// At which boundary at the earliest, and what.
    faults: Vec<(usize, Fault)>,
    struck: usize,
}

impl Faults {
    pub fn arm(&self, at: usize, fault: Fault) {
        self.armed().faults.push((at, fault));
    }

    pub fn mend(&self) {
        self.armed().faults.clear();
    }

    pub fn struck(&self) -> usize {
        self.armed().struck
    }

    fn strike(&self, moment: &Moment) -> Option<Fault> {
        let mut armed = self.armed();
        let here =
            |(at, fault): &(usize, Fault)| *at <= moment.number && fault.fits(moment.boundary);
        let next = armed.faults.iter().position(here)?;
        armed.struck += 1;
        Some(armed.faults.remove(next).1)
    }

    pub fn plan(&self) -> Plan {
        let faults = self.clone();
        Arc::new(move |moment| faults.strike(moment))
    }

    fn armed(&self) -> MutexGuard<'_, Armed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

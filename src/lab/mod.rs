//! The lab: what shows that nothing is lost or doubled, wherever something breaks.
//!
//! 1. [`flow`]: what a customer and the world can do to a shop, whichever shop it is.
//! 2. [`safe`]: the shop of this crate, as a flow.
//! 3. [`naive`]: its twin, written as most people write it: the control.
//! 4. [`world`]: a shop that lives in this process and can be killed at any point, with everything around it.
//! 5. [`story`]: what people do there: they try again.
//! 6. [`sweep`]: every fault at every boundary of a story.

pub mod flow;
pub mod naive;
pub mod safe;
pub mod story;
pub mod sweep;
pub mod world;

//! The lab: what shows that nothing is lost or doubled, wherever something breaks.
//!
//! 1. [`flow`]: what a customer and the world can do to a shop, whichever shop it is.
//! 2. [`safe`]: the shop of this crate, as a flow.
//! 3. [`naive`]: its twin, written as most people write it: the control.
//! 4. [`world`]: a shop that lives in this process and can be killed at any point, with everything around it.
//! 5. [`story`]: what people do there: they try again.
//! 6. [`sweep`]: every fault at every boundary of a story.
//!
//! What the running shop shows of it at `/lab`:
//!
//! 7. [`trail`]: the recent lines of the log, kept by the checkout that they are about.
//! 8. [`runs`]: a scenario, played twice on the running shop's own database and provider.
//! 9. [`source`]: where each step is done.
//! 10. [`reset`]: starting over.
//! 11. [`desk`]: what the lab's pages have at hand.

mod bank;
pub mod desk;
pub mod flow;
pub mod naive;
pub mod reset;
pub mod runs;
pub mod safe;
pub mod source;
pub mod story;
pub mod sweep;
pub mod trail;
pub mod world;

pub use self::desk::Lab;

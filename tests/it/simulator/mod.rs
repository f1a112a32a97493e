//! The simulator, over HTTP.

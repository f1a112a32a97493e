//! The payment provider simulator: the other side of the wire.

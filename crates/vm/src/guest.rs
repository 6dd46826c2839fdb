//! What runs inside a guest.

/// The guest's `/init`: a script for busybox's shell.
pub const INIT: &str = include_str!("guest/init.sh");

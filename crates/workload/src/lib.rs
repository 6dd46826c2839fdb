//! Programs as data: what a benchmark's tasks do.

//! This computer: what is set on it and put back, how commands run on it, and what spoils their times.
//!
//! Everything here reads and writes files of the running kernel below a root, `/` but for tests.

//! Tasks' names, each with a number.

use crate::event::Comm;
use prost::bytes::Bytes;
use std::collections::HashMap;

/// All names so far; looked up, never gone through.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<Comm, usize>,
    bytes: Vec<Bytes>,
}

impl Names {
    /// The number of `comm`, from 0 in the order of appearance.
    pub fn number(&mut self, comm: Comm) -> usize {
        let bytes = &mut self.bytes;
        *self.numbers.entry(comm).or_insert_with(|| {
            bytes.push(Bytes::copy_from_slice(comm.as_bytes()));
            bytes.len() - 1
        })
    }

    /// The name of a number.
    pub fn bytes(&self, number: usize) -> Option<Bytes> {
        self.bytes.get(number).cloned()
    }
}

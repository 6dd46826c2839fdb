//! Tasks' names, each with a number.

use crate::event::{Comm, Task};
use prost::bytes::Bytes;
use std::collections::HashMap;

/// Process numbers up to which the last name is kept.
const KEPT: usize = 1 << 16;

/// All names so far; looked up, never gone through.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<Comm, usize>,
    bytes: Vec<Bytes>,
    /// By process number: the name that it had last, and its number. Most tasks keep theirs, which saves the search.
    last: Vec<Option<(Comm, usize)>>,
}

impl Names {
    /// The number of the name of `task`, from 0 in the order of appearance.
    pub(super) fn number(&mut self, task: &Task) -> usize {
        let at = task.pid as usize;
        if let Some(&Some((comm, number))) = self.last.get(at)
            && comm == task.comm
        {
            return number;
        }
        let number = self.find(task.comm);
        if self.last.len() <= at && at < KEPT {
            self.last.resize(at + 1, None);
        }
        if let Some(last) = self.last.get_mut(at) {
            *last = Some((task.comm, number));
        }
        number
    }

    fn find(&mut self, comm: Comm) -> usize {
        let bytes = &mut self.bytes;
        *self.numbers.entry(comm).or_insert_with(|| {
            bytes.push(Bytes::copy_from_slice(comm.as_bytes()));
            bytes.len() - 1
        })
    }

    /// The name of a number.
    pub(super) fn bytes(&self, number: usize) -> Option<Bytes> {
        self.bytes.get(number).cloned()
    }
}

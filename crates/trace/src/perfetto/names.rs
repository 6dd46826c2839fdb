//! Numbers for task names.

use crate::event::{Comm, Task};
use prost::bytes::Bytes;
use std::collections::HashMap;

/// PIDs up to which the last name is remembered.
const KEPT: usize = 1 << 16;

/// All names so far. Used for look-up only, never iterated.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<Comm, usize>,
    bytes: Vec<Bytes>,
    /// By PID: its last name and the name's number. Most tasks keep their name, which saves the search.
    last: Vec<Option<(Comm, usize)>>,
}

impl Names {
    /// Number of the name of `task`, from 0 in order of appearance.
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

    /// The name with this number.
    pub(super) fn bytes(&self, number: usize) -> Option<Bytes> {
        self.bytes.get(number).cloned()
    }
}

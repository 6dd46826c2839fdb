//! The event queue: one slot for each CPU and each task, a heap that updates in place.
//!
//! A slot holds at most one pending event, so nothing stale is ever popped. Slots at the same time come in the
//! order of a random key drawn when the event was set.

use crate::rng::{Purpose, Stream};

/// No event.
pub const NEVER: u64 = u64::MAX;
const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time_ns: u64,
    tie: u32,
    slot: u32,
}

/// The queue.
#[derive(Debug)]
pub struct Events {
    heap: Vec<Key>,
    position: Vec<u32>,
    ties: Stream,
}

impl Events {
    /// A queue of `slots` empty slots.
    pub fn new(slots: usize, seed: u64) -> Events {
        Events {
            heap: Vec::with_capacity(slots),
            position: vec![ABSENT; slots],
            ties: Stream::new(seed, Purpose::Ties),
        }
    }

    /// Adds a slot at the end and returns its number.
    pub fn add_slot(&mut self) -> u32 {
        self.position.push(ABSENT);
        self.position.len() as u32 - 1
    }

    /// Sets the event of `slot` to `time_ns`, or clears it with [`NEVER`].
    pub fn set(&mut self, slot: u32, time_ns: u64) {
        let at = self.position[slot as usize];
        if time_ns == NEVER {
            if at != ABSENT {
                self.remove(at as usize);
            }
            return;
        }
        if at == ABSENT {
            let key = Key { time_ns, tie: self.ties.bits(), slot };
            self.heap.push(key);
            self.up(self.heap.len() - 1, key);
            return;
        }
        let old = self.heap[at as usize];
        if old.time_ns == time_ns {
            return;
        }
        let key = Key { time_ns, tie: self.ties.bits(), slot };
        if key < old { self.up(at as usize, key) } else { self.down(at as usize, key) }
    }

    /// Takes the earliest event: its time and slot.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        let first = *self.heap.first()?;
        self.remove(0);
        Some((first.time_ns, first.slot))
    }

    fn remove(&mut self, at: usize) {
        self.position[self.heap[at].slot as usize] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        if at == self.heap.len() {
            return;
        }
        if at > 0 && last < self.heap[(at - 1) / ARITY] {
            self.up(at, last);
        } else {
            self.down(at, last);
        }
    }

    fn place(&mut self, at: usize, key: Key) {
        self.heap[at] = key;
        self.position[key.slot as usize] = at as u32;
    }

    fn up(&mut self, mut at: usize, key: Key) {
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] < key {
                break;
            }
            self.place(at, self.heap[parent]);
            at = parent;
        }
        self.place(at, key);
    }

    fn down(&mut self, mut at: usize, key: Key) {
        loop {
            let first = at * ARITY + 1;
            let last = (first + ARITY).min(self.heap.len());
            let Some(least) = (first..last).min_by_key(|&i| self.heap[i]) else { break };
            if key < self.heap[least] {
                break;
            }
            self.place(at, self.heap[least]);
            at = least;
        }
        self.place(at, key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map from slot to time: the same events come out, in order of time.
        #[test]
        fn agrees_with_a_map(steps in prop::collection::vec((0u32..12, 0u64..50, any::<bool>()), 1..200)) {
            let mut events = Events::new(12, 1);
            let mut map: BTreeMap<u32, u64> = BTreeMap::new();
            for (slot, time, pop) in steps {
                if pop {
                    match events.pop() {
                        None => prop_assert!(map.is_empty()),
                        Some((t, s)) => {
                            prop_assert_eq!(map.remove(&s), Some(t));
                            prop_assert!(map.values().all(|&other| other >= t));
                        }
                    }
                } else if time == 49 {
                    events.set(slot, NEVER);
                    map.remove(&slot);
                } else {
                    events.set(slot, time);
                    map.insert(slot, time);
                }
            }
            let mut last = 0;
            while let Some((t, s)) = events.pop() {
                prop_assert!(t >= last);
                last = t;
                prop_assert_eq!(map.remove(&s), Some(t));
            }
            prop_assert!(map.is_empty());
        }
    }
}

//! The event queue: one slot for each CPU and each task, a heap that updates in place.
//!
//! A slot holds at most one pending event, so nothing stale is ever popped. Slots at the same time come in the
//! order of a random key drawn when the event was set.

use crate::rng::{Purpose, Stream};

/// No event.
pub const NEVER: u64 = u64::MAX;
const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// Time, tie and slot in one number, so that comparing keys takes no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u128);

impl Key {
    fn new(time_ns: u64, tie: u32, slot: u32) -> Key {
        Key(u128::from(time_ns) << 64 | u128::from(tie) << 32 | u128::from(slot))
    }

    fn time_ns(self) -> u64 {
        (self.0 >> 64) as u64
    }

    fn slot(self) -> u32 {
        self.0 as u32
    }
}

/// The queue.
#[derive(Debug)]
pub struct Events {
    heap: Vec<Key>,
    position: Vec<u32>,
    /// The slot popped last, still in the heap: most often it is set again, which then moves it once.
    popped: Option<u32>,
    ties: Stream,
}

impl Events {
    /// A queue of `slots` empty slots.
    pub fn new(slots: usize, seed: u64) -> Events {
        Events {
            heap: Vec::with_capacity(2 * slots),
            position: vec![ABSENT; slots],
            popped: None,
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
            if at != ABSENT && self.popped != Some(slot) {
                self.remove(at as usize);
            }
            return;
        }
        if at == ABSENT {
            let key = Key::new(time_ns, self.ties.bits(), slot);
            self.heap.push(key);
            self.up(self.heap.len() - 1, key);
            return;
        }
        let old = self.heap[at as usize];
        if self.popped == Some(slot) {
            self.popped = None;
        } else if old.time_ns() == time_ns {
            return;
        }
        let key = Key::new(time_ns, self.ties.bits(), slot);
        if key < old { self.up(at as usize, key) } else { self.down(at as usize, key) }
    }

    /// Takes the earliest event: its time and slot.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        if let Some(slot) = self.popped.take() {
            self.remove(self.position[slot as usize] as usize);
        }
        let first = *self.heap.first()?;
        self.popped = Some(first.slot());
        Some((first.time_ns(), first.slot()))
    }

    fn remove(&mut self, at: usize) {
        self.position[self.heap[at].slot() as usize] = ABSENT;
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
        self.position[key.slot() as usize] = at as u32;
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
            let Some((&head, rest)) = self.heap.get(first..).and_then(<[Key]>::split_first) else {
                break;
            };
            let (mut least, mut child) = (head, first);
            for (i, &other) in rest.iter().take(ARITY - 1).enumerate() {
                let less = other < least;
                child = if less { first + 1 + i } else { child };
                least = if less { other } else { least };
            }
            if key < least {
                break;
            }
            self.place(at, least);
            at = child;
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

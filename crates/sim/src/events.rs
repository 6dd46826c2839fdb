//! The event queue: one slot for each CPU and each task, under a tree of minima.
//!
//! A slot holds at most one pending event, so nothing stale is ever popped. Slots at the same time come in the
//! order of random bits drawn when the event was set, and where these agree too in the order of slots. Most events that
//! are set are not the first of their node and do not become it; then nothing above the slot changes.

use crate::rng::{Purpose, Stream};

/// No event.
pub const NEVER: u64 = u64::MAX;
const ARITY: usize = 8;

/// Bits of a key that break ties.
const TIE_BITS: u32 = 16;
/// The end of time, some 78 hours from the start: a later event comes then.
pub const HORIZON_NS: u64 = (1 << (u64::BITS - TIE_BITS)) - 2;

/// Time and tie in one number, so that comparing keys takes no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    /// An empty slot, after every event.
    const ABSENT: Key = Key(u64::MAX);

    fn new(time_ns: u64, tie: u32) -> Key {
        Key(time_ns.min(HORIZON_NS) << TIE_BITS | u64::from(tie >> (u32::BITS - TIE_BITS)))
    }

    fn time_ns(self) -> u64 {
        self.0 >> TIE_BITS
    }
}

/// Keys of as many slots, or the least keys of as many nodes of the level below.
type Node = [Key; ARITY];

fn least(&[a, b, c, d, e, f, g, h]: &Node) -> Key {
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

/// The queue.
#[derive(Debug)]
pub struct Events {
    /// From the slots up to a single node.
    levels: Vec<Vec<Node>>,
    /// The least key of all.
    first: Key,
    slots: u32,
    /// The slot popped last, still in the tree: most often it is set again, which then changes it once.
    popped: Option<u32>,
    ties: Stream,
}

impl Events {
    /// A queue of `slots` empty slots.
    pub fn new(slots: usize, seed: u64) -> Events {
        let mut events = Events {
            levels: Vec::new(),
            first: Key::ABSENT,
            slots: slots as u32,
            popped: None,
            ties: Stream::new(seed, Purpose::Ties),
        };
        events.grow();
        events
    }

    /// Adds a slot at the end and returns its number.
    pub fn add_slot(&mut self) -> u32 {
        self.slots += 1;
        self.grow();
        self.slots - 1
    }

    /// Makes room for all slots on every level.
    fn grow(&mut self) {
        let (mut nodes, mut level) = ((self.slots as usize).div_ceil(ARITY).max(1), 0);
        loop {
            if level == self.levels.len() {
                let mut below = [Key::ABSENT; ARITY];
                below[0] = self.first;
                self.levels.push(vec![below]);
            }
            self.levels[level].resize(nodes, [Key::ABSENT; ARITY]);
            if nodes == 1 {
                return;
            }
            (nodes, level) = (nodes.div_ceil(ARITY), level + 1);
        }
    }

    fn key(&self, slot: u32) -> Key {
        self.levels[0][slot as usize / ARITY][slot as usize % ARITY]
    }

    /// Sets the event of `slot` to `time_ns`, or clears it with [`NEVER`].
    pub fn set(&mut self, slot: u32, time_ns: u64) {
        let old = self.key(slot);
        if time_ns == NEVER {
            if old != Key::ABSENT && self.popped != Some(slot) {
                self.put(slot, Key::ABSENT);
            }
            return;
        }
        if self.popped == Some(slot) {
            self.popped = None;
        } else if old.time_ns() == time_ns {
            return;
        }
        let key = Key::new(time_ns, self.ties.bits());
        self.put(slot, key);
    }

    /// Sets the event of `slot` ahead of most others of that time. It draws nothing, so that the order of other events
    /// is what it would be without it.
    pub fn set_ahead(&mut self, slot: u32, time_ns: u64) {
        if self.popped == Some(slot) {
            self.popped = None;
        }
        self.put(slot, Key::new(time_ns, 0));
    }

    /// When the earliest event is due; [`NEVER`] without one.
    pub fn next_ns(&mut self) -> u64 {
        if let Some(slot) = self.popped.take() {
            self.put(slot, Key::ABSENT);
        }
        if self.first == Key::ABSENT { NEVER } else { self.first.time_ns() }
    }

    /// Takes the earliest event: its time and slot.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        if let Some(slot) = self.popped.take() {
            self.put(slot, Key::ABSENT);
        }
        if self.first == Key::ABSENT {
            return None;
        }
        let slot = self.first_slot();
        self.popped = Some(slot);
        Some((self.first.time_ns(), slot))
    }

    /// The slot that holds the least key.
    fn first_slot(&self) -> u32 {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let child = level[at].iter().position(|&key| key == self.first);
            at = at * ARITY + child.unwrap_or(0);
        }
        at as u32
    }

    /// Gives `slot` a key, and the nodes above it their least keys, as far up as they change.
    fn put(&mut self, slot: u32, key: Key) {
        let (mut at, mut new) = (slot as usize, key);
        for i in 0..self.levels.len() {
            let node = &mut self.levels[i][at / ARITY];
            let old = std::mem::replace(&mut node[at % ARITY], new);
            let above = at / ARITY;
            let before =
                self.levels.get(i + 1).map_or(self.first, |l| l[above / ARITY][above % ARITY]);
            if new > before {
                if old != before {
                    return;
                }
                new = least(&self.levels[i][above]);
            }
            at = above;
        }
        self.first = new;
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

//! The event queue: one slot for each CPU and each task, under a tree of minima.
//!
//! A slot holds at most one pending event, so nothing stale is ever popped. Slots at the same time come in the
//! order of random bits drawn when the event was set, and where these agree too in the order of slots. What one event
//! sets lies close together most often (a CPU and its siblings), so minima are taken when the next event is asked for,
//! once for all slots of a node.

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

/// The first place of `key`, which is in the node; without a branch, which random keys would mispredict.
fn place(node: &Node, key: Key) -> usize {
    let mut at = 0;
    for i in (0..ARITY).rev() {
        at = if node[i] == key { i } else { at };
    }
    at
}

/// The queue.
#[derive(Debug)]
pub struct Events {
    /// Nodes of all levels, those that hold the slots first, a single one last.
    nodes: Vec<Node>,
    /// Where the nodes of each level begin.
    levels: Vec<usize>,
    slots: u32,
    /// Nodes of slots that changed since the minima were taken, and whether one is among them.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    ties: Stream,
}

impl Events {
    /// A queue of `slots` empty slots.
    pub fn new(slots: usize, seed: u64) -> Events {
        let mut events = Events {
            nodes: Vec::new(),
            levels: Vec::new(),
            slots: slots as u32,
            changed: Vec::new(),
            is_changed: Vec::new(),
            ties: Stream::new(seed, Purpose::Ties),
        };
        events.grow();
        events
    }

    /// Adds a slot at the end and returns its number.
    pub fn add_slot(&mut self) -> u32 {
        self.slots += 1;
        if self.slots as usize > self.is_changed.len() * ARITY {
            self.grow();
        }
        self.slots - 1
    }

    /// Makes room for all slots and as many again, and has all minima taken anew.
    fn grow(&mut self) {
        let mut nodes = (self.slots as usize).div_ceil(ARITY).next_power_of_two();
        let mut keys = std::mem::take(&mut self.nodes);
        keys.truncate(self.is_changed.len());
        keys.resize(nodes, [Key::ABSENT; ARITY]);
        self.is_changed = vec![true; nodes];
        self.changed = (0..nodes as u32).collect();
        self.levels = vec![0];
        while nodes > 1 {
            self.levels.push(keys.len());
            nodes = nodes.div_ceil(ARITY);
            keys.resize(keys.len() + nodes, [Key::ABSENT; ARITY]);
        }
        self.nodes = keys;
    }

    /// Sets the event of `slot` to `time_ns`, or clears it with [`NEVER`].
    pub fn set(&mut self, slot: u32, time_ns: u64) {
        let old = self.nodes[slot as usize / ARITY][slot as usize % ARITY];
        if time_ns == NEVER {
            if old != Key::ABSENT {
                self.put(slot, Key::ABSENT);
            }
        } else if old == Key::ABSENT || old.time_ns() != time_ns {
            let key = Key::new(time_ns, self.ties.bits());
            self.put(slot, key);
        }
    }

    /// Sets the event of `slot` ahead of most others of that time. It draws nothing, so that the order of other events
    /// is what it would be without it.
    pub fn set_ahead(&mut self, slot: u32, time_ns: u64) {
        self.put(slot, Key::new(time_ns, 0));
    }

    /// When the earliest event is due; [`NEVER`] without one.
    pub fn next_ns(&mut self) -> u64 {
        match self.first() {
            Some(Key::ABSENT) | None => NEVER,
            Some(first) => first.time_ns(),
        }
    }

    /// Takes the earliest event: its time and slot.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        let first = self.first().filter(|&first| first != Key::ABSENT)?;
        let mut at = 0;
        for &level in self.levels.iter().rev() {
            at = at * ARITY + place(&self.nodes[level + at], first);
        }
        self.put(at as u32, Key::ABSENT);
        Some((first.time_ns(), at as u32))
    }

    /// The least key of all, with all minima up to date.
    fn first(&mut self) -> Option<Key> {
        while let Some(node) = self.changed.pop() {
            self.take_minima(node as usize);
        }
        self.nodes.last().map(least)
    }

    /// Brings the minima above a node of slots up to date, as far up as they change.
    fn take_minima(&mut self, node: usize) {
        self.is_changed[node] = false;
        let mut at = node;
        for i in 1..self.levels.len() {
            let new = least(&self.nodes[self.levels[i - 1] + at]);
            let above = &mut self.nodes[self.levels[i] + at / ARITY][at % ARITY];
            if std::mem::replace(above, new) == new {
                return;
            }
            at /= ARITY;
        }
    }

    fn put(&mut self, slot: u32, key: Key) {
        let node = slot as usize / ARITY;
        self.nodes[node][slot as usize % ARITY] = key;
        if !std::mem::replace(&mut self.is_changed[node], true) {
            self.changed.push(node as u32);
        }
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
        fn agrees_with_a_map(steps in prop::collection::vec((0u32..70, 0u64..50, 0u8..8), 1..400)) {
            let mut events = Events::new(5, 1);
            let mut slots = 5;
            let mut map: BTreeMap<u32, u64> = BTreeMap::new();
            for (slot, time, action) in steps {
                while slots <= slot {
                    prop_assert_eq!(events.add_slot(), slots);
                    slots += 1;
                }
                if action < 3 {
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

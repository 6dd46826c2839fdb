//! A machine in the form of the C interface, with the memory behind its pointers.

use crate::abi::{IdleState, Level, Machine, Place, level_flag};
use machine::CpuSet;
use std::ffi::CString;
use tree::Shape;

/// The machine and all that it points at. Nothing of it moves once it is made.
pub(crate) struct Boards {
    machine: Machine,
    _places: Vec<Place>,
    _levels: Vec<Level>,
    _distances: Vec<u32>,
    _idle_states: Vec<IdleState>,
    _names: Vec<CString>,
    _masks: Vec<Box<[u64]>>,
}

/// Masks as words, kept until the end.
struct Masks {
    words: usize,
    kept: Vec<Box<[u64]>>,
}

impl Masks {
    /// Masks one behind the other.
    fn keep<'a>(&mut self, sets: impl IntoIterator<Item = &'a CpuSet>) -> *const u64 {
        let mut words = Vec::new();
        for set in sets {
            let start = words.len();
            words.resize(start + self.words, 0u64);
            set.iter().for_each(|cpu| words[start + cpu / 64] |= 1 << (cpu % 64));
        }
        let words = words.into_boxed_slice();
        let pointer = words.as_ptr();
        self.kept.push(words);
        pointer
    }
}

impl Boards {
    /// CPUs of the machine in words.
    pub(crate) fn mask(&self, set: &CpuSet) -> Vec<u64> {
        let mut words = vec![0; (self.machine.cpus as usize).div_ceil(64)];
        set.iter().for_each(|cpu| words[cpu / 64] |= 1 << (cpu % 64));
        words
    }

    /// `shape` for a library.
    pub(crate) fn of(shape: &Shape) -> Boards {
        let mut masks = Masks { words: shape.places.len().div_ceil(64), kept: Vec::new() };
        let places: Vec<Place> = shape
            .places
            .iter()
            .map(|p| Place {
                core: p.core,
                cluster: p.cluster,
                package: p.package,
                node: p.node,
                capacity: p.capacity,
                llc_bytes: p.llc_bytes,
                priority: 0,
                smt: masks.keep([&p.smt]),
                cluster_cpus: masks.keep([&p.cluster_cpus]),
                package_cpus: masks.keep([&p.package_cpus]),
                llc: masks.keep([&p.llc]),
            })
            .collect();
        let of_levels = shape.levels.iter().map(|l| &l.name);
        let of_states = shape.idle_states.iter().map(|s| &s.name);
        let text = |name: &String| CString::new(name.as_str()).unwrap_or_default();
        let names: Vec<CString> = of_levels.chain(of_states).map(text).collect();
        let (_, of_states) = names.split_at(shape.levels.len());
        let idle_states: Vec<IdleState> = shape
            .idle_states
            .iter()
            .zip(of_states)
            .enumerate()
            .map(|(i, (state, name))| {
                let polling = shape.polling.filter(|_| i == 0);
                IdleState {
                    name: name.as_ptr(),
                    exit_ns: state.exit_latency_ns,
                    residency_ns: state.target_residency_ns,
                    poll_ns: polling.map_or(0, |p| p.limit_ns.unwrap_or(u64::MAX)),
                    flagged: polling.is_some_and(|p| p.is_flagged).into(),
                }
            })
            .collect();
        let levels: Vec<Level> = shape
            .levels
            .iter()
            .zip(&names)
            .map(|(l, name)| Level {
                name: name.as_ptr(),
                flags: flags(l),
                masks: masks.keep(&l.masks),
            })
            .collect();
        let distances: Vec<u32> = shape.distances.iter().flatten().copied().collect();
        let machine = Machine {
            cpus: places.len() as u32,
            nodes: shape.distances.len() as u32,
            levels: levels.len() as u32,
            places: places.as_ptr(),
            distances: distances.as_ptr(),
            level: levels.as_ptr(),
            idle_states: idle_states.len() as u32,
            idle_state: idle_states.as_ptr(),
            reclaim_distance: shape.reclaim_distance,
        };
        let (_places, _levels, _distances, _idle_states, _names, _masks) =
            (places, levels, distances, idle_states, names, masks.kept);
        Boards { machine, _places, _levels, _distances, _idle_states, _names, _masks }
    }

    /// As a library takes it.
    pub(crate) fn cpus(&self) -> usize {
        self.machine.cpus as usize
    }

    pub(crate) fn machine(&self) -> *const Machine {
        &self.machine
    }
}

fn flags(level: &tree::Level) -> u32 {
    let flags = [
        (level.shares_capacity, level_flag::SHARES_CAPACITY),
        (level.shares_cluster, level_flag::SHARES_CLUSTER),
        (level.shares_llc, level_flag::SHARES_LLC),
        (level.asym_packing, level_flag::ASYM_PACKING),
    ];
    flags.into_iter().filter(|(has, _)| *has).map(|(_, flag)| flag).sum()
}

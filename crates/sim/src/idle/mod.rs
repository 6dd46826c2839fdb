//! Choice of idle state, as cpuidle's menu governor makes it (`drivers/cpuidle/governors/menu.c`).
//!
//! The governor predicts how long a CPU will be idle: the typical interval of its last idle periods, or the time to the next timer
//! times a correction factor, whichever is shorter. It takes the deepest state that pays within that time. Where that would be
//! polling, it takes the first state that sleeps instead, unless a timer is near. A short prediction keeps the tick going, whose
//! next interrupt makes the governor choose again.
//!
//! 5.10, 6.1, 6.12 and 7.3 are read from their sources; releases before 5.10 are taken to choose as 5.10 does.

mod typical;

use crate::events::NEVER;
use kernel::cpuidle::{Polling, polling};
use kernel::{Kernel, Version};
use machine::{IdleState, Machine};
pub use typical::Intervals;
use typical::Outliers;

/// Orders of magnitude of the time to the next timer, each with its correction factor; twice as many, as CPUs for which a task
/// waits for I/O have their own before 6.12.
const BUCKETS: usize = 6;
/// Of correction factors: 1 is `RESOLUTION * DECAY`.
const RESOLUTION: u64 = 1024;
const DECAY: u64 = 8;
/// An idle period that counts as long, in ns (`MAX_INTERESTING`).
const LONG_NS: u64 = 50_000_000;
/// Below this no timer is asked for from 6.6 on, and states that pay later do not replace polling from 6.12 on
/// (`RESIDENCY_THRESHOLD_NS`).
const THRESHOLD_NS: u64 = 15_000;
/// A longer time to a timer is as good as none.
const FAR_NS: u64 = 1 << 40;

/// What releases differ in.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// A short typical interval is taken as it is, whatever timers there are.
    skips_timers: bool,
    /// The exit latency may be the predicted time at most, a part of it where tasks wait for I/O (`performance_multiplier()`).
    weighs_latency: bool,
    /// Only a state that pays soon replaces polling.
    bounds_override: bool,
    outliers: Outliers,
}

/// The governor, and the states that it chooses among.
#[derive(Debug)]
pub struct Menu {
    rules: Rules,
    states: Vec<IdleState>,
    polling: Option<Polling>,
    tick_ns: u64,
}

/// What it remembers of a CPU (`struct menu_device`).
#[derive(Debug, Clone)]
pub struct Memory {
    intervals: Intervals,
    factors: [u32; 2 * BUCKETS],
    bucket: usize,
    next_timer_ns: u64,
    state: usize,
}

impl Default for Memory {
    fn default() -> Memory {
        let factors = [(RESOLUTION * DECAY) as u32; 2 * BUCKETS];
        let intervals = Intervals::default();
        Memory { intervals, factors, bucket: 0, next_timer_ns: NEVER, state: 0 }
    }
}

/// What a CPU that goes idle has before it.
#[derive(Debug, Clone, Copy)]
pub struct Ahead {
    /// Time to its next timer without the tick, in ns.
    pub timer_ns: u64,
    /// Time to its next tick, in ns.
    pub tick_ns: u64,
    /// Tasks that wait for I/O and slept on it.
    pub waits_for_io: u32,
}

/// What the governor says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The state, by its index.
    pub state: usize,
    /// Whether the tick stops.
    pub stops_tick: bool,
}

/// Why an idle period ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By the tick.
    Tick,
    /// It polled for long enough.
    PollLimit,
    /// By anything else.
    Woken,
}

impl Menu {
    /// The governor of `kernel` on `machine`.
    pub fn new(machine: &Machine, kernel: &Kernel) -> Menu {
        let from = |major, minor| kernel.version >= Version::new(major, minor);
        let rules = Rules {
            skips_timers: from(6, 6),
            weighs_latency: !from(6, 12),
            bounds_override: from(6, 12),
            outliers: if from(6, 15) { Outliers::Farthest } else { Outliers::Longest },
        };
        let tick_ns = 1_000_000_000 / u64::from(kernel.hz);
        let polling = polling(machine, kernel);
        Menu { rules, states: machine.idle_states.clone(), polling, tick_ns }
    }

    /// How long a CPU polls in `state` before it chooses again; none where it does not.
    pub fn poll_limit_ns(&self, state: usize) -> Option<u64> {
        self.polling.filter(|_| state == 0)?.limit_ns
    }

    /// Chooses for a CPU that goes idle with a tick (`menu_select()`).
    pub fn select(&self, memory: &mut Memory, ahead: Ahead) -> Choice {
        // Where timers are not asked for, intervals of 0 tell nothing.
        let unknown = self.rules.skips_timers && memory.intervals.are_zero();
        let typical_us = match unknown {
            true => None,
            false => memory.intervals.typical_us(self.rules.outliers),
        };
        let mut predicted_ns = typical_us.map_or(NEVER, |us| us * 1000);
        let mut to_tick_ns = ahead.timer_ns.min(ahead.tick_ns);
        if self.rules.skips_timers && predicted_ns <= THRESHOLD_NS {
            memory.next_timer_ns = NEVER;
            memory.bucket = BUCKETS - 1;
            to_tick_ns = self.tick_ns / 2;
        } else {
            memory.next_timer_ns = ahead.timer_ns;
            memory.bucket = bucket(ahead.timer_ns);
            if self.rules.weighs_latency && ahead.waits_for_io > 0 {
                memory.bucket += BUCKETS;
            }
            predicted_ns = predicted_ns.min(corrected(memory));
        }
        let choice =
            self.deepest(memory.next_timer_ns, predicted_ns, to_tick_ns, ahead.waits_for_io);
        memory.state = choice.state;
        choice
    }

    fn deepest(
        &self,
        next_timer_ns: u64,
        mut predicted_ns: u64,
        to_tick_ns: u64,
        waits_for_io: u32,
    ) -> Choice {
        let polls = |state: usize| state == 0 && self.polling.is_some_and(|p| p.is_flagged);
        if self.states.get(1).is_none_or(|s| next_timer_ns < s.target_residency_ns) {
            return Choice { state: 0, stops_tick: !polls(0) };
        }
        let latency_ns = match self.rules.weighs_latency {
            true => predicted_ns / (1 + 10 * u64::from(waits_for_io)),
            false => NEVER,
        };
        let mut state = 0;
        for (i, s) in self.states.iter().enumerate() {
            if s.target_residency_ns > predicted_ns {
                if polls(state) && self.replaces_polling(s, next_timer_ns, predicted_ns, latency_ns)
                {
                    (state, predicted_ns) = (i, s.target_residency_ns);
                } else if predicted_ns >= self.tick_ns {
                    // The tick goes on, and with it comes the next choice.
                    predicted_ns = self.states[state].target_residency_ns;
                }
                break;
            }
            if s.exit_latency_ns > latency_ns {
                break;
            }
            state = i;
        }
        let stops_tick = !polls(state) && predicted_ns >= self.tick_ns;
        if !stops_tick && state > 0 {
            let pays = |s: &IdleState| s.target_residency_ns <= to_tick_ns;
            state = self.states[..=state].iter().rposition(pays).unwrap_or(0);
        }
        Choice { state, stops_tick }
    }

    fn replaces_polling(
        &self,
        s: &IdleState,
        next_timer_ns: u64,
        predicted_ns: u64,
        latency_ns: u64,
    ) -> bool {
        let in_time = s.target_residency_ns <= next_timer_ns;
        in_time
            && match self.rules.bounds_override {
                true => s.target_residency_ns < THRESHOLD_NS && s.exit_latency_ns <= predicted_ns,
                false => s.exit_latency_ns <= latency_ns,
            }
    }

    /// Learns from an idle period that lasted for `stay_ns`, with leaving its state (`menu_update()`).
    pub fn update(&self, memory: &mut Memory, stay_ns: u64, ended: Ended) {
        let exit_ns = self.states[memory.state].exit_latency_ns;
        let flagged = self.polling.is_some_and(|p| p.is_flagged);
        let measured_ns = match ended {
            Ended::Tick if memory.next_timer_ns > self.tick_ns => 9 * LONG_NS / 10,
            Ended::PollLimit if flagged => memory.next_timer_ns,
            _ if stay_ns > 2 * exit_ns => stay_ns - exit_ns,
            _ => stay_ns / 2,
        };
        let measured_ns = measured_ns.min(memory.next_timer_ns);
        let factor = &mut memory.factors[memory.bucket];
        *factor -= *factor / DECAY as u32;
        *factor += match memory.next_timer_ns {
            timer_ns @ 1.. if measured_ns < LONG_NS => (RESOLUTION * measured_ns / timer_ns) as u32,
            _ => RESOLUTION as u32,
        };
        memory.intervals.note(measured_ns);
    }
}

/// The time to the next timer, times how much of it CPUs were idle so far; in ns, rounded to us.
fn corrected(memory: &Memory) -> u64 {
    if memory.next_timer_ns >= FAR_NS {
        return NEVER;
    }
    let unit = RESOLUTION * DECAY * 1000;
    (memory.next_timer_ns * u64::from(memory.factors[memory.bucket]) + unit / 2) / unit * 1000
}

/// `which_bucket()`: under 10 us, 100 us, 1 ms, 10 ms, 100 ms, and all above.
fn bucket(ns: u64) -> usize {
    [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000].iter().take_while(|&&at| ns >= at).count()
}

#[cfg(test)]
mod tests;

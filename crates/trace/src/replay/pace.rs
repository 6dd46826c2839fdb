//! How fast CPUs worked, at each moment of a trace.

use machine::constants::MissingConstant;
use machine::{Machine, ThreadGroupProperty};

/// Clocks and busy threads.
#[derive(Debug)]
pub(super) struct Pace {
    pipeline_of: Vec<usize>,
    cpus_of: Vec<Vec<usize>>,
    /// By pipeline: busy threads.
    busy: Vec<usize>,
    /// By number of busy threads: what each has of the core.
    share: Vec<f64>,
    /// By CPU: its clock.
    ghz: Vec<f64>,
}

impl Pace {
    /// All CPUs idle, at the nominal clock. A machine that has no `smt_share_K` has threads that do not slow each other down.
    pub(super) fn new(machine: &Machine) -> Result<Pace, MissingConstant> {
        let ghz = machine.constants.value("nominal_khz")? / 1e6;
        let cpus = machine.cpus.len();
        let (mut pipeline_of, mut cpus_of) = (vec![usize::MAX; cpus], Vec::new());
        for cpu in 0..cpus {
            if pipeline_of[cpu] != usize::MAX {
                continue;
            }
            let small = machine.thread_group(cpu, ThreadGroupProperty::L1);
            let threads = small.unwrap_or_else(|| machine.core_cpus(cpu));
            let threads: Vec<usize> = threads.iter().filter(|&t| t < cpus).collect();
            threads.iter().for_each(|&t| pipeline_of[t] = cpus_of.len());
            pipeline_of[cpu] = cpus_of.len();
            cpus_of.push(threads);
        }
        let widest = cpus_of.iter().map(Vec::len).max().unwrap_or(1);
        let share = |busy: usize| match busy {
            0 | 1 => 1.0,
            _ => machine.constants.value(&format!("smt_share_{busy}")).unwrap_or(1.0),
        };
        Ok(Pace {
            busy: vec![0; cpus_of.len()],
            share: (0..=widest).map(share).collect(),
            ghz: vec![ghz; cpus],
            pipeline_of,
            cpus_of,
        })
    }

    /// Threads whose pace changes when `cpu` becomes busy or idle.
    pub(super) fn siblings(&self, cpu: usize) -> &[usize] {
        &self.cpus_of[self.pipeline_of[cpu]]
    }

    /// Cycles a ns of a thread that runs on `cpu` now.
    pub(super) fn rate(&self, cpu: usize) -> f64 {
        let busy = self.busy[self.pipeline_of[cpu]].min(self.share.len() - 1);
        self.ghz[cpu] * self.share[busy]
    }

    /// `cpu` has become busy, or idle.
    pub(super) fn set_busy(&mut self, cpu: usize, busy: bool) {
        let of = &mut self.busy[self.pipeline_of[cpu]];
        *of = if busy { *of + 1 } else { of.saturating_sub(1) };
    }

    /// The clock of `cpu` has changed.
    pub(super) fn set_khz(&mut self, cpu: usize, khz: u32) {
        if khz > 0 {
            self.ghz[cpu] = f64::from(khz) / 1e6;
        }
    }
}

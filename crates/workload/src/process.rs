//! Short-lived processes: what they execute, and how many lines they find in none of their CPU's caches.
//!
//! Both are counted in guests of Debian's 5.10.223 of one CPU, by a plugin in QEMU: instructions of user and kernel, and distinct lines that are
//! fetched or read before they are written, from a process's first instruction on. Kernel code has four fifths of the instructions: a
//! program of coreutils executes a million to load, link, do its work and end, and reads 9,000 lines, more than half of them code.
//!
//! The model takes each of those lines from memory once. A process mostly begins on a CPU that was idle for long, as the kernel forks to the
//! idlest one. In its deepest state, a core's own caches are off, and where the L3 holds only what an L2 threw out, as on EPYC, code that one
//! process fetched does not stay there for the next. That no line is found elsewhere is assumed. Lines that are written first, a
//! third to half as many, cost nothing here. `script/count-processes` counts again.

use crate::placement::Placement;
use crate::program::{MemoryUse, Op, Spread, Work};

/// Core cycles of an instruction that finds its lines: measured for dbench's load, where the kernel has most of them, too (Linux 6.18 on a
/// Xeon).
pub(crate) const CYCLES_PER_INSTRUCTION: f64 = 0.514;
/// Misses in flight. Measured on a Xeon of 150 ns to memory: `expr` takes 320 to 380 us longer where 700 MB were read before each run (medians of
/// 200 pairs, five times), at 330 us 37 ns for each of its 9,000 lines.
const OVERLAP: f64 = 4.1;
/// How often a line is touched on average; at three times, spread at random, 95 % of a set are touched.
const TOUCHES: f64 = 3.0;
/// Instructions that the model charges for `execve` itself, by the table of 5.10 for amd64: a program's count has them, too.
const CHARGED_EXEC: f64 = 269_000.0;
/// Instructions of a child before `execve` gives it a new address space, and lines that it reads until then.
const CHILD: Counted = Counted { instructions: 104_000.0, lines: 2_150.0 };
const LINE_BYTES: f64 = 64.0;

/// What a process takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    /// Of user and kernel.
    pub(crate) instructions: f64,
    /// Distinct lines that are fetched or read before they are written.
    pub(crate) lines: f64,
}

/// A program of coreutils from loading to its end: `expr`, `cat`, `rm`, `diff`, `grep`, `sed` and others, weighted as git's tests run them.
pub(crate) const TOOL: Counted = Counted { instructions: 1.0e6, lines: 6_900.0 };
/// dash, from loading until it starts its first command.
pub(crate) const SHELL: Counted = Counted { instructions: 0.72e6, lines: 7_000.0 };

impl Counted {
    /// This, and then more in the same process.
    pub(crate) const fn and(self, more: Counted) -> Counted {
        Counted {
            instructions: self.instructions + more.instructions,
            lines: self.lines + more.lines,
        }
    }

    /// The steps of a process that loads nothing. Work after them touches none of these lines.
    pub(crate) fn steps(self, spread: Spread) -> [Op; 3] {
        let cycles = self.instructions * CYCLES_PER_INSTRUCTION;
        let work = Work { cycles: cycles * median_of_mean(spread), spread };
        let memory = MemoryUse {
            working_set_bytes: self.lines * LINE_BYTES,
            touches_per_kcycle: TOUCHES * self.lines / (cycles / 1000.0),
            overlap: OVERLAP,
            stream_bytes_per_kcycle: 0.0,
            stream_set_bytes: 0.0,
            placement: Placement::Default,
        };
        memory.during(work)
    }

    /// The steps of a child that loads a program of which this is counted from loading on, and then takes `more`, whose loops count from
    /// its own first step.
    pub(crate) fn loaded(self, spread: Spread, more: &[Op]) -> Vec<Op> {
        let start = CHILD.and(self).loaded_again(spread);
        let own = more.iter().map(|op| op.shifted(start.len() as u16));
        start.iter().cloned().chain(own).collect()
    }

    /// The steps of a process that loads another program, of which this is counted.
    pub(crate) fn loaded_again(self, spread: Spread) -> [Op; 4] {
        let rest = Counted { instructions: self.instructions - CHARGED_EXEC, ..self };
        let [memory, work, still] = rest.steps(spread);
        [Op::Exec, memory, work, still]
    }
}

/// The median, as a share of the mean.
fn median_of_mean(spread: Spread) -> f64 {
    match spread {
        Spread::LogNormal(sigma) => libm::exp(-sigma * sigma / 2.0),
        Spread::Fixed | Spread::Exponential | Spread::Bimodal { .. } => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loaded_program_takes_what_was_counted() {
        let ops = TOOL.loaded(Spread::Fixed, &[Op::Loop { to: 0, times: 2 }]);
        let [
            Op::Exec,
            Op::Memory(memory),
            Op::Compute(work),
            Op::Memory(still),
            Op::Loop { to, .. },
        ] = &ops[..]
        else {
            panic!("{ops:?}");
        };
        assert!(memory.is_same_memory(still) && still.touches_per_kcycle == 0.0);
        let instructions = work.cycles / CYCLES_PER_INSTRUCTION + CHARGED_EXEC;
        assert!((instructions - 1_104_000.0).abs() < 1.0, "{instructions}");
        assert_eq!(memory.working_set_bytes, 9_050.0 * 64.0);
        let touches = memory.touches_per_kcycle * work.cycles / 1000.0;
        assert!((touches - 3.0 * 9_050.0).abs() < 1e-6, "{touches}");
        assert_eq!(*to, 4);
    }
}

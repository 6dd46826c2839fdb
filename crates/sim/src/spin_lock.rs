//! A lock of the kernel that one CPU holds at a time, and for which others spin (`queued_spin_lock`, a mutex whose owner runs).
//!
//! A CPU does its kernel work in one go: when the work is charged, it is known when the CPU will want the lock and for how long. So a lock
//! is a time at which it will be free. Whoever wants it before that waits until then, for the line to come over, and no shorter: a
//! queued lock is given on in the order of asking. One that will be done before the next holder begins does not wait. A CPU never waits
//! for itself: it has given the lock back before it does anything else.

use crate::topology::Cpu;

/// What a CPU wants of a lock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Claim {
    pub(crate) cpu: Cpu,
    /// When it asks.
    pub(crate) at_ns: u64,
    /// How long it will hold the lock.
    pub(crate) hold_ns: u64,
}

/// One lock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SpinLock {
    /// When the holders that follow each other without a gap begin, and when the last of them is done.
    begins_ns: u64,
    free_ns: u64,
    /// The last of them.
    holder: Cpu,
}

impl SpinLock {
    /// Takes the lock: `handover_ns` after another CPU's release the claimant has the lock's line. How long it waits.
    pub(crate) fn take(&mut self, claim: Claim, handover_ns: impl FnOnce(Cpu) -> u64) -> u64 {
        let Claim { cpu, at_ns, hold_ns } = claim;
        if at_ns + hold_ns <= self.begins_ns {
            return 0;
        }
        let busy = at_ns < self.free_ns;
        if busy && self.holder == cpu {
            self.free_ns = self.free_ns.max(at_ns + hold_ns);
            return 0;
        }
        let begins_ns = if busy { self.free_ns + handover_ns(self.holder) } else { at_ns };
        if !busy {
            self.begins_ns = begins_ns;
        }
        self.free_ns = begins_ns + hold_ns;
        self.holder = cpu;
        begins_ns - at_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(cpu: Cpu, at_ns: u64, hold_ns: u64) -> Claim {
        Claim { cpu, at_ns, hold_ns }
    }

    #[test]
    fn who_comes_while_it_is_held_waits_in_turn() {
        let mut lock = SpinLock::default();
        let line = |_| 30;
        assert_eq!(lock.take(claim(0, 1000, 200), line), 0);
        assert_eq!(lock.take(claim(1, 1100, 200), line), 130);
        assert_eq!(lock.take(claim(2, 1150, 200), line), 310);
        // Free again, after 1660.
        assert_eq!(lock.take(claim(3, 2000, 200), line), 0);
    }

    #[test]
    fn who_is_done_before_the_next_begins_does_not_wait() {
        let mut lock = SpinLock::default();
        assert_eq!(lock.take(claim(0, 1000, 200), |_| 30), 0);
        assert_eq!(lock.take(claim(1, 700, 300), |_| 30), 0);
        assert_eq!(lock.take(claim(1, 701, 300), |_| 30), 529);
    }

    #[test]
    fn nobody_waits_for_itself() {
        let mut lock = SpinLock::default();
        assert_eq!(lock.take(claim(0, 1000, 200), |_| 30), 0);
        assert_eq!(lock.take(claim(0, 1100, 200), |_| 30), 0);
        assert_eq!(lock.take(claim(1, 1200, 200), |_| 30), 130);
    }
}

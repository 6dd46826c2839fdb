//! What work does to memory, as experiment files say it: by time of a thread alone, which a real program can keep to as well.

use crate::placement::Placement;
use crate::program::{MemoryUse, Op};
use crate::{WorkloadError, check};
use serde::{Deserialize, Serialize};

/// Memory of one thread or process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Footprint {
    /// Bytes that it comes back to, in KiB.
    pub working_set_kib: f64,
    /// Lines of them touched in a us of work, spread evenly.
    pub touches_per_us: f64,
    /// Misses in flight at a time.
    pub overlap: f64,
    /// 10^9 bytes read once from memory, in a second of work.
    pub gb_per_s: f64,
    /// On which nodes its pages lie.
    #[serde(default, skip_serializing_if = "Placement::is_default")]
    pub placement: Placement,
}

/// Buffer from which bytes are read once: more than most caches hold.
pub const ONCE_BYTES: f64 = 64.0 * 1024.0 * 1024.0;

impl Footprint {
    /// Refuses amounts that cannot be.
    pub(crate) fn check(&self, program: &'static str) -> Result<(), WorkloadError> {
        let kib = self.working_set_kib;
        check::within(program, "memory.working_set_kib", kib, 1.0..=1e9, "1 to 1e9")?;
        let touches = self.touches_per_us;
        check::within(program, "memory.touches_per_us", touches, 0.0..=1e4, "0 to 10000")?;
        check::within(program, "memory.overlap", self.overlap, 1.0..=64.0, "1 to 64")?;
        check::within(program, "memory.gb_per_s", self.gb_per_s, 0.0..=1e3, "0 to 1000")
    }

    /// The step that begins this use, on a machine of so many cycles a us.
    pub(crate) fn begin(&self, cycles_per_us: f64) -> Op {
        Op::Memory(MemoryUse {
            working_set_bytes: self.working_set_kib * 1024.0,
            touches_per_kcycle: self.touches_per_us * 1e3 / cycles_per_us,
            overlap: self.overlap,
            stream_bytes_per_kcycle: self.gb_per_s * 1e6 / cycles_per_us,
            stream_set_bytes: if self.gb_per_s > 0.0 { ONCE_BYTES } else { 0.0 },
            placement: self.placement,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_go_by_time_alone() {
        let used = Footprint {
            working_set_kib: 64.0,
            touches_per_us: 3.0,
            overlap: 2.0,
            gb_per_s: 1.5,
            placement: Placement::Default,
        };
        let Op::Memory(used) = used.begin(2000.0) else { panic!("a use of memory") };
        // 2 cycles a ns: 1000 cycles are half a us.
        assert_eq!((used.working_set_bytes, used.touches_per_kcycle), (65536.0, 1.5));
        assert_eq!(used.stream_bytes_per_kcycle, 750.0);
    }
}

//! Worked examples on EPYC's P-states of 2.25, 2.0 and 1.5 GHz, with the arithmetic beside them.

mod conservative;
mod driver;
mod ondemand;
mod scale;
mod schedutil;
mod table;

use super::governor::testing::*;
use super::governor::{Answer, CpuTimes, Govern};
use super::*;
use kernel::Version;
use setting::{AmdPstateMode, Governor, MaxFreq};

const MS: u64 = 1_000_000;
/// 250 HZ.
const TICK_NS: u64 = 4 * MS;
const P: [u64; 3] = [2_250_000, 2_000_000, 1_500_000];

/// EPYC under `acpi-cpufreq`; CPPC's levels 255 and 169 give 255 x 1024 / 169 = 1545, about 3.4 / 2.25.
fn epyc(major: u16, minor: u16) -> Driver {
    acpi(major, minor, &P, 0)
}

fn acpi(major: u16, minor: u16, khz: &[u64], transition_latency_ns: u64) -> Driver {
    let acpi = AcpiCpufreq {
        table: Table::new(khz).unwrap(),
        transition_latency_ns,
        boost_ratio: Some(boost_ratio(255, 169).unwrap()),
    };
    Driver::acpi_cpufreq(Version::new(major, minor), acpi).unwrap()
}

/// A driver that takes any frequency from 0.4 to 3.4 GHz, so that nothing is rounded.
fn smooth(major: u16, minor: u16) -> Driver {
    let pstate = AmdPstate {
        lowest_khz: 400_000,
        nominal_khz: 2_250_000,
        highest_khz: 3_400_000,
        boost: true,
        mode: AmdPstateMode::Passive,
    };
    Driver::amd_pstate(Version::new(major, minor), pstate).unwrap()
}

/// A CPU whose time passes in stretches of given load.
struct Clock {
    now_ns: u64,
    times: CpuTimes,
}

impl Clock {
    fn new() -> Clock {
        Clock { now_ns: MS, times: CpuTimes::default() }
    }

    /// `ms` pass, of which `load` % are busy.
    fn pass(&mut self, ms: u64, load: u64) {
        self.now_ns += ms * MS;
        self.times.idle_ns += ms * MS * (100 - load) / 100;
    }
}

//! What happened on this computer around one run: time that others took, heat, throttling, pressure, energy.
//!
//! A [`Snapshot`] before and one after a run give [`Noise`]. What a computer does not have or does not let be read is
//! missing, which is not 0; [`not_here`] says what and why.

mod available;
mod power;
mod sensors;
mod sources;
mod stat;
#[cfg(test)]
mod tests;
mod throttling;

pub use available::Available;
pub use sources::Sources;
pub use stat::CpuTimes;

use power::Energy;
use stat::Stat;
use std::collections::BTreeMap;
use std::path::Path;

/// Why something around a run could not be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoiseError {
    /// A file that every Linux kernel has.
    #[error("{file}: found {found}, expected {expected}")]
    File {
        /// Path of the file.
        file: String,
        /// What is there, or why it cannot be read.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// Something that was there before the first run and no longer is.
    #[error(
        "{counter}: found nothing that can be read any more, expected what was there before the first run"
    )]
    Gone {
        /// Name of the counter.
        counter: &'static str,
    },
}

/// What this computer's kernel counted since boot, and how it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    stat: Stat,
    /// Of each source of the same place in [`Sources`]; none for one that could not be read.
    throttles: Vec<Option<u64>>,
    frequency_changes: Vec<Option<u64>>,
    temperature_mc: Option<u64>,
    pressure_us: Pressure,
    energy: Vec<Option<Energy>>,
    load: Option<f64>,
}

/// Time that some task waited for a resource, in us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pressure {
    cpu: Option<u64>,
    memory: Option<u64>,
    io: Option<u64>,
}

impl Snapshot {
    /// Looks for what this computer has and reads it. Whoever takes several snapshots keeps [`Sources`] instead.
    ///
    /// # Errors
    /// A `/proc/stat` that cannot be read or is not of its form.
    pub fn read(root: &Path) -> Result<Snapshot, NoiseError> {
        Sources::find(root).read()
    }

    /// Where the time of all CPUs went since boot (the line `cpu` of `/proc/stat`).
    pub fn all_cpus(&self) -> &CpuTimes {
        &self.stat.all
    }

    /// Where the time of each CPU that is online went since boot (`/proc/stat`).
    pub fn cpus(&self) -> &BTreeMap<usize, CpuTimes> {
        &self.stat.cpus
    }

    /// Temperature of the hottest sensor of the CPUs, in millidegrees Celsius, or of the hottest of all if none is known
    /// to be a CPU's (`/sys/class/thermal/thermal_zone*/temp`, `/sys/class/hwmon/*/temp*_input`).
    pub fn temperature_mc(&self) -> Option<u64> {
        self.temperature_mc
    }

    /// Load of the last minute (`/proc/loadavg`).
    pub fn load(&self) -> Option<f64> {
        self.load
    }

    /// What happened since `before`, a snapshot of the same [`Sources`].
    pub fn since(&self, before: &Snapshot) -> Noise {
        let times = self.stat.all.since(&before.stat.all);
        let grown = |now: Option<u64>, old: Option<u64>| Some(now?.saturating_sub(old?));
        let (now, old) = (self.pressure_us, before.pressure_us);
        Noise {
            steal_ns: times.steal_ns,
            busy_ns: times.busy_ns(),
            irq_ns: times.irq_ns.saturating_add(times.softirq_ns),
            context_switches: self
                .stat
                .context_switches
                .saturating_sub(before.stat.context_switches),
            throttles: sum_of_growth(&self.throttles, &before.throttles, u64::saturating_sub),
            frequency_changes: sum_of_growth(
                &self.frequency_changes,
                &before.frequency_changes,
                u64::saturating_sub,
            ),
            temperature_before_mc: before.temperature_mc,
            temperature_after_mc: self.temperature_mc,
            psi_cpu_us: grown(now.cpu, old.cpu),
            psi_memory_us: grown(now.memory, old.memory),
            psi_io_us: grown(now.io, old.io),
            energy_uj: sum_of_growth(&self.energy, &before.energy, Energy::since),
        }
    }
}

/// What all sources together grew by; none if not one of them was read both times.
fn sum_of_growth<T: Copy>(
    now: &[Option<T>],
    before: &[Option<T>],
    growth: fn(T, T) -> u64,
) -> Option<u64> {
    let pairs = now.iter().zip(before);
    let grown = pairs.filter_map(|(now, before)| Some(growth((*now)?, (*before)?)));
    grown.reduce(u64::saturating_add)
}

/// What happened between two snapshots. `None` is what this computer does not have or does not let be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Noise {
    /// Time that a hypervisor took from all CPUs, in ns, in steps of 10 ms (`/proc/stat`).
    pub steal_ns: u64,
    /// Time that all CPUs worked, for whomever, in ns, in steps of 10 ms (`/proc/stat`).
    pub busy_ns: u64,
    /// The part of it that went to interrupts and soft interrupts, in ns (`/proc/stat`).
    pub irq_ns: u64,
    /// Context switches on all CPUs (`/proc/stat`).
    pub context_switches: u64,
    /// Times that heat held down the clock of a core or package
    /// (`/sys/devices/system/cpu/cpu*/thermal_throttle/{core,package}_throttle_count`).
    pub throttles: Option<u64>,
    /// Changes of clocks (`/sys/devices/system/cpu/cpufreq/policy*/stats/total_trans`).
    pub frequency_changes: Option<u64>,
    /// [`Snapshot::temperature_mc`] before.
    pub temperature_before_mc: Option<u64>,
    /// The same after.
    pub temperature_after_mc: Option<u64>,
    /// Time that some task waited for a CPU, in us (`/proc/pressure/cpu`).
    pub psi_cpu_us: Option<u64>,
    /// Time that some task waited for memory, in us (`/proc/pressure/memory`).
    pub psi_memory_us: Option<u64>,
    /// Time that some task waited for a disk, in us (`/proc/pressure/io`).
    pub psi_io_us: Option<u64>,
    /// Energy of all packages, in uJ (`/sys/class/powercap/intel-rapl:*/energy_uj`). A counter that wrapped more than
    /// once meanwhile says too little: they go round in minutes to hours.
    pub energy_uj: Option<u64>,
}

impl Noise {
    /// Time that all CPUs worked for others, in ns, where `own_cpu_ns` is the CPU time of what was run; 0 if steps of
    /// 10 ms make the whole look smaller than that.
    pub fn other_cpu_ns(&self, own_cpu_ns: u64) -> u64 {
        self.busy_ns.saturating_sub(own_cpu_ns)
    }
}

/// The share of all CPUs' time, 0 to 1, that they worked between two snapshots; 0 if no time went by.
pub fn busy_share(before: &Snapshot, after: &Snapshot) -> f64 {
    let times = after.stat.all.since(&before.stat.all);
    match times.total_ns() {
        0 => 0.0,
        total => times.busy_ns() as f64 / total as f64,
    }
}

/// One line for each thing that cannot be counted on this computer, and why.
pub fn not_here(root: &Path) -> Vec<String> {
    Sources::find(root).not_here()
}

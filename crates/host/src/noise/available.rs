//! Noise as counters: a list that is fixed for a computer.

use super::{Noise, NoiseError, Snapshot};
use workload::Counter;

/// A counter, and its value of a run whose command used so much CPU time, in ns; none if it was not to be read.
struct Row {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    value: fn(&Noise, u64) -> Option<u64>,
}

/// All that any computer has, in the order in which it is stored.
const ROWS: [Row; 8] = [
    Row {
        name: "steal_ns",
        unit: "ns",
        help: "time that a hypervisor took from all CPUs (/proc/stat)",
        value: |noise, _| Some(noise.steal_ns),
    },
    Row {
        name: "throttle_events",
        unit: "",
        help: "times that heat held down a core's or package's clock (thermal_throttle)",
        value: |noise, _| noise.throttles,
    },
    Row {
        name: "other_cpu_ns",
        unit: "ns",
        help: "time that all CPUs worked for others than the command (/proc/stat)",
        value: |noise, own| Some(noise.other_cpu_ns(own)),
    },
    Row {
        name: "temperature_before_mc",
        unit: "m°C",
        help: "temperature of the hottest CPU sensor before the run",
        value: |noise, _| noise.temperature_before_mc,
    },
    Row {
        name: "psi_cpu_some_us",
        unit: "us",
        help: "time that some task waited for a CPU (/proc/pressure/cpu)",
        value: |noise, _| noise.psi_cpu_us,
    },
    Row {
        name: "psi_memory_some_us",
        unit: "us",
        help: "time that some task waited for memory (/proc/pressure/memory)",
        value: |noise, _| noise.psi_memory_us,
    },
    Row {
        name: "psi_io_some_us",
        unit: "us",
        help: "time that some task waited for a disk (/proc/pressure/io)",
        value: |noise, _| noise.psi_io_us,
    },
    Row {
        name: "energy_uj",
        unit: "uJ",
        help: "energy of all packages (RAPL)",
        value: |noise, _| noise.energy_uj,
    },
];

/// The counters that one computer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Available {
    /// Places in [`ROWS`].
    rows: Vec<usize>,
}

impl Available {
    /// What can be counted where `snapshot` was taken.
    pub fn of(snapshot: &Snapshot) -> Available {
        // What a snapshot holds, it holds against itself too.
        let nothing = snapshot.since(snapshot);
        let has = |row: &Row| (row.value)(&nothing, 0).is_some();
        let rows = ROWS.iter().enumerate().filter(|(_, row)| has(row));
        Available { rows: rows.map(|(at, _)| at).collect() }
    }

    fn rows(&self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().map(|at| &ROWS[*at])
    }

    /// The counters, in a fixed order.
    pub fn counters(&self) -> Vec<Counter> {
        self.rows().map(|row| Counter::of_unit(row.name, row.unit, row.help)).collect()
    }

    /// The values of a run in the order of [`Available::counters`]. `own_cpu_ns` is the CPU time of what was run and all
    /// that it started, in ns.
    ///
    /// # Errors
    /// A counter that can no longer be read, for which no number would be true.
    pub fn values(&self, noise: &Noise, own_cpu_ns: u64) -> Result<Vec<u64>, NoiseError> {
        let value = |row: &Row| (row.value)(noise, own_cpu_ns);
        self.rows().map(|row| value(row).ok_or(NoiseError::Gone { counter: row.name })).collect()
    }
}

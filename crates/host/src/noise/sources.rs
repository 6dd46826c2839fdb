//! Where this computer counts what happens around a run.

use super::power::{self, Domain};
use super::stat::{self, Stat};
use super::{NoiseError, Pressure, Snapshot};
use super::{sensors, throttling};
use crate::facts::files;
use machine::CpuSet;
use std::path::{Path, PathBuf};

const CPUFREQ: &str = "sys/devices/system/cpu/cpufreq";

/// Sources of one kind.
#[derive(Debug, Clone)]
pub(super) struct Counters<T> {
    /// Those that can be read.
    pub(super) here: Vec<T>,
    /// Why there is none, if there is none.
    pub(super) why_not: String,
}

/// The files that a snapshot reads, found once. A snapshot then takes about ten small files, and one more for each core that
/// counts throttling and each policy that counts changes of its clock.
#[derive(Debug, Clone)]
pub struct Sources {
    root: PathBuf,
    throttles: Counters<PathBuf>,
    frequency_changes: Counters<PathBuf>,
    sensors: Counters<PathBuf>,
    pressure: [Counters<PathBuf>; 3],
    energy: Counters<Domain>,
}

impl Sources {
    /// Looks below `root` for what this computer has and lets be read. CPUs that come online later are not found.
    pub fn find(root: &Path) -> Sources {
        Sources {
            root: root.to_path_buf(),
            throttles: throttling::find(root),
            frequency_changes: frequency_changes(root),
            sensors: sensors::find(root),
            pressure: ["cpu", "memory", "io"].map(|resource| pressure(root, resource)),
            energy: power::find(root),
        }
    }

    /// What was counted until now.
    ///
    /// # Errors
    /// A `/proc/stat` that cannot be read or is not of its form.
    pub fn read(&self) -> Result<Snapshot, NoiseError> {
        let file = self.root.join("proc/stat");
        let error = |found: String, expected| NoiseError::File {
            file: file.display().to_string(),
            found,
            expected,
        };
        let text = files::read(&file);
        let text = text.map_err(|e| error(e.to_string(), "times of CPUs"))?;
        let stat = Stat::parse(&text);
        let stat = stat
            .map_err(|(found, expected)| error(format!("`{}`", found.escape_debug()), expected))?;
        let numbers = |paths: &[PathBuf]| paths.iter().map(|path| number(path)).collect();
        let [cpu, memory, io] = self.pressure.each_ref().map(|source| {
            let path = source.here.first()?;
            stat::some_us(&files::read(path).ok()?)
        });
        Ok(Snapshot {
            stat,
            throttles: numbers(&self.throttles.here),
            frequency_changes: numbers(&self.frequency_changes.here),
            temperature_mc: sensors::highest_mc(&self.sensors.here),
            pressure_us: Pressure { cpu, memory, io },
            energy: self.energy.here.iter().map(Domain::read).collect(),
            load: files::text(&self.root, "proc/loadavg").and_then(|text| stat::load(&text)),
        })
    }

    /// Clocks now, in kHz, of the CPUs of each policy that has some online (`scaling_cur_freq`).
    ///
    /// No snapshot has them: to answer, the kernel interrupts the CPUs, and kernels before 5.17 sleep 10 ms for each.
    pub fn frequencies_khz(&self) -> Vec<(CpuSet, u64)> {
        let of_policy = |number: usize| {
            let dir = format!("{CPUFREQ}/policy{number}");
            let cpus = files::text(&self.root, &format!("{dir}/affected_cpus"))?;
            let cpus = cpus.split_whitespace().collect::<Vec<_>>().join(",").parse().ok()?;
            Some((cpus, files::number(&self.root, &format!("{dir}/scaling_cur_freq"))?))
        };
        let policies = files::numbered(&self.root, CPUFREQ, "policy");
        policies.into_iter().filter_map(of_policy).collect()
    }

    /// One line for each thing that cannot be counted on this computer, and why.
    pub fn not_here(&self) -> Vec<String> {
        let files = [&self.throttles, &self.frequency_changes, &self.sensors];
        let files = files.into_iter().chain(&self.pressure);
        let absent = files.filter(|source| source.here.is_empty());
        let energy = self.energy.here.is_empty().then(|| self.energy.why_not.clone());
        absent.map(|source| source.why_not.clone()).chain(energy).collect()
    }
}

fn number(path: &Path) -> Option<u64> {
    files::read(path).ok()?.parse().ok()
}

/// How often each policy changed its clock.
fn frequency_changes(root: &Path) -> Counters<PathBuf> {
    let policies = files::numbered(root, CPUFREQ, "policy").into_iter();
    let paths = policies.map(|n| root.join(format!("{CPUFREQ}/policy{n}/stats/total_trans")));
    Counters {
        here: paths.filter(|path| number(path).is_some()).collect(),
        why_not: "changes of clocks: no cpufreq policy counts them".to_string(),
    }
}

/// Time that tasks waited for `resource`; a kernel booted with `psi=0` has the file and refuses to read it.
fn pressure(root: &Path, resource: &str) -> Counters<PathBuf> {
    let path = root.join("proc/pressure").join(resource);
    let (here, why) = match files::read(&path) {
        Ok(text) if stat::some_us(&text).is_some() => (vec![path], String::new()),
        Ok(_) => (Vec::new(), "no line `some` with a total".to_string()),
        Err(e) => (Vec::new(), e.to_string()),
    };
    Counters { here, why_not: format!("{resource} pressure: /proc/pressure/{resource}: {why}") }
}

//! What this computer is, for the record beside results, and what about it is known to spoil them.
//!
//! Everything is read below a root, which is `/` but for tests. A value that the kernel does not have or does not let be
//! read is left out or says so: a record never holds a 0 that nobody measured.

mod config;
mod cpus;
pub(crate) mod files;
mod frequency;
mod idle;
mod limits;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod tree;
mod warnings;

pub use warnings::Warning;

use config::Config;
use machine::CpuSet;
use std::path::Path;

/// The release of the running kernel, which every record needs.
const RELEASE: &str = "proc/sys/kernel/osrelease";
/// CPUs that are online.
const ONLINE: &str = "sys/devices/system/cpu/online";
/// State of the class sched_ext: `enabled`, `disabled` or on the way to one of them.
const SCHED_EXT: &str = "sys/kernel/sched_ext/state";
/// What the record says of something that is there and may not be read.
const NOT_READABLE: &str = "not readable";

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
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
}

/// What this computer was when it was asked: named values in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    values: Vec<(String, String)>,
    online: CpuSet,
    config: Option<Config>,
}

impl Facts {
    /// Reads what is below `root`.
    ///
    /// Names of values, each with the file that it is from:
    ///
    /// | name | from |
    /// |---|---|
    /// | `kernel`, `kernel-build`, `architecture` | `/proc/sys/kernel/{osrelease,version,arch}` |
    /// | `command-line` | `/proc/cmdline` |
    /// | `config` | first digits of the SHA-256 of the kernel's configuration: `/proc/config.gz`, `/boot/config-RELEASE` or `/lib/modules/RELEASE/config` |
    /// | `preempt` | `/sys/kernel/debug/sched/preempt`: the mode of a kernel that can change it |
    /// | `boot-id` | `/proc/sys/kernel/random/boot_id` |
    /// | `cpu-model`, `microcode` | `/proc/cpuinfo` |
    /// | `cpus`, `cpus-isolated`, `cpus-nohz-full`, `nodes` | lists in `/sys/devices/system/{cpu,node}` |
    /// | `smt` | `/sys/devices/system/cpu/smt/{control,active}` |
    /// | `mitigations` | `/sys/devices/system/cpu/vulnerabilities`: what CPUs are affected by, and what the kernel does about it |
    /// | `clocksource` | `/sys/devices/system/clocksource/clocksource0/current_clocksource` |
    /// | `cpufreq-driver`, `governor`, `epp`, `frequency-limits-khz` | `/sys/devices/system/cpu/cpufreq/policy*`: values with their CPUs where they differ; limits in kHz |
    /// | `turbo` | `/sys/devices/system/cpu/{intel_pstate/no_turbo,cpufreq/boost}` |
    /// | `idle-driver`, `idle-governor` | `/sys/devices/system/cpu/cpuidle` |
    /// | `idle-states` | `/sys/devices/system/cpu/cpu*/cpuidle`: names, with `(off)` after those that are disabled |
    /// | `thp` | `/sys/kernel/mm/transparent_hugepage/enabled` |
    /// | `numa-balancing` | `/proc/sys/kernel/numa_balancing` |
    /// | `hypervisor` | `/proc/cpuinfo`, `/sys/hypervisor/type`, `/sys/class/dmi/id`, the device tree |
    /// | `scheduler` | `/sys/kernel/sched_ext`: `fair`, or the scheduler that is loaded |
    /// | `memory`, `swap-used` | `/proc/meminfo`, in kB |
    ///
    /// # Errors
    /// No release of a kernel and no list of online CPUs.
    pub fn read(root: &Path) -> Result<Facts, FactsError> {
        let release = needed(root, RELEASE, "a kernel's release")?;
        let online = needed(root, ONLINE, "a list of CPUs such as 0-3,8")?;
        let online: CpuSet = online.parse().map_err(|_| FactsError::File {
            file: root.join(ONLINE).display().to_string(),
            found: format!("`{}`", online.escape_debug()),
            expected: "a list of CPUs such as 0-3,8",
        })?;
        let config = Config::read(root, &release);
        let mut record = Record { root, values: Vec::new() };
        record.add("kernel", Some(release));
        record.kernel(config.as_ref());
        record.add("cpus", Some(online.to_string()));
        record.hardware();
        record.memory_and_scheduler();
        Ok(Facts { values: record.values, online, config })
    }

    /// Every value by its name, in the order of [`Facts::read`].
    pub fn values(&self) -> Vec<(String, String)> {
        self.values.clone()
    }

    /// The value called `name`, if this computer has it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// CPUs that were online.
    pub fn online(&self) -> &CpuSet {
        &self.online
    }

    /// The kernel's options that change what a scheduler does or what times mean (`CONFIG_HZ`, `CONFIG_PREEMPT*`,
    /// `CONFIG_SCHED_CLASS_EXT` and others), those that are set; nothing if the configuration is not readable.
    pub fn options(&self) -> Vec<(String, String)> {
        self.config.as_ref().map_or(Vec::new(), Config::chosen)
    }
}

/// The text of a file without which there is no record.
fn needed(root: &Path, path: &str, expected: &'static str) -> Result<String, FactsError> {
    let file = root.join(path);
    let error =
        |found: String| FactsError::File { file: file.display().to_string(), found, expected };
    let text = files::read(&file).map_err(|e| error(e.to_string()))?;
    if text.is_empty() { Err(error("nothing".to_string())) } else { Ok(text) }
}

/// The values so far.
struct Record<'a> {
    root: &'a Path,
    values: Vec<(String, String)>,
}

impl Record<'_> {
    fn add(&mut self, name: &str, value: Option<String>) {
        // A value is one line wherever it is shown.
        let line = |value: String| value.split_whitespace().collect::<Vec<_>>().join(" ");
        self.values.extend(value.map(|value| (name.to_string(), line(value))));
    }

    fn add_file(&mut self, name: &str, path: &str) {
        self.add(name, files::text(self.root, path));
    }

    /// A list of CPUs or nodes; an empty one is left out.
    fn add_list(&mut self, name: &str, path: &str) {
        let list = files::cpus(self.root, path).filter(|list| !list.is_empty());
        self.add(name, list.map(|list| list.to_string()));
    }

    fn kernel(&mut self, config: Option<&Config>) {
        self.add_file("kernel-build", "proc/sys/kernel/version");
        self.add("architecture", architecture(self.root));
        self.add_file("command-line", "proc/cmdline");
        let digest = config.map_or(NOT_READABLE, Config::digest);
        self.add("config", Some(digest.to_string()));
        let preempt = files::text(self.root, "sys/kernel/debug/sched/preempt");
        let mode = preempt.and_then(|text| {
            let (_, rest) = text.split_once('(')?;
            rest.split_once(')').map(|(mode, _)| mode.to_string())
        });
        self.add("preempt", mode);
        self.add_file("boot-id", "proc/sys/kernel/random/boot_id");
    }

    fn hardware(&mut self) {
        let root = self.root;
        self.add_list("cpus-isolated", "sys/devices/system/cpu/isolated");
        self.add_list("cpus-nohz-full", "sys/devices/system/cpu/nohz_full");
        self.add_list("nodes", "sys/devices/system/node/online");
        let cpuinfo = files::text(root, "proc/cpuinfo").unwrap_or_default();
        self.add("cpu-model", cpus::model(&cpuinfo));
        self.add("microcode", cpus::microcode(&cpuinfo));
        self.add("smt", cpus::smt(root));
        self.add("mitigations", cpus::mitigations(root));
        self.add_file("clocksource", warnings::CLOCKSOURCE);
        let policies = frequency::policies(root);
        self.add("cpufreq-driver", frequency::told(&policies, |p| p.driver.clone()));
        self.add("governor", frequency::told(&policies, |p| p.governor.clone()));
        self.add("epp", frequency::told(&policies, |p| p.epp.clone()));
        self.add("frequency-limits-khz", frequency::told(&policies, |p| p.limits_khz.clone()));
        let turbo = frequency::turbo(root).map(|on| if on { "on" } else { "off" });
        self.add("turbo", turbo.map(str::to_string));
        self.add_file("idle-driver", "sys/devices/system/cpu/cpuidle/current_driver");
        self.add_file("idle-governor", "sys/devices/system/cpu/cpuidle/current_governor");
        self.add("idle-states", idle::told(root));
        self.add("hypervisor", cpus::hypervisor(root, &cpuinfo));
    }

    fn memory_and_scheduler(&mut self) {
        let root = self.root;
        let thp = files::text(root, "sys/kernel/mm/transparent_hugepage/enabled");
        self.add("thp", thp.map(|text| files::chosen(&text).unwrap_or(&text).to_string()));
        let numa = files::text(root, "proc/sys/kernel/numa_balancing");
        self.add(
            "numa-balancing",
            numa.map(|mode| match mode.as_str() {
                "0" => "off".to_string(),
                "1" => "on".to_string(),
                other => format!("mode {other}"),
            }),
        );
        let loaded = loaded_scheduler(root);
        self.add("scheduler", Some(loaded.unwrap_or_else(|| "fair".to_string())));
        let meminfo = files::text(root, "proc/meminfo").unwrap_or_default();
        self.add("memory", kilobytes(&meminfo, "MemTotal").map(|kb| format!("{kb} kB")));
        self.add(
            "swap-used",
            swap(&meminfo).map(|(used, total)| match total {
                0 => "no swap".to_string(),
                _ => format!("{used} kB"),
            }),
        );
    }
}

/// The architecture as `uname -m` has it. Kernels before 6.1 have no file of it; on the computer itself the program's
/// own stands for it.
fn architecture(root: &Path) -> Option<String> {
    let own = || (root == Path::new("/")).then(|| std::env::consts::ARCH.to_string());
    files::text(root, "proc/sys/kernel/arch").or_else(own)
}

/// What schedules in place of the fair class: state of sched_ext and name of its scheduler; none if nothing is loaded.
fn loaded_scheduler(root: &Path) -> Option<String> {
    let state = files::text(root, SCHED_EXT).filter(|state| state != "disabled")?;
    let name = files::text(root, "sys/kernel/sched_ext/root/ops");
    let name = name.unwrap_or_else(|| "without a name".to_string());
    Some(match state.as_str() {
        "enabled" => format!("sched_ext {name}"),
        other => format!("sched_ext {name} ({other})"),
    })
}

/// A field of `/proc/meminfo`, in kB.
fn kilobytes(meminfo: &str, field: &str) -> Option<u64> {
    files::field(meminfo, field)?.strip_suffix("kB")?.trim().parse().ok()
}

/// Swap that is in use and all swap, in kB.
fn swap(meminfo: &str) -> Option<(u64, u64)> {
    let total = kilobytes(meminfo, "SwapTotal")?;
    Some((total.saturating_sub(kilobytes(meminfo, "SwapFree")?), total))
}

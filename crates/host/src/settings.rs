//! What a variant sets, as writes to this computer's files.
//!
//! CPUs and thread groups go first, since other files come and go with them. Then clocks, idle states, the scheduler's files and
//! sysctls; control groups are last. [`Settings::check`] says before anything is changed what this computer does not have.

use crate::HostError;
use crate::computer::{Computer, GROUPS};
use machine::CpuSet;
use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};
use setting::{Form, Group, KernelFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CPUS: &str = "/sys/devices/system/cpu";
const SMT: &str = "/sys/devices/system/cpu/smt/control";
const CPUFREQ: &str = "/sys/devices/system/cpu/cpufreq";
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
/// The scheduler's features before 5.13 and since.
const FEATURES: [&str; 2] =
    ["/sys/kernel/debug/sched_features", "/sys/kernel/debug/sched/features"];

/// Tunables of the scheduler, of several releases, that the kernel sets anew from the number of CPUs when a CPU comes or goes.
const BY_CPUS: [&str; 4] =
    ["base_slice_ns", "latency_ns", "min_granularity_ns", "wakeup_granularity_ns"];

/// What a variant sets. What is not set stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Threads of each core that are online, of so many.
    pub smt: Option<(u32, u32)>,
    /// CPUs that are offline.
    pub offline: CpuSet,
    /// The governor of all clocks.
    pub governor: Option<String>,
    /// Its tunables, by their names in sysfs.
    pub tunables: BTreeMap<String, String>,
    /// The driver of clocks that the variant was made for.
    pub driver: Option<String>,
    /// `scaling_min_freq` in kHz.
    pub min_khz: Option<u32>,
    /// `scaling_max_freq` in kHz.
    pub max_khz: Option<u32>,
    /// `energy_performance_preference`.
    pub epp: Option<String>,
    /// Whether clocks above the nominal one are allowed.
    pub boost: Option<bool>,
    /// Idle states by name, and whether CPUs may use them.
    pub idle_states: BTreeMap<String, bool>,
    /// Other files, with the variant's field that each is for.
    pub files: Vec<(String, KernelFile)>,
    /// Control groups, those above first.
    pub groups: Vec<Group>,
}

/// A refusal: what this computer lacks for `field`.
fn lacks(field: &str, found: impl Into<String>, expected: impl Into<String>) -> HostError {
    HostError::NotHere { field: field.to_owned(), found: found.into(), expected: expected.into() }
}

impl Settings {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Settings::default()
    }

    /// Looks for all that is to be set on the computer below `root`, changing nothing.
    ///
    /// # Errors
    /// What is not there, what has no such value, and what this user may not write.
    pub fn check(&self, root: &Path) -> Result<(), HostError> {
        let on = Files { root };
        for (field, file) in on.first(self)?.into_iter().chain(on.second(self)?) {
            on.may_write(&field, &file.path)?;
        }
        // Tunables are there once their governor is.
        if !self.groups.is_empty() {
            on.groups(&self.groups)?;
        }
        Ok(())
    }

    /// Sets all of it on `computer`.
    ///
    /// # Errors
    /// What the kernel refuses. What was set until then is journaled.
    pub fn apply(&self, computer: &mut Computer) -> Result<(), HostError> {
        let root = computer.path("/");
        let on = Files { root: &root };
        let first = on.first(self)?;
        for file in on.changed_by(&first) {
            computer.keep(&file)?;
        }
        for (_, file) in first {
            computer.set(&file)?;
        }
        for (_, file) in on.second(self)? {
            computer.set(&file)?;
        }
        for (_, file) in on.tunables(self)? {
            computer.set(&file)?;
        }
        computer.make_groups(&self.groups)
    }
}

/// A variant's field and the write that it asks for.
type Write = (String, KernelFile);

/// The files of a computer.
struct Files<'a> {
    root: &'a Path,
}

impl Files<'_> {
    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn read(&self, path: &str) -> Option<String> {
        Some(std::fs::read_to_string(self.path(path)).ok()?.trim().to_owned())
    }

    fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    fn may_write(&self, field: &str, path: &str) -> Result<(), HostError> {
        let full = self.path(path);
        match access(&full, AccessFlags::W_OK) {
            Ok(()) => Ok(()),
            Err(Errno::ENOENT | Errno::ENOTDIR) => {
                Err(lacks(field, format!("no {}", full.display()), "a kernel that has it"))
            }
            // Others do not even see debugfs.
            Err(_) => {
                let found = format!("{}, which this user may not write", full.display());
                Err(lacks(field, found, "root"))
            }
        }
    }

    /// Thread groups and CPUs.
    fn first(&self, settings: &Settings) -> Result<Vec<Write>, HostError> {
        let mut all = Vec::new();
        if let Some((threads, of)) = settings.smt {
            let now = self.read(SMT).unwrap_or_else(|| format!("no {SMT}"));
            if !["on", "off"].contains(&now.as_str()) && now.parse::<u32>().is_err() {
                return Err(lacks("smt", now, "on or off: a kernel that switches threads"));
            }
            let value = match threads {
                1 => "off".to_owned(),
                n if n == of => "on".to_owned(),
                n => n.to_string(),
            };
            all.push(("smt".to_owned(), KernelFile::value(SMT, value)));
        }
        for cpu in settings.offline.iter() {
            let file = format!("{CPUS}/cpu{cpu}/online");
            if !self.has(&file) {
                let expected = "a CPU that can go offline";
                return Err(lacks("offline", format!("CPU {cpu} without {file}"), expected));
            }
            all.push(("offline".to_owned(), KernelFile::value(file, 0)));
        }
        Ok(all)
    }

    /// Files that the kernel changes by itself when it is told `first`: tunables, and CPUs that were offline before threads were switched
    /// off, which come online with the others.
    fn changed_by(&self, first: &[Write]) -> Vec<String> {
        if first.is_empty() {
            return vec![];
        }
        let tunables = BY_CPUS.iter().map(|name| format!("/sys/kernel/debug/sched/{name}"));
        let mut all: Vec<String> = tunables.filter(|file| self.has(file)).collect();
        if first.iter().any(|(_, file)| file.path == SMT) {
            let cpus = self.numbers(CPUS, "cpu").into_iter();
            let files = cpus.map(|cpu| format!("{CPUS}/cpu{cpu}/online"));
            all.extend(files.filter(|file| self.read(file).as_deref() == Some("0")));
        }
        all
    }

    /// Numbers of the entries of the directory `path` that begin with `start`.
    fn numbers(&self, path: &str, start: &str) -> Vec<usize> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten();
        let number = |e: std::io::Result<std::fs::DirEntry>| {
            e.ok()?.file_name().to_str()?.strip_prefix(start)?.parse().ok()
        };
        let mut all: Vec<usize> = entries.filter_map(number).collect();
        all.sort_unstable();
        all
    }

    /// All that is there once CPUs are.
    fn second(&self, settings: &Settings) -> Result<Vec<Write>, HostError> {
        let mut all = Vec::new();
        all.extend(settings.boost.map(|on| self.boost(on)).transpose()?);
        self.clocks(settings, &mut all)?;
        for (name, &on) in &settings.idle_states {
            all.extend(self.idle_state(name, on)?);
        }
        for (field, file) in &settings.files {
            let file = self.placed(file);
            self.refuse_unknown_feature(field, &file)?;
            all.push((field.clone(), file));
        }
        Ok(all)
    }

    /// `file`, where this kernel has it.
    fn placed(&self, file: &KernelFile) -> KernelFile {
        let [old, new] = FEATURES;
        match file.path == new && !self.has(new) && self.has(old) {
            true => KernelFile { path: old.to_owned(), ..file.clone() },
            false => file.clone(),
        }
    }

    /// Refuses a feature that the kernel does not list.
    fn refuse_unknown_feature(&self, field: &str, file: &KernelFile) -> Result<(), HostError> {
        let known = self.read(&file.path).filter(|_| file.form == Form::Feature);
        match known.is_none_or(|list| file.is_held_by(&list) || file.undone("").is_held_by(&list)) {
            true => Ok(()),
            false => {
                let found = format!("none of that name in {}", file.path);
                Err(lacks(field, found, "a feature that this kernel has"))
            }
        }
    }

    fn boost(&self, on: bool) -> Result<Write, HostError> {
        let boost = format!("{CPUFREQ}/boost");
        let file = match (self.has(&boost), self.has(NO_TURBO)) {
            (true, _) => KernelFile::value(boost, u8::from(on)),
            (false, true) => KernelFile::value(NO_TURBO, u8::from(!on)),
            (false, false) => {
                let found = format!("neither {boost} nor {NO_TURBO}");
                return Err(lacks("host.boost", found, "a driver that switches boost"));
            }
        };
        Ok(("host.boost".to_owned(), file))
    }

    /// Directories of policies, in the order of their CPUs.
    fn policies(&self, field: &str) -> Result<Vec<String>, HostError> {
        let found = self.numbers(CPUFREQ, "policy");
        // The policy of CPUs that are all offline has no governor.
        let all = found.iter().map(|n| format!("{CPUFREQ}/policy{n}"));
        let all: Vec<String> =
            all.filter(|p| self.read(&format!("{p}/scaling_governor")).is_some()).collect();
        match all.is_empty() {
            true => Err(lacks(field, format!("no policy in {CPUFREQ}"), "a driver of clocks")),
            false => Ok(all),
        }
    }

    fn clocks(&self, settings: &Settings, all: &mut Vec<Write>) -> Result<(), HostError> {
        let number = |khz: Option<u32>| khz.map(|khz| khz.to_string());
        let wanted = [
            ("frequency.governor", "scaling_governor", settings.governor.clone()),
            ("host.max_khz", "scaling_max_freq", number(settings.max_khz)),
            ("host.min_khz", "scaling_min_freq", number(settings.min_khz)),
            ("host.epp", "energy_performance_preference", settings.epp.clone()),
        ];
        for (field, file, value) in wanted {
            let Some(value) = value else { continue };
            for policy in self.policies(field)? {
                self.refuse_unknown(field, &policy, file, &value)?;
                all.push((field.to_owned(), KernelFile::value(format!("{policy}/{file}"), &value)));
            }
        }
        if let Some(driver) = &settings.driver {
            for policy in self.policies("frequency.driver")? {
                let found = self.read(&format!("{policy}/scaling_driver")).unwrap_or_default();
                if found != *driver {
                    let expected = format!("{driver}, which takes another boot");
                    return Err(lacks("frequency.driver", format!("`{found}`"), expected));
                }
            }
        }
        Ok(())
    }

    /// Refuses a word that is not among those that the kernel lists for `file`, where it does.
    fn refuse_unknown(
        &self,
        field: &str,
        policy: &str,
        file: &str,
        value: &str,
    ) -> Result<(), HostError> {
        let list = match file {
            "scaling_governor" => "scaling_available_governors",
            "energy_performance_preference" => "energy_performance_available_preferences",
            _ => return Ok(()),
        };
        let Some(known) = self.read(&format!("{policy}/{list}")) else { return Ok(()) };
        match known.split_whitespace().any(|word| word == value) || value.parse::<u32>().is_ok() {
            true => Ok(()),
            false => Err(lacks(field, format!("`{value}`"), format!("one of {known}"))),
        }
    }

    /// Tunables of the governor, which are there once it governs: of all policies, or of each.
    fn tunables(&self, settings: &Settings) -> Result<Vec<Write>, HostError> {
        let Some(governor) = &settings.governor else { return Ok(vec![]) };
        let mut all = Vec::new();
        for (name, value) in &settings.tunables {
            let field = format!("frequency.{name}");
            let common = format!("{CPUFREQ}/{governor}/{name}");
            let files = match self.has(&common) {
                true => vec![common],
                false => {
                    let policies = self.policies(&field)?;
                    policies.iter().map(|policy| format!("{policy}/{governor}/{name}")).collect()
                }
            };
            for file in files {
                self.may_write(&field, &file)?;
                all.push((field.clone(), KernelFile::value(file, value)));
            }
        }
        Ok(all)
    }

    /// The state `name` of all CPUs.
    fn idle_state(&self, name: &str, on: bool) -> Result<Vec<Write>, HostError> {
        let field = format!("host.idle_states.{name}");
        let mut all = Vec::new();
        let mut known = Vec::new();
        for cpu in self.numbers(CPUS, "cpu") {
            let dir = format!("{CPUS}/cpu{cpu}/cpuidle");
            for state in self.numbers(&dir, "state") {
                let Some(found) = self.read(&format!("{dir}/state{state}/name")) else { continue };
                if found == name {
                    let file = format!("{dir}/state{state}/disable");
                    all.push((field.clone(), KernelFile::value(file, u8::from(!on))));
                }
                if !known.contains(&found) {
                    known.push(found);
                }
            }
        }
        match all.is_empty() {
            true if known.is_empty() => {
                Err(lacks(&field, "no idle states", "a driver of idle states"))
            }
            true => Err(lacks(&field, format!("`{name}`"), format!("one of {}", known.join(", ")))),
            false => Ok(all),
        }
    }

    /// Whether the groups can be made.
    fn groups(&self, groups: &[Group]) -> Result<(), HostError> {
        let control = format!("{GROUPS}/cgroup.subtree_control");
        if !self.has(&control) {
            let found = format!("no {}", self.path(&control).display());
            return Err(lacks("groups", found, "control groups of version 2"));
        }
        self.may_write("groups", &control)?;
        let known = self.read(&format!("{GROUPS}/cgroup.controllers")).unwrap_or_default();
        for group in groups {
            let field = format!("groups.{}", group.path);
            for (file, _) in &group.files {
                let controller = file.split_once('.').map_or(file.as_str(), |(name, _)| name);
                if !known.split_whitespace().any(|name| name == controller) {
                    let found = format!("`{file}`");
                    let expected = format!("files of one of the controllers {known}");
                    return Err(lacks(&field, found, expected));
                }
            }
            if group.core_cookie || group.session {
                let which = if group.core_cookie { "core_cookie" } else { "session" };
                return Err(lacks(&format!("{field}.{which}"), "true", "none on this computer"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

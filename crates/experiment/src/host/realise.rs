//! Variants on the running kernel: settings, how commands run, and what takes another boot.

use super::plan::Options;
use crate::guests::{RealiseError, switches};
use definition::Plan;
use definition::file::{HostEntry, VariantEntry};
use host::facts::Facts;
use host::scheduler::{self, Loader};
use host::{HostError, Settings};
use kernel::{Kernel, Version};
use machine::{CpuSet, Machine};
use setting::{KernelFile, Tunable};
use std::path::PathBuf;

/// A sched_ext scheduler that this computer loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostScheduler {
    /// Its name, for people.
    pub name: String,
    /// Its version; of a file, what tells it from others.
    pub version: String,
    /// How it is loaded.
    pub loader: Loader,
}

/// A variant on this computer.
#[derive(Debug, Clone)]
pub(super) struct Realised {
    pub(super) settings: Settings,
    /// CPUs that are offline under it.
    pub(super) offline: CpuSet,
    pub(super) host: HostEntry,
    pub(super) scheduler: Option<HostScheduler>,
}

/// Why this computer cannot have a variant.
#[derive(Debug, thiserror::Error)]
pub enum HostRealiseError {
    /// A mechanism that no feature of the kernel switches.
    #[error(transparent)]
    Mechanism(#[from] RealiseError),
    /// Something that is not here, or may not be changed.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Domains that cannot be built.
    #[error(transparent)]
    Domains(#[from] kernel::KernelError),
    /// Something that does not fit the running kernel.
    #[error("{field}: found {found}, expected {expected}")]
    Field {
        /// The variant's field.
        field: &'static str,
        /// What it says.
        found: String,
        /// What this boot can do.
        expected: String,
    },
}

fn wrong<T>(
    field: &'static str,
    found: impl ToString,
    expected: impl ToString,
) -> Result<T, HostRealiseError> {
    Err(HostRealiseError::Field { field, found: found.to_string(), expected: expected.to_string() })
}

/// The running kernel.
pub(super) struct Running {
    pub(super) version: Version,
    pub(super) release: String,
    command_line: String,
    hz: Option<u32>,
    /// This computer.
    pub(super) machine: Machine,
}

impl Running {
    /// Out of `facts` of the computer that is `machine`.
    ///
    /// # Errors
    /// A release that schedscape does not know.
    pub(super) fn of(facts: &Facts, machine: Machine) -> Result<Running, HostRealiseError> {
        let release = facts.get("kernel").unwrap_or_default().to_owned();
        let options = facts.options();
        let hz = options.iter().find(|(name, _)| name == "CONFIG_HZ");
        Ok(Running {
            version: release.parse()?,
            release,
            command_line: facts.get("command-line").unwrap_or_default().to_owned(),
            hz: hz.and_then(|(_, value)| value.parse().ok()),
            machine,
        })
    }

    fn stock(&self) -> Kernel {
        let mut kernel = Kernel::new(self.version);
        kernel.hz = self.hz.unwrap_or(Kernel::DEFAULT_HZ);
        kernel
    }

    /// Threads of the core that has most.
    fn threads(&self) -> u32 {
        let all = self.machine.possible();
        all.iter().map(|cpu| self.machine.core_cpus(cpu).len() as u32).max().unwrap_or(1)
    }

    /// CPUs that are offline where so many threads of each core, of so many, are online.
    fn idle_threads(&self, smt: Option<(u32, u32)>) -> CpuSet {
        let Some((threads, _)) = smt else { return CpuSet::default() };
        let is_off = |&cpu: &usize| {
            let core = self.machine.core_cpus(cpu);
            core.iter().take_while(|&other| other != cpu).count() >= threads as usize
        };
        self.machine.possible().iter().filter(is_off).collect()
    }

    /// Whether the variant at `at` can run in this boot, where `is_named` says that the user named it for this boot.
    fn boots(&self, plan: &Plan, at: usize, is_named: bool) -> Result<(), HostRealiseError> {
        let variant = &plan.file.variants[at];
        let words = variant.host.as_ref().map_or("", |host| &host.command_line);
        let has = |word: &&str| self.command_line.split_whitespace().any(|own| own == *word);
        if let Some(word) = words.split_whitespace().find(|word| !has(word)) {
            let expected = "a boot with it: --only names the variants that this one can run";
            return wrong("host.command_line", format!("no `{word}`"), expected);
        }
        let of = |v: &VariantEntry| (v.kernel, v.source.clone());
        if plan.file.variants.iter().all(|v| of(v) == of(variant)) {
            return Ok(());
        }
        if !is_named {
            let expected = "variants of one kernel, or --only with those that this boot can run";
            return wrong("kernel", "variants of several kernels", expected);
        }
        match variant.kernel == self.version {
            true => Ok(()),
            false => wrong(
                "kernel",
                &self.release,
                format!("{}, as the variant names it", variant.kernel),
            ),
        }
    }

    /// The variant at `at` of `plan` on this kernel.
    ///
    /// # Errors
    /// What takes another boot, what this computer does not have, and what this user may not change.
    pub(super) fn realise(
        &self,
        plan: &Plan,
        at: usize,
        options: &Options,
    ) -> Result<Realised, HostRealiseError> {
        let variant = &plan.file.variants[at];
        self.boots(plan, at, options.only.contains(&variant.name))?;
        let host = variant.host.clone().unwrap_or_default();
        let scheduler = options.schedulers.get(at).cloned().flatten();
        if let Some(scheduler) = &scheduler {
            scheduler::check(&options.root, &scheduler.loader)?;
        }
        let settings = self.settings(plan, at, &host)?;
        settings.check(&options.root)?;
        let offline = &settings.offline | &self.idle_threads(settings.smt);
        let online = &self.machine.online - &offline;
        if let Some(cpus) = host.cpus.as_ref().filter(|cpus| !(&**cpus - &online).is_empty()) {
            return wrong("host.cpus", cpus, format!("some of {online}, which are online"));
        }
        Ok(Realised { settings, offline, host, scheduler })
    }

    fn settings(
        &self,
        plan: &Plan,
        at: usize,
        host: &HostEntry,
    ) -> Result<Settings, HostRealiseError> {
        let variant = &plan.file.variants[at];
        self.refuse_what_needs_more(variant)?;
        let mut settings = Settings {
            smt: self.smt(variant)?,
            offline: host.offline.clone().unwrap_or_default(),
            min_khz: host.min_khz,
            max_khz: host.max_khz,
            epp: host.epp.clone(),
            boost: host.boost,
            idle_states: host.idle_states.clone(),
            groups: plan.file.groups(at),
            files: self.files(plan, at, host)?,
            ..Settings::default()
        };
        if let Some(entry) = &variant.frequency {
            let frequency = entry.frequency();
            settings.governor = Some(frequency.governor.name().to_owned());
            let tunable = |(t, value): (Tunable, u64)| (t.file().to_owned(), value.to_string());
            settings.tunables = frequency.tunables.iter().map(tunable).collect();
            settings.driver = entry.driver().map(|d| d.name().to_owned());
        }
        Ok(settings)
    }

    fn refuse_what_needs_more(&self, variant: &VariantEntry) -> Result<(), HostRealiseError> {
        if !variant.hotplug.is_empty() {
            let expected = "none: CPUs are switched before a run here (host.offline)";
            return wrong("hotplug", "steps", expected);
        }
        if variant.prefetch.is_some() {
            return wrong("prefetch", "settings", "none: the engine is the hypervisor's");
        }
        if let Some(key) = variant.frequency.as_ref().and_then(|f| f.of_models()) {
            return wrong("frequency", key, "none: it is a model's");
        }
        match (variant.hz, self.hz) {
            (Some(hz), Some(own)) if hz != own => {
                wrong("hz", hz, format!("{own}, as {} is built", self.release))
            }
            (Some(hz), None) => wrong("hz", hz, "none: the kernel's configuration cannot be read"),
            _ => Ok(()),
        }
    }

    fn smt(&self, variant: &VariantEntry) -> Result<Option<(u32, u32)>, HostRealiseError> {
        let Some(smt) = variant.smt else { return Ok(None) };
        let most = self.threads();
        match (1..=most).contains(&smt) {
            true => Ok(Some((smt, most))),
            false => wrong("smt", smt, format!("1 to {most} threads of a core")),
        }
    }

    /// Files of the kernel, with the fields that they are for.
    fn files(
        &self,
        plan: &Plan,
        at: usize,
        host: &HostEntry,
    ) -> Result<Vec<(String, KernelFile)>, HostRealiseError> {
        let variant = &plan.file.variants[at];
        let stock = self.stock();
        let (model, switched) = switches(plan, at, &stock, variant.kernel != self.version)?;
        if kernel::build(&self.machine, &model)? != kernel::build(&self.machine, &stock)? {
            let expected = format!("domains as {} builds them", self.release);
            return wrong("mechanisms", "some of the topology", expected);
        }
        let mut files = Vec::new();
        let mut add = |field: String, file: KernelFile| files.push((field, file));
        for feature in &switched {
            let (name, on) = match feature.strip_prefix("NO_") {
                Some(name) => (name, false),
                None => (feature.as_str(), true),
            };
            add(format!("mechanisms ({name})"), KernelFile::feature(name, on));
        }
        for (name, &on) in &variant.features {
            add(format!("features.{name}"), KernelFile::feature(name, on));
        }
        for (path, value) in &variant.debug {
            add(format!("debug.{path}"), KernelFile::debug(path, value));
        }
        for (name, value) in &variant.sysctl {
            add(format!("sysctl.{name}"), KernelFile::sysctl(name, value));
        }
        if let Some(word) = &host.transparent_hugepages {
            add("host.transparent_hugepages".to_owned(), KernelFile::choice(THP, word));
        }
        let both = [
            ("numa_balancing", variant.numa_balancing),
            ("host.numa_balancing", host.numa_balancing),
        ];
        for (field, on) in both.into_iter().filter_map(|(field, on)| Some((field, on?))) {
            let file = KernelFile::sysctl("kernel.numa_balancing", u8::from(on));
            add(field.to_owned(), file);
        }
        for (path, value) in &host.files {
            add(format!("host.files.{path}"), KernelFile::value(path, value));
        }
        Ok(files)
    }
}

const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// The directory of the control group `path`.
pub(super) fn group_dir(options: &Options, path: &str) -> PathBuf {
    options.root.join(host::computer::GROUPS.trim_start_matches('/')).join(path)
}

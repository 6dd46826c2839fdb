//! What a driver tells of its CPUs, and what it makes of a frequency.

use super::rules::{AMD_PSTATE_EPP_SINCE, AMD_PSTATE_SINCE, Rules, TransitionDelay};
use super::table::clamp_val;
use super::{CAPACITY_SHIFT, FrequencyError, Limits, Relation, Table, within};
use kernel::Version;
use setting::{AmdPstateMode, DriverChoice, Governor};

/// Transition latencies above this are taken for a firmware's mistake (`acpi_cpufreq_cpu_init`, registers in
/// fixed hardware, as on all of today's x86).
const ACPI_MAX_LATENCY_NS: u64 = 20_000;
/// `AMD_PSTATE_TRANSITION_DELAY`. From 6.9 on the driver prefers what CPPC says, which machines here do not tell.
const AMD_PSTATE_DELAY_US: u64 = 1000;

/// What `acpi-cpufreq` reads from ACPI.
#[derive(Debug, Clone)]
pub(crate) struct AcpiCpufreq {
    /// `_PSS`.
    pub(crate) table: Table,
    /// The largest transition latency of `_PSS`, in ns; 0 where the firmware does not tell.
    pub(crate) transition_latency_ns: u64,
    /// Boost by nominal frequency, 1024 for 1 ([`boost_ratio`](super::boost_ratio)), where CPPC tells.
    pub(crate) boost_ratio: Option<u64>,
}

/// What `amd-pstate` reads from CPPC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AmdPstate {
    /// Frequency of the lowest level, in kHz.
    pub(crate) lowest_khz: u64,
    /// Frequency of the nominal level, in kHz.
    pub(crate) nominal_khz: u64,
    /// Frequency of the highest level, in kHz.
    pub(crate) highest_khz: u64,
    /// Whether boost above the nominal frequency is on.
    pub(crate) boost: bool,
    /// Who chooses.
    pub(crate) mode: AmdPstateMode,
}

/// A driver under one kernel.
#[derive(Debug, Clone)]
pub(crate) struct Driver {
    rules: Rules,
    kind: Kind,
    min_khz: u64,
    max_khz: u64,
    transition_delay_us: u64,
}

#[derive(Debug, Clone)]
enum Kind {
    AcpiCpufreq(Table),
    AmdPstate(AmdPstateMode),
}

impl Driver {
    /// `acpi-cpufreq` (`acpi_cpufreq_cpu_init`).
    ///
    /// # Errors
    /// Fewer than two states; a boost beyond the kernel's 32 bits.
    pub(crate) fn acpi_cpufreq(
        version: Version,
        acpi: AcpiCpufreq,
    ) -> Result<Driver, FrequencyError> {
        let AcpiCpufreq { table, transition_latency_ns, boost_ratio } = acpi;
        if table.khz().len() < 2 {
            return Err(FrequencyError::OneState);
        }
        let rules = Rules::new(version);
        let boost_ratio = boost_ratio.filter(|_| rules.amd_boost);
        let p0_khz = table.highest_khz();
        let boost_khz = boost_ratio.map_or(0, |r| p0_khz.saturating_mul(r) >> CAPACITY_SHIFT);
        within("boost in kHz", boost_khz, 0..=u64::from(u32::MAX))?;
        let latency_ns = transition_latency_ns.min(ACPI_MAX_LATENCY_NS);
        Ok(Driver {
            rules,
            min_khz: table.lowest_khz(),
            max_khz: p0_khz.max(boost_khz),
            transition_delay_us: transition_delay_us(&rules, latency_ns),
            kind: Kind::AcpiCpufreq(table),
        })
    }

    /// `amd-pstate` (`amd_pstate_init_freq`), from 5.17 on. Its guided mode (6.4) asks as the passive one does.
    ///
    /// # Errors
    /// A kernel without the driver or the mode; frequencies that are 0 or not ascending.
    pub(crate) fn amd_pstate(
        version: Version,
        pstate: AmdPstate,
    ) -> Result<Driver, FrequencyError> {
        let driver = DriverChoice::AmdPstate(pstate.mode).name();
        let since = match pstate.mode {
            AmdPstateMode::Active => AMD_PSTATE_EPP_SINCE,
            AmdPstateMode::Passive => AMD_PSTATE_SINCE,
        };
        if version < since {
            return Err(FrequencyError::DriverTooNew { driver, found: version, since });
        }
        let AmdPstate { lowest_khz, nominal_khz, highest_khz, boost, mode } = pstate;
        within("highest_khz", highest_khz, 1..=u64::from(u32::MAX))?;
        within("nominal_khz", nominal_khz, 1..=highest_khz)?;
        within("lowest_khz", lowest_khz, 1..=nominal_khz)?;
        Ok(Driver {
            rules: Rules::new(version),
            kind: Kind::AmdPstate(mode),
            min_khz: lowest_khz,
            max_khz: if boost { highest_khz } else { nominal_khz },
            transition_delay_us: AMD_PSTATE_DELAY_US,
        })
    }

    /// The name in `scaling_driver`.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::AcpiCpufreq(_) => DriverChoice::AcpiCpufreq.name(),
            Kind::AmdPstate(mode) => DriverChoice::AmdPstate(mode).name(),
        }
    }

    /// The rules of the kernel whose driver it is.
    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The P-states of a driver that has a table.
    pub(crate) fn table(&self) -> Option<&Table> {
        match &self.kind {
            Kind::AcpiCpufreq(table) => Some(table),
            Kind::AmdPstate(_) => None,
        }
    }

    /// `cpuinfo.min_freq`, in kHz.
    pub(crate) fn min_khz(&self) -> u64 {
        self.min_khz
    }

    /// `cpuinfo.max_freq`, in kHz: with `acpi-cpufreq` P0 before 5.11, and from then on the boost where CPPC tells
    /// it (commits 3c55e94c0ade and 538b0188da46, which answer a regression that 5.11's invariance brought to EPYC;
    /// seen in 6.1's and 6.12's sources).
    pub(crate) fn max_khz(&self) -> u64 {
        self.max_khz
    }

    /// Time that governors leave between changes, in us (`cpufreq_policy_transition_delay_us`).
    pub(crate) fn transition_delay_us(&self) -> u64 {
        self.transition_delay_us
    }

    /// A policy's limits when nobody set any, with `cur_khz` as it starts. From 5.16 on they are rounded to the
    /// table, so that boost that is known but no state does not count in `policy->max`.
    pub(crate) fn limits(&self, cur_khz: u64) -> Limits {
        let full = Limits { min_khz: self.min_khz, max_khz: self.max_khz, cur_khz };
        if !self.rules.limits_in_table {
            return full;
        }
        let max_khz = self.resolve(self.max_khz, &full, Relation::High);
        let min_khz = self.resolve(self.min_khz, &full, Relation::Low).min(max_khz);
        Limits { min_khz, max_khz, cur_khz }
    }

    /// What is set for `target_khz` (`__resolve_freq`): a table's entry ([`Table::resolve`]), or without a table
    /// anything within the limits.
    pub(crate) fn resolve(&self, target_khz: u64, limits: &Limits, relation: Relation) -> u64 {
        match &self.kind {
            Kind::AcpiCpufreq(table) => {
                table.resolve(target_khz, limits.min_khz, limits.max_khz, relation)
            }
            Kind::AmdPstate(_) => clamp_val(target_khz, limits.min_khz, limits.max_khz),
        }
    }

    /// The frequency, in kHz, that full utilisation stands for in schedutil: the maximum where utilisation is
    /// frequency-invariant, otherwise what the CPU has, from 6.8 on and a quarter (`get_capacity_ref_freq`; x86 has
    /// no `arch_scale_freq_ref`).
    pub(crate) fn reference_khz(&self, invariant: bool, cur_khz: u64) -> u64 {
        if invariant {
            self.max_khz
        } else if self.rules.reference_with_quarter {
            cur_khz + (cur_khz >> 2)
        } else {
            cur_khz
        }
    }

    /// Whether a policy of this driver can have `governor`.
    ///
    /// # Errors
    /// `amd-pstate` in active mode has a policy of its own (`->setpolicy`) of which `performance` and `powersave`
    /// are the names.
    pub(crate) fn offers(&self, governor: Governor) -> Result<(), FrequencyError> {
        match (&self.kind, governor) {
            (Kind::AcpiCpufreq(_) | Kind::AmdPstate(AmdPstateMode::Passive), _)
            | (_, Governor::Performance | Governor::Powersave) => Ok(()),
            (Kind::AmdPstate(AmdPstateMode::Active), found) => {
                Err(FrequencyError::NotOffered { driver: self.name(), found })
            }
        }
    }
}

/// `cpufreq_policy_transition_delay_us` of a driver that gives a latency; without one 1 ms.
fn transition_delay_us(rules: &Rules, latency_ns: u64) -> u64 {
    let latency_us = latency_ns / 1000;
    match rules.transition_delay {
        _ if latency_us == 0 => 1000,
        TransitionDelay::OneAndAHalf => latency_us + (latency_us >> 1),
        TransitionDelay::Thousandfold { cap_us } => (latency_us * 1000).min(cap_us),
    }
}

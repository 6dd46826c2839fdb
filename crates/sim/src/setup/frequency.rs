//! How the clocks of a machine are governed: driver, governor, what invariance takes for the maximum.

use crate::SimError;
use crate::cpufreq::{
    AcpiCpufreq, AmdPstate, Driver, FrequencyError, Table, boost_ratio, max_freq_of_acpi_cpufreq,
    max_freq_ratio,
};
use crate::hardware::ClockModel;
use crate::source::Governing;
use crate::topology::{Cpu, Topology};
use kernel::Kernel;
use machine::{FrequencyPolicy, Machine};
use setting::{DriverChoice, Frequency, Governor, Invariance, Tunables};

/// Firmware of such servers tells no latency; governors then wait for a millisecond.
const TRANSITION_LATENCY_NS: u64 = 0;

/// How clocks are governed, fit for a machine and a kernel.
#[derive(Debug)]
pub(crate) struct Governed {
    pub(crate) model: ClockModel,
    pub(crate) driver: Driver,
    pub(crate) governor: Governor,
    /// The highest clock by P0, 1024 for 1, where load tracking is invariant.
    pub(crate) max_freq_ratio: Option<u64>,
    /// What is set of the governor's tunables.
    pub(crate) tunables: Tunables,
    /// For a kernel's own governors: boost by P0, 1024 for 1, where CPPC tells, and whether the driver switches fast.
    boost_ratio: Option<u64>,
    fast_switch: bool,
    /// Whether the simulator's governors govern under a kernel's code, too.
    pub(crate) by_model: bool,
    /// CPUs of each policy.
    pub(crate) policies: Vec<Box<[Cpu]>>,
    /// By CPU: its policy.
    pub(crate) policy_of: Vec<u16>,
}

impl Governed {
    pub(crate) fn new(
        machine: &Machine,
        kernel: &Kernel,
        topo: &Topology,
        choice: &Frequency,
    ) -> Result<Governed, SimError> {
        let refuse = |source| SimError::Frequency { machine: machine.name.clone(), source };
        let model = ClockModel::new(machine, topo)?;
        let policies = &machine.policies;
        let Some(first) = policies.first() else {
            return Err(SimError::NoPolicies { machine: machine.name.clone() });
        };
        let levels = cppc(machine);
        let driver = driver(kernel, first, levels, choice.driver).map_err(refuse)?;
        driver.offers(choice.governor).map_err(refuse)?;
        let max_freq = match choice.invariance {
            Invariance::Off => None,
            Invariance::By(max_freq) => Some(max_freq),
            // Only EPYC is known here to boost beyond what the table says.
            Invariance::Release if machine.vendor.as_deref() == Some("AuthenticAMD") => {
                max_freq_of_acpi_cpufreq(kernel.version, levels.is_some())
            }
            Invariance::Release => None,
        };
        let max_freq_ratio = match (max_freq, levels) {
            (None, _) => None,
            (Some(_), None) => return Err(SimError::NoCppc { machine: machine.name.clone() }),
            (Some(max), Some((highest, nominal))) => {
                Some(max_freq_ratio(highest, nominal, max).map_err(refuse)?)
            }
        };
        let mut policy_of = vec![0; machine.cpus.len()];
        let sets: Vec<Box<[Cpu]>> = policies
            .iter()
            .map(|p| (&p.cpus & &topo.online_set).iter().map(|c| c as Cpu).collect())
            .collect();
        for (at, policy) in policies.iter().enumerate() {
            policy.cpus.iter().for_each(|cpu| policy_of[cpu] = at as u16);
        }
        Ok(Governed {
            model,
            driver,
            governor: choice.governor,
            max_freq_ratio,
            tunables: choice.tunables,
            boost_ratio: levels.and_then(|(high, nominal)| boost_ratio(high, nominal).ok()),
            fast_switch: choice.fast_switch,
            by_model: choice.by_model,
            policies: sets,
            policy_of,
        })
    }

    /// The same for a kernel's own cpufreq; none where the driver has no table.
    pub(crate) fn governing(&self) -> Option<Governing> {
        let policy = |cpus: &[Cpu]| cpus.iter().map(|&cpu| usize::from(cpu)).collect();
        Some(Governing {
            khz: self.driver.table()?.khz().iter().map(|&khz| khz as u32).collect(),
            policies: self.policies.iter().map(|cpus| policy(cpus)).collect(),
            transition_latency_ns: TRANSITION_LATENCY_NS as u32,
            boost_ratio: self.boost_ratio.map(|ratio| ratio as u32),
            fast_switch: self.fast_switch,
            invariant: self.max_freq_ratio.is_some(),
            governor: self.governor.name(),
            tunables: self.tunables.iter().map(|(t, value)| (t.file(), value)).collect(),
        })
    }
}

/// CPPC's highest and nominal level: from the machine's tables, or from its constants.
fn cppc(machine: &Machine) -> Option<(u32, u32)> {
    let constant = |name| machine.constants.value(name).ok().map(|v| v as u32);
    match machine.cppc.first() {
        Some(c) => Some((c.highest_perf as u32, c.nominal_perf as u32)),
        None => Some((constant("cppc_highest_perf")?, constant("cppc_nominal_perf")?)),
    }
}

fn driver(
    kernel: &Kernel,
    policy: &FrequencyPolicy,
    levels: Option<(u32, u32)>,
    choice: DriverChoice,
) -> Result<Driver, FrequencyError> {
    match choice {
        DriverChoice::AcpiCpufreq => {
            let table = Table::new(&policy.available_khz)?;
            let boost_ratio =
                levels.map(|(high, nominal)| boost_ratio(high, nominal)).transpose()?;
            let transition_latency_ns = TRANSITION_LATENCY_NS;
            let acpi = AcpiCpufreq { table, transition_latency_ns, boost_ratio };
            Driver::acpi_cpufreq(kernel.version, acpi)
        }
        DriverChoice::AmdPstate(mode) => {
            let nominal_khz = policy.max_khz;
            let boost =
                levels.map_or(1.0, |(high, nominal)| f64::from(high) / f64::from(nominal.max(1)));
            let pstate = AmdPstate {
                lowest_khz: policy.min_khz,
                nominal_khz,
                highest_khz: (nominal_khz as f64 * boost) as u64,
                boost: true,
                mode,
            };
            Driver::amd_pstate(kernel.version, pstate)
        }
    }
}

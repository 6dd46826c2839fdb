//! A discrete-event model of Linux scheduling on modelled hardware.
//!
//! A [`Scenario`] is a machine, a kernel and a workload prepared for running; [`Scenario::run`] takes a seed and
//! gives a [`RunResult`]. A run reads no clock, no file and no environment: the same seed gives the same bytes.

pub mod class;
pub mod counters;
mod cpufreq;
mod engine;
mod events;
mod fair;
pub mod follow;
mod hardware;
pub mod hypervisor;
mod idle;
pub mod inspect;
pub mod judge;
mod kernel_locks;
mod latency;
mod loops;
mod pages;
mod pelt;
mod pelt_clock;
mod queue_lines;
pub mod rng;
mod routes;
mod rt;
mod rules;
mod run;
mod scenario;
mod setup;
pub mod source;
mod spin_lock;
pub mod topology;
pub mod trace;
mod uclamp;
mod warmth;
pub mod world;

pub use counters::Counters;
pub use cpufreq::FrequencyError;
pub use run::RunResult;
pub use scenario::Scenario;
pub use trace::{NoTrace, Trace};

/// Why a scenario cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// A constant is missing.
    #[error("machine `{machine}`: {missing}")]
    Constant {
        /// The machine's name.
        machine: String,
        /// Which constant.
        missing: machine::constants::MissingConstant,
    },
    /// A count that the cost model needs and the table of the machine's architecture lacks.
    #[error("machine `{machine}`: {missing}")]
    Count {
        /// The machine's name.
        machine: String,
        /// Which count.
        missing: machine::costs::MissingCount,
    },
    /// An architecture of which nothing was counted.
    #[error("machine `{machine}`: {reason}")]
    Costs {
        /// The machine's name.
        machine: String,
        /// Why.
        reason: String,
    },
    /// A machine without idle states.
    #[error("machine `{machine}`: idle states: found none, expected at least one")]
    IdleStates {
        /// The machine's name.
        machine: String,
    },
    /// A workload with memory use on a machine whose caches are not known.
    #[error(
        "machine `{machine}`: caches of CPU {cpu}: found {found}, expected data caches with size and line size, as the workload uses memory"
    )]
    Caches {
        /// The machine's name.
        machine: String,
        /// The first CPU without.
        cpu: usize,
        /// What is there.
        found: String,
    },
    /// A step with a quantity that it cannot have.
    #[error("program `{program}`: {field}: found {found}, expected {expected}")]
    Step {
        /// The program's name.
        program: String,
        /// Step and field.
        field: &'static str,
        /// The quantity.
        found: String,
        /// What is possible.
        expected: &'static str,
    },
    /// A run that does not end in time.
    #[error("simulated time: found more than 78 hours, expected a run that ends before")]
    Horizon,
    /// Frequencies or a governor that cannot be.
    #[error("machine `{machine}`: {source}")]
    Frequency {
        /// The machine's name.
        machine: String,
        /// What is wrong.
        source: cpufreq::FrequencyError,
    },
    /// A governor for a machine of which no frequency policy is known.
    #[error(
        "machine `{machine}`: frequency policies: found none, expected one with its P-states, as the \
         variant names a governor"
    )]
    NoPolicies {
        /// The machine's name.
        machine: String,
    },
    /// Frequency invariance without CPPC.
    #[error(
        "machine `{machine}`: CPPC levels: found none, expected them, as load tracking is to be \
         frequency-invariant"
    )]
    NoCppc {
        /// The machine's name.
        machine: String,
    },
    /// Boost clocks out of order.
    #[error("machine `{machine}`: {field}: found {found} kHz, expected at least {least} kHz")]
    Boost {
        /// The machine's name.
        machine: String,
        /// The constant.
        field: &'static str,
        /// Its value.
        found: u32,
        /// The clock that it may not be below.
        least: u32,
    },
    /// A cache, a sampling or a log table that cannot be.
    #[error("machine `{machine}`: {source}")]
    Cache {
        /// The machine's name.
        machine: String,
        /// What is wrong.
        source: cache::CacheError,
    },
    /// Partitions on a host that cannot have them, or cannot have them so.
    #[error("partitions: {field}: found {found}, expected {expected}")]
    Partitions {
        /// Which part.
        field: &'static str,
        /// What it holds.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// Domains could not be built.
    #[error(transparent)]
    Domains(#[from] kernel::KernelError),
    /// An affinity without an online CPU.
    #[error(
        "affinity of `{task}`: found CPUs {found}, expected at least one of the online CPUs {online}"
    )]
    Affinity {
        /// The task's program.
        task: String,
        /// CPUs asked for.
        found: String,
        /// CPUs online.
        online: String,
    },
    /// A hotplug step for a CPU that the machine does not have.
    #[error("hotplug step {step}: found CPU {found}, expected one of the CPUs {expected}")]
    HotplugCpu {
        /// The step, from 0.
        step: usize,
        /// The CPU.
        found: usize,
        /// The machine's CPUs.
        expected: String,
    },
    /// A hotplug step that changes nothing.
    #[error("hotplug step {step}: found CPU {cpu} {found} already, expected one that is not")]
    HotplugState {
        /// The step, from 0.
        step: usize,
        /// The CPU.
        cpu: usize,
        /// What it is: online or offline.
        found: &'static str,
    },
    /// A hotplug step that leaves no CPU (`EBUSY`).
    #[error(
        "hotplug step {step}: found the last online CPU {cpu} going offline, expected another one online"
    )]
    HotplugLast {
        /// The step, from 0.
        step: usize,
        /// The CPU.
        cpu: usize,
    },
    /// Hotplug steps that go back in time.
    #[error(
        "hotplug step {step}: found {found_ns} ns after a step at {before_ns} ns, expected ascending times"
    )]
    HotplugOrder {
        /// The step, from 0.
        step: usize,
        /// Its time.
        found_ns: u64,
        /// The time of the step before.
        before_ns: u64,
    },
    /// A program with more loops than tasks keep counts of.
    #[error("program `{program}`: found {found} loops, expected at most {max}")]
    Loops {
        /// The program's name.
        program: String,
        /// Its loops.
        found: usize,
        /// What is possible.
        max: usize,
    },
    /// Nothing but daemons can go on, and the program did not end.
    #[error("the run stopped making progress at {at_ns} ns: {waits}")]
    Stuck {
        /// When.
        at_ns: u64,
        /// Which tasks wait, and for what.
        waits: String,
    },
    /// A task goes from step to step without ever taking time.
    #[error(
        "program `{program}`, step {step}: found an endless loop that takes no time, expected a step that takes some"
    )]
    Endless {
        /// The program's name.
        program: String,
        /// A step of the loop, from 0.
        step: u32,
    },
    /// A task did something that it may not do.
    #[error("program `{program}`, step {step}: {reason}")]
    Misuse {
        /// The program's name.
        program: String,
        /// The step, from 0.
        step: u32,
        /// What is wrong.
        reason: &'static str,
    },
    /// A shared thing that cannot be.
    #[error("workload: {field}: found {found}, expected {expected}")]
    Workload {
        /// Which part.
        field: String,
        /// What it holds.
        found: String,
        /// What is possible.
        expected: &'static str,
    },
    /// Control groups that the model cannot have.
    #[error("groups.{field}: found {found}, expected {expected}")]
    Groups {
        /// The group, and its file.
        field: String,
        /// What is written to it.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// A kernel tree's code that cannot go on.
    #[error("the kernel's code: {reason}")]
    Source {
        /// Why.
        reason: String,
    },
    /// A kernel tree's code that does what no scheduler may ([`inspect`]).
    #[error(transparent)]
    Broken(#[from] inspect::Broken),
    /// A setting that a kernel tree's code does not have yet.
    #[error("a variant with `source`: {field}: found {found}, expected {expected}")]
    SourceSetting {
        /// Which part.
        field: &'static str,
        /// What it holds.
        found: String,
        /// What is possible.
        expected: &'static str,
    },
    /// A metric of times of which none was recorded.
    #[error("metric `{metric}`: the run recorded no times for it")]
    NoTimes {
        /// The metric's name.
        metric: String,
    },
    /// A metric's mark was never passed.
    #[error("metric `{metric}`: the run ended before its marks were passed")]
    Mark {
        /// The metric's name.
        metric: String,
    },
}

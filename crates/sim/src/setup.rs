//! A machine, a kernel and a workload in a setting, checked and made ready: what all runs of a variant share.
//!
//! Nothing here changes while a run lasts, and nothing runs: the engine reads it, `crate::scenario` runs the engine.
//! Domains come from the `kernel` crate, costs from the machine's constants (`hardware`), and what cannot be simulated is
//! refused here, before the first run.

mod frequency;
mod groups;
mod hotplug;
mod steps;

use crate::SimError;
use crate::cpufreq::governor;
use crate::hardware::{Hardware, Memory};
use crate::idle::Menu;
use crate::loops;
use crate::rules::CoreRules;
use crate::topology::Topology;
use crate::world::MAX_LOOPS;
pub(crate) use frequency::Governed;
pub(crate) use groups::ModelGroups;
use hotplug::Hotplug;
pub(crate) use hotplug::Prepared;
use kernel::Kernel;
use machine::{CpuSet, IdleState, Machine};
use setting::{Prefetch, Setting};
use workload::{Op, Policy, Program, ProgramId, Workload};

/// Everything that replicas of one variant share.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) topo: Topology,
    pub(crate) hw: Hardware,
    pub(crate) idle_exits: Vec<IdleExit>,
    /// Who chooses among them.
    pub(crate) menu: Menu,
    pub(crate) kernel: Kernel,
    pub(crate) rules: CoreRules,
    pub(crate) workload: Workload,
    /// Caches and memory, where a program uses them.
    pub(crate) memory: Option<Memory>,
    /// Whether NUMA balancing runs: it is on, programs use memory, and there are several nodes.
    pub(crate) numa_balancing: bool,
    /// What copying a byte takes a core, in ns at the nominal clock; 0 where the machine does not say.
    pub(crate) copy_ns_per_byte: f64,
    /// Moves of a contended line for each access to it, where a program contends.
    pub(crate) contend_transfers: f64,
    pub(crate) hotplug: Hotplug,
    /// Clocks that move, where the setting says who governs them.
    pub(crate) governed: Option<Governed>,
    /// What workers of the kernel run, where the governor has work for them.
    pub(crate) kworker: Option<ProgramId>,
    /// By program: the control group, by its place from 1 on, in which its tasks begin; 0 for their parent's. Empty without groups.
    pub(crate) groups: Vec<u32>,
    /// Control groups of the setting.
    pub(crate) nr_groups: usize,
    /// The groups as the model has them, or why it cannot.
    pub(crate) model_groups: Result<ModelGroups, SimError>,
    /// Whether tasks of some group share a cookie or a session.
    pub(crate) shared: bool,
    /// Policies that tasks ask for.
    pub(crate) policies: Vec<Policy>,
    /// The machine's name.
    pub(crate) machine: String,
}

impl Setup {
    /// Prepares `workload` for `machine` under `kernel`.
    pub(crate) fn new(
        machine: &Machine,
        kernel: &Kernel,
        mut workload: Workload,
        setting: &Setting,
    ) -> Result<Setup, SimError> {
        if setting.prefetch != Prefetch::default() || workload.partitions.is_some() {
            return Err(SimError::Partitions {
                field: "workload",
                found: "partitions, or a use of the prefetch engine without them".to_string(),
                expected: "neither, or both on a host (`sim::hypervisor`)".to_string(),
            });
        }
        if machine.idle_states.is_empty() {
            return Err(SimError::IdleStates { machine: machine.name.clone() });
        }
        let domains = kernel::build(machine, kernel)?;
        let topo = Topology::new(machine, &domains);
        let hotplug = Hotplug::new(machine, kernel, &setting.hotplug)?;
        let all = Machine { online: hotplug.ever_online.clone(), ..machine.clone() };
        // Costs are those of all CPUs that ever run.
        let widest = match all.online == machine.online {
            true => None,
            false => Some(Topology::new(&all, &kernel::build(&all, kernel)?)),
        };
        let widest = widest.as_ref().unwrap_or(&topo);
        let mut hw = Hardware::new(machine, widest, (kernel.version.major, kernel.version.minor))?;
        hw.kernel_is_free = workload.has_kernel_work;
        check(&workload, &machine.online, &all.online)?;
        steps::check(&workload, &machine.nodes)?;
        let memory = if uses(&workload, |op| matches!(op, Op::Memory(_))) {
            Some(Memory::new(machine, widest)?)
        } else {
            None
        };
        let numa_balancing = setting.numa_balancing
            && machine.nodes.len() > 1
            && memory.is_some()
            && !workload.has_kernel_work;
        let copied = machine.constants.value("copy_bytes_per_cycle");
        let copy_ns_per_byte = copied.map_or(0.0, |bytes| 1.0 / (bytes * hw.cycles_per_ns));
        let contend_transfers = if uses(&workload, |op| matches!(op, Op::Contend { .. })) {
            let missing = |e| SimError::Constant { machine: machine.name.clone(), missing: e };
            machine.constants.value("contend_transfers_per_round").map_err(missing)?
        } else {
            0.0
        };
        let groups = groups::groups_of(&workload, &setting.groups);
        let model_groups = ModelGroups::new(machine, kernel, &setting.groups);
        let governed = (setting.frequency.as_ref())
            .map(|choice| Governed::new(machine, kernel, widest, choice))
            .transpose()?;
        let shared = setting.groups.iter().any(|g| g.core_cookie || g.session);
        let ops = workload.programs.iter().flat_map(|p| &p.ops);
        let asked = |op: &Op| if let Op::SetPolicy(policy) = op { Some(*policy) } else { None };
        let policies = ops.filter_map(asked).collect();
        let has_work = governed.as_ref().is_some_and(|g| governor::has_work(g.governor));
        let kworker = has_work.then(|| {
            workload.programs.push(Program { name: "kworker".to_owned(), ops: Vec::new() });
            ProgramId(workload.programs.len() as u16 - 1)
        });
        Ok(Setup {
            topo,
            hw,
            idle_exits: idle_exits(machine),
            menu: Menu::new(machine, kernel),
            kernel: kernel.clone(),
            rules: CoreRules::new(kernel),
            workload,
            memory,
            numa_balancing,
            copy_ns_per_byte,
            contend_transfers,
            hotplug,
            governed,
            kworker,
            groups,
            nr_groups: setting.groups.len(),
            model_groups,
            shared,
            policies,
            machine: machine.name.clone(),
        })
    }
}

fn uses(workload: &Workload, which: impl Fn(&Op) -> bool) -> bool {
    workload.programs.iter().any(|p| p.ops.iter().any(&which))
}

/// Affinities that leave a CPU, at the start or at some time, and loops that a task can count.
fn check(workload: &Workload, online: &CpuSet, ever_online: &CpuSet) -> Result<(), SimError> {
    let usable = |task: &str, set: &CpuSet, online: &CpuSet| {
        if set.intersects(online) {
            return Ok(());
        }
        Err(SimError::Affinity {
            task: task.to_string(),
            found: set.to_string(),
            online: online.to_string(),
        })
    };
    for program in &workload.programs {
        let loops = loops::depth(&program.ops);
        if loops > MAX_LOOPS {
            return Err(SimError::Loops {
                program: program.name.clone(),
                found: loops,
                max: MAX_LOOPS,
            });
        }
        for op in &program.ops {
            if let Op::SetAffinity(set) = op {
                usable(&program.name, set, ever_online)?;
            }
        }
    }
    for clients in &workload.clients {
        usable("clients' interrupts", &clients.irq_cpus, online)?;
    }
    check_shared(workload)?;
    for spawn in &workload.spawns {
        if let Some(set) = &spawn.affinity {
            usable(&workload.programs[spawn.program.0 as usize].name, set, online)?;
        }
    }
    Ok(())
}

/// Queues that hold something, devices that serve, and barriers that someone comes to.
fn check_shared(workload: &Workload) -> Result<(), SimError> {
    let refuse =
        |field: String, found: String, expected| Err(SimError::Workload { field, found, expected });
    for (at, queue) in workload.queues.iter().enumerate() {
        if let Some(c) = queue.capacity
            && !(1..=c.messages).contains(&c.wake_writers_at)
        {
            let found = format!("{} of {} messages", c.wake_writers_at, c.messages);
            return refuse(
                format!("queue {at}: wake_writers_at"),
                found,
                "1 to the capacity, which is at least 1",
            );
        }
    }
    for (at, device) in workload.devices.iter().enumerate() {
        if device.slots == 0 || device.together == 0 {
            let found = format!("{} and {}", device.slots, device.together);
            return refuse(format!("device {at}: slots and together"), found, "at least 1 of each");
        }
    }
    for (at, pool) in workload.pools.iter().enumerate() {
        let cycles = [pool.first_cycles, pool.last_cycles];
        if !cycles.iter().all(|c| c.is_finite() && *c >= 0.0) {
            return refuse(format!("pool {at}: cycles"), format!("{cycles:?}"), "0 or more");
        }
    }
    match workload.barriers.iter().position(|&parties| parties == 0) {
        Some(at) => refuse(format!("barrier {at}: parties"), "0".to_string(), "at least 1"),
        None => Ok(()),
    }
}

/// An idle state as the hardware has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleExit {
    /// Time to leave it, in ns; 0 where the CPU polls.
    pub(crate) ns: u64,
    /// Cycles to leave it, in place of that time.
    pub(crate) cycles: Option<f64>,
    /// Whether a write of `TIF_NEED_RESCHED` ends it.
    pub(crate) mwait: bool,
}

/// What it takes to leave idle states: firmware may tell the kernel more than that.
fn idle_exits(machine: &Machine) -> Vec<IdleExit> {
    let constant = |name| machine.constants.value(name).ok();
    let mwait_cycles = constant("mwait_exit_cycles");
    let exit = |state: &IdleState| IdleExit {
        ns: state.exit_latency_ns,
        cycles: mwait_cycles.filter(|_| state.mwait),
        mwait: state.mwait,
    };
    let mut exits: Vec<IdleExit> = machine.idle_states.iter().map(exit).collect();
    if let (Some(deepest), Some(us)) = (exits.last_mut(), constant("deepest_idle_exit_us")) {
        (deepest.ns, deepest.cycles) = ((us * 1e3) as u64, None);
    }
    exits
}

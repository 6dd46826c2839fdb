//! One run: the host's events, and between them what partitions do.

use super::core::{At, Core, Thread, refused};
use super::host::HostCpu;
use super::partition::PartitionState;
use super::programs::{Memory, Stop};
use super::setup::{VcoreState, new_partition, new_vcpus, operands};
use super::share::{User, share_out};
use super::{Hypervisor, readings};
use crate::engine::partitions::Runs;
use crate::engine::{Modelled, Sim};
use crate::fair::Fair;
use crate::rng::{Purpose, Stream};
use crate::topology::Cpu;
use crate::trace::NoTrace;
use crate::{Counters, RunResult, SimError};
use cache::{MAX_LINE, Tables};

/// How late a partition may see what one on another core does, in ns.
const ROUND_NS: u64 = 8_000;

/// The state of a run.
struct Run<'a> {
    h: &'a Hypervisor,
    sim: Sim<'a, Modelled<Fair>, NoTrace>,
    cores: Vec<Core>,
    /// By core: its CPUs.
    cpus: Vec<Vec<HostCpu>>,
    vcores: Vec<VcoreState>,
    partitions: Vec<PartitionState>,
    tables: Tables,
    users: Vec<User>,
    /// Since when users' lines are counted.
    shared_ns: u64,
    entries: u64,
}

/// One run of `h`.
pub(super) fn run(h: &Hypervisor, seed: u64) -> Result<RunResult, SimError> {
    let mut trace = NoTrace;
    let fair = Fair::new(&h.host.topo, &h.host.kernel);
    let sim = Sim::new(&h.host, Modelled::new(fair), seed, &mut trace)?;
    let mut run = Run::new(h, sim, seed)?;
    run.go()?;
    let metrics = h.host.workload.metrics.iter().map(|m| readings::read(h, m, &run.partitions));
    let metrics = metrics.collect::<Result<Vec<_>, _>>()?;
    let prefetching = readings::counters(h, &run.cores, run.entries);
    let single_times = vec![vec![]; metrics.len()];
    let (end_ns, counters) = (run.sim.w.now_ns, run.sim.w.counters);
    let counters = Counters { prefetching, ..counters };
    Ok(RunResult { metrics, single_times, counters, end_ns, energy_j: vec![], power_w: None })
}

impl<'a> Run<'a> {
    fn new(
        h: &'a Hypervisor,
        sim: Sim<'a, Modelled<Fair>, NoTrace>,
        seed: u64,
    ) -> Result<Run<'a>, SimError> {
        let bad = refused(&h.machine);
        let mut draws = Stream::new(seed, Purpose::Partitions);
        let mut memory = Memory::new(&h.costs, h.sampling, &mut draws);
        let thread = Thread::new(h.costs.line_bytes / h.costs.core_bandwidth);
        let cpus = h.cores.iter().map(|cpus| {
            cpus.iter().map(|&cpu| HostCpu::new(cpu, thread, &mut memory)).collect::<Vec<_>>()
        });
        let cpus = cpus.collect();
        let partitions: Vec<PartitionState> =
            h.partitions.entries.iter().map(|&e| new_partition(h, e, &mut memory)).collect();
        let tables = h.tables().map_err(&bad)?;
        let mut vcores = Vec::with_capacity(h.partitions.vcores.len());
        for (number, &of) in h.partitions.vcores.iter().enumerate() {
            let (log, restore) = operands(h, &tables, number).map_err(&bad)?;
            let vcpus = new_vcpus(h, &of, &partitions, thread, &mut memory);
            vcores.push(VcoreState {
                of,
                vcpus,
                cpu: 0,
                asleep: false,
                log,
                restore,
                logged: false,
            });
        }
        if memory.end() / u64::from(h.sampling.factor()) > u64::from(MAX_LINE) {
            return Err(SimError::Partitions {
                field: "partition",
                found: format!("{} lines of memory", memory.end()),
                expected: format!("at most {MAX_LINE} times one_set_in"),
            });
        }
        let core = Core::new(&h.costs, h.log_ns, h.sampling).map_err(&bad)?;
        Ok(Run {
            h,
            sim,
            cores: vec![core; h.cores.len()],
            cpus,
            vcores,
            partitions,
            tables,
            users: Vec::with_capacity(64),
            shared_ns: 0,
            entries: 0,
        })
    }

    fn go(&mut self) -> Result<(), SimError> {
        let params = &self.h.partitions.params;
        let end_ns = ((params.warmup_s + params.seconds) * 1e9) as u64;
        let mut now_ns = 0;
        self.sim.run_until(now_ns)?;
        while now_ns < end_ns {
            let next_ns = (now_ns + ROUND_NS).min(self.sim.next_event_ns()).max(now_ns + 1);
            for core in 0..self.cores.len() {
                self.advance(core, now_ns as f64, next_ns as f64)?;
            }
            self.sim.run_until(next_ns)?;
            now_ns = next_ns;
            self.kick(now_ns as f64);
            self.cede(now_ns as f64);
            self.sim.run_until(now_ns)?;
            self.exits(now_ns as f64)?;
            if now_ns - self.shared_ns >= ROUND_NS {
                self.share(now_ns);
            }
        }
        Ok(())
    }

    /// The vcore whose thread runs on `cpu`, and how long the host still works for it, in ns.
    fn runs(&self, cpu: Cpu) -> Option<(u32, f64)> {
        match self.sim.runs(cpu) {
            Runs::Partition { program, host_ns } => {
                let number = program.0.checked_sub(self.h.partitions.first_program)?;
                Some((u32::from(number), host_ns))
            }
            Runs::Nothing | Runs::Host => None,
        }
    }

    /// Lets core `core` work from `now_ns` to `next_ns`, in which nothing changes who runs where.
    fn advance(&mut self, core: usize, now_ns: f64, next_ns: f64) -> Result<(), SimError> {
        let mut busy = 0;
        let mut partitions = 0;
        for at in 0..self.cpus[core].len() {
            let cpu = self.cpus[core][at].cpu;
            let (vcore, host_ns) = match self.runs(cpu) {
                Some((vcore, host_ns)) => (Some(vcore), host_ns.min(next_ns - now_ns)),
                None if self.sim.runs(cpu) == Runs::Nothing => (None, 0.0),
                None => (None, next_ns - now_ns),
            };
            if host_ns > 0.0 {
                self.host_works(core, at, now_ns, host_ns);
            }
            let starts_ns = now_ns + host_ns;
            match vcore.filter(|_| starts_ns < next_ns) {
                Some(vcore) => {
                    self.enter(core, at, vcore, starts_ns)?;
                    let v = &self.vcores[vcore as usize];
                    busy += v.vcpus.iter().filter(|c| c.ceded_until_ns <= next_ns).count();
                    partitions += 1;
                }
                None => busy += usize::from(host_ns > 0.0),
            }
        }
        self.cores[core].cycle_ns = 1.0 / (self.h.costs.ghz * self.h.costs.share(busy));
        let alone = busy <= 1 && partitions <= 1;
        for at in 0..self.cpus[core].len() {
            if let Some((vcore, from_ns)) = self.cpus[core][at].inside {
                self.run_partition(core, vcore, from_ns.max(now_ns), next_ns, alone);
            }
        }
        self.cores[core].engine_until(next_ns, &mut self.tables);
        Ok(())
    }

    fn host_works(&mut self, core: usize, at: usize, now_ns: f64, ns: f64) {
        let cpu = &mut self.cpus[core][at];
        let mut thread = Thread { now_ns, ..cpu.thread };
        let mut place = At {
            core: &mut self.cores[core],
            thread: &mut thread,
            tables: &mut self.tables,
            alone: false,
        };
        cpu.works(&mut place, ns);
        cpu.thread = thread;
    }

    /// The thread of `vcore` goes into its partition, unless it is there.
    fn enter(&mut self, core: usize, at: usize, vcore: u32, now_ns: f64) -> Result<(), SimError> {
        let cpu = &mut self.cpus[core][at];
        if cpu.inside.is_some() {
            return Ok(());
        }
        let v = &mut self.vcores[vcore as usize];
        v.cpu = cpu.cpu;
        cpu.inside = Some((vcore, now_ns + self.h.costs.guest_entry_ns));
        self.entries += 1;
        self.cores[core].streams.forget();
        if self.h.class.is_none() || !v.logged {
            return Ok(());
        }
        let machine = &self.h.machine;
        let core = &mut self.cores[core];
        core.engine_until(now_ns, &mut self.tables);
        core.engine.mppr(v.restore, &self.tables, now_ns).map_err(refused(machine))
    }

    fn run_partition(&mut self, core: usize, vcore: u32, from_ns: f64, next_ns: f64, alone: bool) {
        let v = &mut self.vcores[vcore as usize];
        let partition = &mut self.partitions[v.of.partition as usize];
        for (number, vcpu) in (v.of.first_vcpu..).zip(&mut v.vcpus) {
            if vcpu.ceded_until_ns > next_ns {
                continue;
            }
            let woken_ns = from_ns.max(vcpu.ceded_until_ns);
            vcpu.thread.now_ns = vcpu.thread.now_ns.max(woken_ns);
            let mut at = At {
                core: &mut self.cores[core],
                thread: &mut vcpu.thread,
                tables: &mut self.tables,
                alone,
            };
            vcpu.ceded_until_ns = match vcpu.program.run(number, &mut at, partition, next_ns) {
                Stop::Time => 0.0,
                Stop::Cede(until_ns) => until_ns,
            };
        }
    }

    /// Wakes vcpus whose timers are due or whom others kick.
    fn kick(&mut self, now_ns: f64) {
        for partition in 0..self.partitions.len() {
            while let Some(vcpu) = self.partitions[partition].kicks.pop() {
                let found = self.vcores.iter_mut().find(|v| {
                    let own = v.of.first_vcpu..v.of.first_vcpu + v.of.vcpus;
                    v.of.partition as usize == partition && own.contains(&vcpu)
                });
                let Some(vcore) = found else { continue };
                let at = (vcpu - vcore.of.first_vcpu) as usize;
                vcore.vcpus[at].ceded_until_ns = vcore.vcpus[at].ceded_until_ns.min(now_ns);
            }
        }
        for vcore in &mut self.vcores {
            if vcore.asleep && vcore.vcpus.iter().any(|c| c.ceded_until_ns <= now_ns) {
                vcore.asleep = false;
                self.sim.kick(vcore.cpu, vcore.of.kicks);
            }
        }
    }

    /// Lets the threads of vcores sleep all of whose vcpus have ceded.
    fn cede(&mut self, now_ns: f64) {
        for cpus in &self.cpus {
            for cpu in cpus {
                let Some((vcore, from_ns)) = cpu.inside else { continue };
                let vcore = &mut self.vcores[vcore as usize];
                let ceded = vcore.vcpus.iter().all(|c| c.ceded_until_ns > now_ns);
                if ceded && from_ns <= now_ns && !vcore.asleep {
                    vcore.asleep = true;
                    self.sim.leave_partition(vcore.of.ceded);
                }
            }
        }
    }

    /// Partitions whose CPUs do something else now are left: their caches are logged.
    fn exits(&mut self, now_ns: f64) -> Result<(), SimError> {
        for core in 0..self.cores.len() {
            for at in 0..self.cpus[core].len() {
                let (cpu, inside) = (self.cpus[core][at].cpu, self.cpus[core][at].inside);
                let Some((vcore, _)) = inside else { continue };
                if self.runs(cpu).is_some_and(|(number, ns)| number == vcore && ns <= 0.0) {
                    continue;
                }
                self.cpus[core][at].inside = None;
                self.sim.host_works(cpu, self.h.costs.guest_exit_ns * self.h.costs.ghz);
                if self.h.class.is_some() {
                    self.log(core, vcore, now_ns)?;
                }
            }
        }
        Ok(())
    }

    fn log(&mut self, core: usize, vcore: u32, now_ns: f64) -> Result<(), SimError> {
        let v = &mut self.vcores[vcore as usize];
        v.logged = true;
        let core = &mut self.cores[core];
        core.engine.logmpp(v.log, &mut self.tables, now_ns).map_err(refused(&self.h.machine))
    }

    /// Shares memory's bandwidth out by what was moved since it was done last.
    fn share(&mut self, now_ns: u64) {
        let ns = (now_ns - self.shared_ns) as f64;
        self.shared_ns = now_ns;
        let line = self.h.costs.line_bytes;
        self.users.clear();
        for (core, (state, cpus)) in self.cores.iter_mut().zip(&self.cpus).enumerate() {
            let package = self.h.packages[core];
            let mut user = |lines: &mut f64, line_ns: f64| {
                let moved = std::mem::take(lines) * line / ns;
                self.users.push(User { core, package, moved, line_ns });
            };
            user(&mut state.engine_lines, state.pace.transfer_ns);
            for (vcore, _) in cpus.iter().filter_map(|c| c.inside) {
                for vcpu in &mut self.vcores[vcore as usize].vcpus {
                    user(&mut vcpu.thread.lines, vcpu.thread.line_ns);
                }
            }
        }
        share_out(&mut self.users, self.cores.len(), &self.h.costs);
        let mut shares = self.users.iter().map(|u| u.line_ns);
        for (state, cpus) in self.cores.iter_mut().zip(&self.cpus) {
            state.pace.transfer_ns = shares.next().unwrap_or(state.pace.transfer_ns);
            for (vcore, _) in cpus.iter().filter_map(|c| c.inside) {
                for vcpu in &mut self.vcores[vcore as usize].vcpus {
                    vcpu.thread.line_ns = shares.next().unwrap_or(vcpu.thread.line_ns);
                }
            }
        }
    }
}

//! Clocks while a run lasts: requests of P-states, what firmware makes of them slot by slot, APERF and MPERF, energy.
//!
//! A core's threads ask, the highest request counts. A package's firmware looks at the end of each slot, while it has
//! something to look at: it sets the ceiling by what the cores did in the slot, and requests that stand long enough take
//! effect. A new clock changes the rate of the core's CPUs, so they are settled before and armed after. Energy is counted
//! before anything changes what a package takes. Who asks for what is `governors`' business; what is possible, and what it
//! takes, is `hardware::ClockModel`'s.

use super::Sim;
use super::core::Core;
use crate::events::NEVER;
use crate::hardware::{ClockModel, PackageLoad};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::Phase;

/// A change of activity by less than this is not worth counting energy.
const SMALL: f64 = 0.01;

/// One core's clock.
#[derive(Debug, Clone)]
struct CoreClock {
    khz: u32,
    /// The highest request of its threads, and since when it stands.
    wanted_khz: u32,
    asked_ns: u64,
    /// Threads that are not idle.
    threads: u8,
    watts: f64,
    /// Since when it is active, and how long it was in this slot before.
    active_since_ns: u64,
    active_ns: u64,
}

/// One package's firmware.
#[derive(Debug, Clone)]
struct PackageClock {
    ceiling_khz: u32,
    /// Of its cores.
    watts: f64,
    /// Of the traffic of its memory.
    memory_w: f64,
    energy_j: f64,
    /// Up to when energy is counted.
    counted_ns: u64,
    slot_began_ns: u64,
    /// Whether a slot's end is in the event queue.
    armed: bool,
    active_cores: u32,
    /// Threads that are not idle.
    threads: u32,
}

/// A CPU's counters, in cycles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PerfCounters {
    /// Cycles at the clock that the core had (`APERF`).
    pub(super) aperf: u64,
    /// Cycles at P0 (`MPERF`).
    pub(super) mperf: u64,
    /// Up to when they count; `None` while the CPU is idle.
    counted_ns: Option<u64>,
}

/// All clocks of a machine.
#[derive(Debug)]
pub(super) struct Clocks<'a> {
    pub(super) model: &'a ClockModel,
    cores: Vec<CoreClock>,
    packages: Vec<PackageClock>,
    /// By CPU.
    counters: Vec<PerfCounters>,
    /// By CPU: the P-state that it asks for.
    requests_khz: Vec<u32>,
    /// By CPU: whether its idle state is the deepest.
    deep: Vec<bool>,
    /// By CPU: the part of its task's time in which its core computes, and does not wait for memory or lines.
    active: Vec<f64>,
    /// Where slots begin.
    pub(super) phase_ns: u64,
}

impl<'a> Clocks<'a> {
    /// All cores idle, every CPU asking for `start_khz`; slots begin at `phase_ns`.
    pub(super) fn new(model: &'a ClockModel, start_khz: u32, phase_ns: u64) -> Clocks<'a> {
        let core = CoreClock {
            khz: start_khz,
            wanted_khz: start_khz,
            asked_ns: 0,
            threads: 0,
            watts: 0.0,
            active_since_ns: 0,
            active_ns: 0,
        };
        let package = |p: usize| PackageClock {
            ceiling_khz: model.ceiling_khz(p, &PackageLoad::LEAST),
            watts: 0.0,
            memory_w: 0.0,
            energy_j: 0.0,
            counted_ns: 0,
            slot_began_ns: 0,
            armed: false,
            active_cores: 0,
            threads: 0,
        };
        let mut clocks = Clocks {
            model,
            cores: vec![core; model.cores.len()],
            packages: (0..model.packages.len()).map(package).collect(),
            counters: vec![PerfCounters::default(); model.core_of.len()],
            requests_khz: vec![start_khz; model.core_of.len()],
            deep: vec![true; model.core_of.len()],
            active: vec![1.0; model.core_of.len()],
            phase_ns,
        };
        for core in 0..clocks.cores.len() {
            clocks.cores[core].khz = clocks.reachable_khz(core);
        }
        clocks
    }

    /// Before the start: `cpu` asks for `khz`, and its core has what it is asked for.
    pub(super) fn start_at(&mut self, cpu: Cpu, khz: u32) {
        self.requests_khz[cpu as usize] = khz;
        let core = self.model.core_of[cpu as usize] as usize;
        self.cores[core].wanted_khz = self.highest_request_khz(core).unwrap_or(khz);
        self.cores[core].khz = self.reachable_khz(core);
    }

    /// The highest request of a core's threads, which counts.
    fn highest_request_khz(&self, core: usize) -> Option<u32> {
        self.model.cores[core].cpus.iter().map(|&c| self.requests_khz[c as usize]).max()
    }

    /// What firmware gives a core now.
    fn reachable_khz(&self, core: usize) -> u32 {
        let ceiling = self.packages[self.model.cores[core].package as usize].ceiling_khz;
        let wanted = self.cores[core].wanted_khz;
        if wanted >= self.model.nominal_khz { ceiling } else { wanted }
    }

    /// The P-state that `cpu` asks for, in kHz.
    pub(super) fn asked_khz(&self, cpu: Cpu) -> u32 {
        self.requests_khz[cpu as usize]
    }

    /// The clock of `cpu`, in kHz.
    pub(super) fn khz(&self, cpu: Cpu) -> u32 {
        self.cores[self.model.core_of[cpu as usize] as usize].khz
    }

    /// The clock of `cpu` in P0's terms.
    pub(super) fn clock(&self, cpu: Cpu) -> f64 {
        f64::from(self.khz(cpu)) / f64::from(self.model.nominal_khz)
    }

    /// Counts a package's energy up to now.
    fn count_energy(&mut self, package: usize, now_ns: u64) {
        let watts = self.watts(package);
        let p = &mut self.packages[package];
        let elapsed_s = (now_ns - p.counted_ns) as f64 / 1e9;
        p.energy_j += watts * elapsed_s;
        p.counted_ns = now_ns;
    }

    /// What a package takes now, in W.
    fn watts(&self, package: usize) -> f64 {
        let p = &self.packages[package];
        p.watts + p.memory_w + self.model.package_idle_w
    }

    /// The memory of `node` moves so many bytes a ns from now on, and so many before. Its package, where that changes what it takes.
    fn set_traffic(&mut self, node: usize, now: f64, before: f64, now_ns: u64) -> Option<usize> {
        let (package, more_w) = self.model.memory_w(node, now - before);
        if more_w == 0.0 {
            return None;
        }
        self.count_energy(package, now_ns);
        self.packages[package].memory_w += more_w;
        Some(package)
    }

    /// What the core takes has changed.
    fn set_watts(&mut self, core: usize, now_ns: u64) {
        let model = self.model;
        let c = &self.cores[core];
        let watts = match c.threads {
            0 => model.idle_w(model.cores[core].cpus.iter().all(|&c| self.deep[c as usize])),
            threads => model.busy_w(c.khz, threads, self.activity(core)),
        };
        let package = model.cores[core].package as usize;
        self.count_energy(package, now_ns);
        self.packages[package].watts += watts - self.cores[core].watts;
        self.cores[core].watts = watts;
    }

    /// The part of the time in which a core's busy threads compute, on average.
    fn activity(&self, core: usize) -> f64 {
        let busy = |c: &&Cpu| self.counters[**c as usize].counted_ns.is_some();
        let busy = self.model.cores[core].cpus.iter().filter(busy);
        let (sum, n) = busy.fold((0.0, 0.0), |(s, n), &c| (s + self.active[c as usize], n + 1.0));
        if n > 0.0 { sum / n } else { 1.0 }
    }

    /// The task of `cpu` computes for this part of its time from now on. Whether what the core takes has changed.
    fn set_activity(&mut self, cpu: Cpu, part: f64, now_ns: u64) -> bool {
        let before = self.active[cpu as usize];
        if (part - before).abs() <= SMALL {
            return false;
        }
        self.active[cpu as usize] = part;
        let core = self.model.core_of[cpu as usize] as usize;
        let busy = self.cores[core].threads > 0;
        if busy {
            self.set_watts(core, now_ns);
        }
        busy
    }

    /// Brings a CPU's counters up to now.
    fn count_cycles(&mut self, cpu: Cpu, now_ns: u64) {
        let khz = self.cores[self.model.core_of[cpu as usize] as usize].khz;
        let counters = &mut self.counters[cpu as usize];
        if let Some(since_ns) = counters.counted_ns {
            let elapsed_ns = now_ns - since_ns;
            counters.aperf += elapsed_ns * u64::from(khz) / 1_000_000;
            counters.mperf += elapsed_ns * u64::from(self.model.nominal_khz) / 1_000_000;
            counters.counted_ns = Some(now_ns);
        }
    }

    /// `APERF` and `MPERF` of `cpu`.
    pub(super) fn counters(&mut self, cpu: Cpu, now_ns: u64) -> PerfCounters {
        self.count_cycles(cpu, now_ns);
        self.counters[cpu as usize]
    }

    /// `cpu` leaves idle. When the package's firmware is to look, where it does not yet.
    fn wake(&mut self, cpu: Cpu, now_ns: u64) -> Option<u64> {
        self.counters[cpu as usize].counted_ns = Some(now_ns);
        let core = self.model.core_of[cpu as usize] as usize;
        let package = self.model.package_of(cpu);
        let c = &mut self.cores[core];
        c.threads += 1;
        self.packages[package].threads += 1;
        if c.threads == 1 {
            c.active_since_ns = now_ns;
            self.packages[package].active_cores += 1;
        }
        self.set_watts(core, now_ns);
        self.arm(package, now_ns)
    }

    /// `cpu` goes idle.
    fn sleep(&mut self, cpu: Cpu, deepest: bool, now_ns: u64) {
        self.count_cycles(cpu, now_ns);
        self.counters[cpu as usize].counted_ns = None;
        self.deep[cpu as usize] = deepest;
        let core = self.model.core_of[cpu as usize] as usize;
        let package = self.model.package_of(cpu);
        let began_ns = self.packages[package].slot_began_ns;
        let c = &mut self.cores[core];
        c.threads -= 1;
        self.packages[package].threads -= 1;
        if c.threads == 0 {
            c.active_ns += now_ns - c.active_since_ns.max(began_ns);
            self.packages[package].active_cores -= 1;
        }
        self.set_watts(core, now_ns);
    }

    /// Lets the package's firmware look at the end of the slot, if it does not yet.
    fn arm(&mut self, package: usize, now_ns: u64) -> Option<u64> {
        let p = &mut self.packages[package];
        if std::mem::replace(&mut p.armed, true) {
            return None;
        }
        p.slot_began_ns = now_ns;
        let slots = (now_ns.saturating_sub(self.phase_ns)) / self.model.slot_ns + 1;
        Some(self.phase_ns + slots * self.model.slot_ns)
    }

    /// `cpu` asks for a P-state. When the package's firmware is to look, where it does not yet.
    fn ask(&mut self, cpu: Cpu, khz: u32, now_ns: u64) -> Option<u64> {
        self.requests_khz[cpu as usize] = khz;
        let core = self.model.core_of[cpu as usize] as usize;
        let wanted = self.highest_request_khz(core).unwrap_or(khz);
        if wanted == self.cores[core].wanted_khz {
            return None;
        }
        (self.cores[core].wanted_khz, self.cores[core].asked_ns) = (wanted, now_ns);
        let package = self.model.package_of(cpu);
        self.arm(package, now_ns)
    }

    /// Sets the ceiling by what the package did in the slot that ends.
    fn end_slot(&mut self, package: usize, now_ns: u64) {
        let began_ns = std::mem::replace(&mut self.packages[package].slot_began_ns, now_ns);
        let (mut active_ns, mut computing, mut running) = (0, 0.0, 0.0);
        for &core in &self.model.packages[package] {
            let c = &mut self.cores[core as usize];
            active_ns += std::mem::take(&mut c.active_ns);
            if c.threads > 0 {
                active_ns += now_ns - c.active_since_ns.max(began_ns);
                computing += self.activity(core.into());
                running += 1.0;
            }
        }
        let p = &mut self.packages[package];
        let load = PackageLoad {
            active: active_ns as f64 / (now_ns - began_ns).max(1) as f64,
            threads: f64::from(p.threads) / f64::from(p.active_cores.max(1)),
            activity: if running > 0.0 { computing / running } else { 1.0 },
            memory_w: p.memory_w,
        };
        p.ceiling_khz = self.model.ceiling_khz(package, &load);
    }

    /// Energy of each package up to now, in J.
    pub(super) fn energies_j(&mut self, now_ns: u64) -> Vec<f64> {
        (0..self.packages.len()).for_each(|p| self.count_energy(p, now_ns));
        self.packages.iter().map(|p| p.energy_j).collect()
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// `cpu` leaves idle or goes idle.
    pub(super) fn note_clock(&mut self, cpu: Cpu, busy: bool) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let now = self.w.now_ns;
        if !busy {
            let deepest = match self.w.cpus[cpu as usize].phase {
                Phase::Idle { state, .. } => state + 1 == self.setup.idle_exits.len(),
                Phase::Offline | Phase::Waking | Phase::Running => false,
            };
            clocks.sleep(cpu, deepest, now);
            self.tell_power(cpu);
            return;
        }
        let look = clocks.wake(cpu, now);
        self.tell_power(cpu);
        self.arm_firmware(cpu, look);
    }

    /// The task of `cpu` waits for memory and lines for more or less of its time than before.
    pub(super) fn note_activity(&mut self, cpu: Cpu) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let part = 1.0 / self.w.cpus[cpu as usize].slow;
        if clocks.set_activity(cpu, part, self.w.now_ns) {
            self.tell_power(cpu);
        }
    }

    /// The memory of `node` moves so many bytes a ns from now on, and moved so many before.
    pub(super) fn note_traffic(&mut self, node: usize, now: f64, before: f64) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        if let Some(package) = clocks.set_traffic(node, now, before, self.w.now_ns) {
            self.trace.power(self.w.now_ns, package, clocks.watts(package));
        }
    }

    /// What the package of `cpu` takes may have changed.
    fn tell_power(&mut self, cpu: Cpu) {
        let Some(clocks) = &self.frequency.clocks else { return };
        let package = clocks.model.package_of(cpu);
        self.trace.power(self.w.now_ns, package, clocks.watts(package));
    }

    /// Clocks and power as the run starts.
    pub(super) fn tell_clocks(&mut self) {
        let Some(clocks) = &self.frequency.clocks else { return };
        for cpu in 0..self.w.cpus.len() {
            self.w.cpus[cpu].clock = clocks.clock(cpu as Cpu);
            self.trace.frequency(0, cpu as Cpu, clocks.asked_khz(cpu as Cpu));
            self.trace.clock(0, cpu as Cpu, clocks.khz(cpu as Cpu));
        }
        for package in 0..clocks.packages.len() {
            self.trace.power(0, package, clocks.watts(package));
        }
    }

    /// Lets the firmware of a CPU's package look at a point in time, if there is one.
    fn arm_firmware(&mut self, cpu: Cpu, look_ns: Option<u64>) {
        if let (Some(clocks), Some(at_ns)) = (&self.frequency.clocks, look_ns) {
            let package = clocks.model.package_of(cpu);
            self.timeline.events.set(self.timeline.slots.package(package), at_ns);
        }
    }

    /// `cpu` asks its core for a P-state; it counts if no other thread asks for more.
    pub(super) fn ask_clock(&mut self, cpu: Cpu, khz: u32) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let look = clocks.ask(cpu, khz, self.w.now_ns);
        self.arm_firmware(cpu, look);
    }

    /// A package's firmware looks: the ceiling follows the slot that ends, and requests that stand long enough take
    /// effect.
    pub(super) fn firmware_looks(&mut self, package: usize) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let now = self.w.now_ns;
        clocks.end_slot(package, now);
        let model = clocks.model;
        let mut asking = false;
        for &core in &model.packages[package] {
            let Some(clocks) = &mut self.frequency.clocks else { return };
            let khz = clocks.reachable_khz(core as usize);
            let c = &clocks.cores[core as usize];
            if khz == c.khz {
                continue;
            }
            if now < c.asked_ns + model.transition_ns {
                asking = true;
                continue;
            }
            self.set_clock(core as usize, khz);
        }
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let p = &mut clocks.packages[package];
        p.armed = p.active_cores > 0 || asking;
        let next_ns = if p.armed { now + model.slot_ns } else { NEVER };
        self.timeline.events.set(self.timeline.slots.package(package), next_ns);
    }

    /// Energy of each package so far, in J.
    pub(crate) fn energies_j(&mut self) -> Vec<f64> {
        let now = self.w.now_ns;
        self.frequency.clocks.iter_mut().flat_map(|c| c.energies_j(now)).collect()
    }

    /// The core runs at another clock from now on.
    fn set_clock(&mut self, core: usize, khz: u32) {
        let Some(clocks) = &mut self.frequency.clocks else { return };
        let (now, model) = (self.w.now_ns, clocks.model);
        let cpus = &model.cores[core].cpus;
        cpus.iter().for_each(|&cpu| clocks.count_cycles(cpu, now));
        clocks.cores[core].khz = khz;
        clocks.set_watts(core, now);
        let package = usize::from(model.cores[core].package);
        self.trace.power(now, package, clocks.watts(package));
        for &cpu in cpus {
            self.trace.clock(now, cpu, khz);
            self.settle(cpu);
            let clock = f64::from(khz) / f64::from(model.nominal_khz);
            let busy = self.w.busy[self.w.topo.pipeline_of[cpu as usize] as usize] as usize;
            let c = &mut self.w.cpus[cpu as usize];
            c.clock = clock;
            c.rate = self.w.hw.rate(busy) * clock;
            let runs = c.phase == Phase::Running;
            if self.memory.paced {
                self.slow_down(cpu);
            }
            if runs {
                self.aim(cpu);
                self.arm(cpu);
            }
        }
    }
}

//! Cases by chance: each follows from a seed and its number alone.

use crate::shapes::CATALOG;
use crate::{Case, Event, Phase, Shape, Step, Task};
use sim::rng::{Purpose, Stream};
use std::collections::BTreeMap;

/// What a tree has to choose from.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Features of its scheduler, and whether they are on by themselves.
    pub features: Vec<(String, bool)>,
    /// Ticks a second.
    pub hz: Vec<u32>,
    /// Whether tasks may have policies.
    pub policies: bool,
    /// Whether there may be control groups.
    pub groups: bool,
    /// Whether those may have small weights.
    pub light_groups: bool,
    /// Whether those have `cpu.idle` (5.15).
    pub idle_groups: bool,
}

/// Features that are for debugging, need hardware that is not there, or give up on purpose what is checked: `LB_MIN` leaves light
/// tasks where they wait.
const LEFT_ALONE: [&str; 8] = [
    "HRTICK",
    "HRTICK_DL",
    "DOUBLE_TICK",
    "WARN_DOUBLE_CLOCK",
    "LATENCY_WARN",
    "LB_MIN",
    "RT_RUNTIME_SHARE",
    "PLACE_LAG",
];

/// Seeds of neighbouring cases share nothing.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

pub(crate) struct Draw<'a> {
    stream: Stream,
    pub(crate) choice: &'a Choice,
    pub(crate) cpus: u32,
    /// Whether tasks have affinities: without, more can be said of balancing.
    pub(crate) pinning: bool,
    /// Whether tasks have policies.
    pub(crate) policies: bool,
}

impl Case {
    /// Case `number` of `seed`.
    pub fn random(seed: u64, number: u64, choice: &Choice) -> Case {
        let mixed =
            seed.wrapping_add(1).wrapping_mul(APART) ^ number.wrapping_mul(APART).rotate_left(17);
        let stream = Stream::new(mixed, Purpose::Cases);
        let mut draw = Draw { stream, choice, cpus: 1, pinning: false, policies: false };
        let shape = draw.shape();
        draw.cpus = shape.cpus();
        draw.pinning = draw.one_in(2);
        draw.policies = choice.policies && draw.one_in(4);
        let duration_ms = draw.between(300, 900);
        let mut tasks: Vec<Task> = Vec::new();
        for at in 0..draw.between(1, 7) {
            draw.program(at, &mut tasks);
        }
        if draw.policies && draw.below(3) > 0 {
            let at = tasks.len() as u32;
            tasks.push(draw.urgent(at));
        }
        let groups = if choice.groups && draw.one_in(4) { draw.groups(&tasks) } else { vec![] };
        Case {
            hz: draw.pick(&choice.hz).copied().unwrap_or(250),
            background: draw.one_in(5),
            seed: draw.stream.below(1 << 32),
            hotplug: draw.hotplug(duration_ms),
            features: draw.features(),
            debug: draw.debug(),
            shape,
            duration_ms,
            tasks,
            groups,
        }
    }
}

impl Draw<'_> {
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.stream.below(n.into()) as u32
    }

    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> Option<&'t T> {
        of.get(self.below(of.len() as u32) as usize)
    }

    /// A time of any magnitude between two, in us.
    pub(crate) fn time_us(&mut self, low: u32, high: u32) -> u32 {
        let magnitudes = (high / low).ilog2() + 1;
        let top = (low << self.between(0, magnitudes)).min(high);
        self.between(low, top.max(low))
    }

    fn shape(&mut self) -> Shape {
        if self.one_in(12) {
            let at = self.below(CATALOG.len() as u32) as usize;
            return CATALOG[at].clone();
        }
        let packages = self.between(1, 2);
        let clusters = if self.one_in(3) { self.between(2, 3) } else { 1 };
        let apart = packages > 1 && (clusters > 1 || self.one_in(2));
        let distance = if apart { self.between(15, 40) } else { 0 };
        Shape::Regular {
            packages,
            clusters,
            cores: self.between(1, 4),
            threads: if clusters == 1 { self.between(1, 2) } else { 1 },
            distance,
            dies: if clusters == 1 && self.one_in(4) { 2 } else { 1 },
        }
    }

    fn nice(&mut self) -> i32 {
        match self.below(4) {
            0 => self.between(0, 29) as i32 - 10,
            1 => *self.pick(&[-10, -5, 5, 10, 19]).unwrap_or(&0),
            _ => 0,
        }
    }

    /// CPUs that a task may use: mostly all.
    fn affinity(&mut self) -> Vec<u32> {
        match self.below(6) {
            _ if !self.pinning => vec![],
            0 => vec![self.below(self.cpus)],
            1 => (0..self.cpus).filter(|_| self.one_in(2)).collect(),
            _ => vec![],
        }
    }

    pub(crate) fn task(&mut self, name: String, most: u32, phases: Vec<Phase>) -> Task {
        Task {
            name,
            instances: self.between(1, most.max(1)),
            policy: self.fair_policy(),
            nice: self.nice(),
            slice_us: if self.one_in(5) { self.time_us(100, 20_000) } else { 0 },
            cpus: self.affinity(),
            clamps: self.one_in(8).then(|| {
                let min = self.below(1025);
                (min, self.between(min, 1024))
            }),
            loops: None,
            phases,
        }
    }

    fn pause(&mut self) -> Event {
        let us = self.time_us(100, 20_000);
        if self.one_in(3) { Event::Timer(us) } else { Event::Sleep(us) }
    }

    fn busy(&mut self) -> Event {
        Event::Run(self.time_us(50, 10_000))
    }

    /// A task, or several that belong together.
    fn program(&mut self, at: u32, tasks: &mut Vec<Task>) {
        let name = |what: &str| format!("{what}{at}");
        let many = self.cpus.clamp(2, 12);
        let task = match self.below(12) {
            0..=2 => {
                let run = Event::Run(self.time_us(1000, 20_000));
                self.task(name("hog"), many, vec![phase(vec![run])])
            }
            3..=5 => {
                let events = vec![self.busy(), self.pause()];
                self.task(name("sleeper"), 2 * many, vec![phase(events)])
            }
            6 => {
                let phases = (0..self.between(2, 3)).map(|_| self.changing()).collect();
                self.task(name("changer"), many / 2, phases)
            }
            7 => return self.pairs(&name("ping"), &name("pong"), tasks),
            8 => {
                let locked = Event::Locked(name("mutex"), self.time_us(50, 2000));
                let events = vec![self.busy(), locked, self.pause()];
                self.task(name("locker"), many, vec![phase(events)])
            }
            9 => return self.family(&name("parent"), &name("child"), tasks),
            10 => {
                let events = vec![self.busy(), Event::Barrier(name("barrier"))];
                self.task(name("party"), many, vec![phase(events)])
            }
            _ => {
                let events = vec![self.busy(), Event::Yield];
                self.task(name("yielder"), 2, vec![phase(events)])
            }
        };
        tasks.push(task);
    }

    /// A phase with settings of its own.
    fn changing(&mut self) -> Phase {
        let events = vec![self.busy(), self.pause()];
        Phase {
            loops: self.between(1, 10),
            nice: self.one_in(2).then(|| self.nice()),
            cpus: self.affinity(),
            events,
        }
    }

    /// One wakes the other, and waits for it.
    fn pairs(&mut self, ping: &str, pong: &str, tasks: &mut Vec<Task>) {
        let (go, done) = (format!("{ping}-go"), format!("{ping}-done"));
        let first = vec![self.busy(), Event::Post(go.clone()), Event::Wait(done.clone())];
        let second = vec![Event::Wait(go), self.busy(), Event::Post(done)];
        let one = self.task(ping.to_string(), 4, vec![phase(first)]);
        let instances = one.instances;
        let other = self.task(pong.to_string(), 1, vec![phase(second)]);
        tasks.extend([one, Task { instances, ..other }]);
    }

    /// One forks others, which end.
    fn family(&mut self, parent: &str, child: &str, tasks: &mut Vec<Task>) {
        let forks = vec![self.busy(), Event::Fork(child.to_string()), self.pause()];
        let phases = vec![Phase { loops: self.between(2, 40), ..phase(forks) }];
        let one = self.task(parent.to_string(), 2, phases);
        tasks.push(Task { loops: Some(1), ..one });
        let work = vec![phase(vec![self.busy()])];
        let other = self.task(child.to_string(), 1, work);
        let loops = Some(self.between(1, 3));
        // A forked task may have neither timers nor clamps that outlive it.
        tasks.push(Task { instances: 0, loops, clamps: None, ..other });
    }

    /// Steps that a machine can take: CPU 0 stays.
    fn hotplug(&mut self, duration_ms: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.cpus < 2 || self.below(5) < 3 {
            return steps;
        }
        let mut online = vec![true; self.cpus as usize];
        let mut at_ms = self.between(20, 100);
        for _ in 0..self.between(1, 10) {
            let cpu = self.between(1, self.cpus - 1);
            let there = &mut online[cpu as usize];
            *there = !*there;
            steps.push(Step { at_ms, cpu, online: *there });
            at_ms += self.between(1, 80);
            if at_ms + 20 > duration_ms {
                break;
            }
        }
        steps
    }

    fn features(&mut self) -> BTreeMap<String, bool> {
        let mut set = BTreeMap::new();
        let all: Vec<&(String, bool)> =
            self.choice.features.iter().filter(|f| !LEFT_ALONE.contains(&f.0.as_str())).collect();
        if all.is_empty() || !self.one_in(3) {
            return set;
        }
        for _ in 0..self.between(1, 3) {
            if let Some((name, on)) = self.pick(&all) {
                set.insert(name.clone(), !on);
            }
        }
        set
    }

    fn debug(&mut self) -> BTreeMap<String, u64> {
        // Releases without it have CFS.
        let eevdf = self.choice.features.iter().any(|(name, _)| name == "PLACE_LAG");
        let slice_ns = 1000 * u64::from(self.time_us(300, 12_000));
        match eevdf && self.one_in(5) {
            true => BTreeMap::from([("base_slice_ns".to_string(), slice_ns)]),
            false => BTreeMap::new(),
        }
    }
}

pub(crate) fn phase(events: Vec<Event>) -> Phase {
    Phase { loops: 1, nice: None, cpus: vec![], events }
}

#[cfg(test)]
mod tests {
    use super::*;
    use definition::{ExperimentFile, Plan};

    fn choice() -> Choice {
        let feature = |name: &str| (name.to_string(), true);
        Choice {
            features: vec![feature("PLACE_LAG"), feature("TTWU_QUEUE")],
            hz: vec![250, 1000],
            policies: true,
            groups: true,
            light_groups: true,
            idle_groups: true,
        }
    }

    #[test]
    fn every_case_is_an_experiment_that_can_be_prepared() {
        for number in 0..150 {
            let case = Case::random(1, number, &choice());
            let text = case.experiment("case", "{ kernel = \"6.12\" }", "one\n\ntwo");
            let file = ExperimentFile::parse(&text, "case.toml").unwrap();
            let plan = Plan::new(file, "case.toml").unwrap();
            let machine = plan.machine_of(0).unwrap();
            assert_eq!(machine.possible().len(), case.shape.cpus() as usize, "{text}");
            let built = plan.workload(&plan.file.workloads[0], &machine).unwrap();
            assert!(!built.workload.programs.is_empty());
        }
    }

    #[test]
    fn a_case_follows_from_seed_and_number() {
        let draw = |seed, number| Case::random(seed, number, &choice());
        assert_eq!(draw(1, 7), draw(1, 7));
        assert_ne!(draw(1, 7), draw(1, 8));
        assert_ne!(draw(1, 7), draw(2, 7));
    }

    #[test]
    fn cases_have_all_that_can_be_drawn() {
        let cases: Vec<Case> = (0..400).map(|n| Case::random(3, n, &choice())).collect();
        let any =
            |what: &str, has: &dyn Fn(&Case) -> bool| assert!(cases.iter().any(has), "{what}");
        any("hotplug", &|c| c.hotplug.iter().any(|s| s.online));
        any("distances", &|c| matches!(c.shape, Shape::Regular { distance: 1.., .. }));
        any("dies", &|c| matches!(c.shape, Shape::Regular { dies: 2.., .. }));
        any("clusters", &|c| matches!(c.shape, Shape::Regular { clusters: 2.., .. }));
        any("the catalog", &|c| matches!(c.shape, Shape::Catalog(..)));
        any("features", &|c| !c.features.is_empty());
        any("slices", &|c| c.debug.contains_key("base_slice_ns"));
        for policy in ["Batch", "Idle", "Fifo", "RoundRobin", "Deadline"] {
            any(policy, &|c| format!("{:?}", c.tasks).contains(policy));
        }
        any("weights", &|c| c.groups.iter().any(|g| g.weight.is_some()));
        any("quotas", &|c| c.groups.iter().any(|g| g.max.is_some()));
        any("cpusets", &|c| c.groups.iter().any(|g| !g.cpus.is_empty()));
        any("idle groups", &|c| c.groups.iter().any(|g| g.idle));
        any("groups in groups", &|c| c.groups.iter().any(|g| g.path.contains('/')));
        any("ticks", &|c| c.hz == 1000);
        for event in ["Run", "Sleep", "Timer", "Yield", "Locked", "Post", "Wait", "Barrier", "Fork"]
        {
            any(event, &|c| format!("{:?}", c.tasks).contains(event));
        }
    }
}

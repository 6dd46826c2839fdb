//! Sums over the CPUs of a group, kept until one of them changes.
//!
//! Balancing compares the groups of a domain each time a CPU goes idle (`update_sg_lb_stats`). Between two attempts
//! few CPUs change what it sums up, so each group's sums stay until `touch` names a CPU of it, and with them what an
//! idle CPU of another group makes of it; a group that other groups tile is summed from theirs.

use super::classes::SgLbStats;
use super::counts::Counts;
use crate::fair::Fair;
use crate::topology::{Cpu, Group, Topology};
use crate::world::World;

/// What a group's CPUs come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::fair) struct Sums {
    pub(in crate::fair) load: u64,
    pub(in crate::fair) util: u64,
    pub(in crate::fair) runnable: u64,
    /// Runnable tasks.
    pub(in crate::fair) sum_nr_running: u32,
    pub(in crate::fair) idle_cpus: u32,
    /// Whether some CPU has more than one task.
    pub(super) crowded: bool,
}

impl Sums {
    #[inline]
    pub(in crate::fair) fn add(&mut self, other: &Sums) {
        self.load += other.load;
        self.util += other.util;
        self.runnable += other.runnable;
        self.sum_nr_running += other.sum_nr_running;
        self.idle_cpus += other.idle_cpus;
        self.crowded |= other.crowded;
    }
}

/// One group.
#[derive(Debug, Clone)]
struct Kept {
    /// As an idle CPU of another group sees it, where neither packing nor capacities are asymmetric.
    stats: SgLbStats,
    /// What changes only with its domains and `sgc->imbalance`.
    empty: SgLbStats,
    imbalance_pct: u64,
    state: usize,
    cpus: Box<[Cpu]>,
    /// Groups that tile it; none where its CPUs are summed.
    parts: Box<[u32]>,
}

/// The sums of all groups, by [`Group::view`].
#[derive(Debug)]
pub(in crate::fair) struct GroupSums {
    kept: Vec<Kept>,
    counts: Vec<Counts>,
    sums: Vec<Sums>,
    valid: Vec<bool>,
    /// By group state.
    imbalanced: Vec<bool>,
    /// How many are.
    nr_imbalanced: usize,
    /// By CPU: whether its groups are known to be out of date.
    touched: Vec<bool>,
    /// By CPU: the groups that hold it.
    groups_of: Vec<Vec<u32>>,
}

impl GroupSums {
    /// Nothing summed yet.
    pub(in crate::fair) fn new(topo: &Topology) -> GroupSums {
        let mut kept = vec![None; topo.nr_views];
        let mut groups_of = vec![Vec::new(); topo.nr_cpus];
        for domain in topo.domains.iter().flatten() {
            for group in &domain.groups {
                if kept[group.view].is_some() {
                    continue;
                }
                let empty = SgLbStats::of(group);
                kept[group.view] = Some(Kept {
                    stats: empty,
                    empty,
                    imbalance_pct: domain.imbalance_pct,
                    state: group.state,
                    cpus: group.cpus.clone(),
                    parts: parts(topo, group),
                });
                group.cpus.iter().for_each(|&c| groups_of[c as usize].push(group.view as u32));
            }
        }
        GroupSums {
            kept: kept.into_iter().flatten().collect(),
            counts: idle_counts(topo),
            sums: vec![Sums::default(); topo.nr_views],
            valid: vec![false; topo.nr_views],
            imbalanced: vec![false; topo.nr_group_states],
            nr_imbalanced: 0,
            touched: vec![false; topo.nr_cpus],
            groups_of,
        }
    }

    /// Something of `cpu` that groups sum up has changed.
    pub(in crate::fair) fn touch(&mut self, cpu: Cpu) {
        if !std::mem::replace(&mut self.touched[cpu as usize], true) {
            for &group in &self.groups_of[cpu as usize] {
                self.valid[group as usize] = false;
            }
        }
    }

    /// What each group that holds `cpu` counts.
    #[inline]
    pub(super) fn counts_of(&mut self, cpu: Cpu, mut change: impl FnMut(&mut Counts)) {
        for &group in &self.groups_of[cpu as usize] {
            change(&mut self.counts[group as usize]);
        }
    }

    /// Tasks of a group.
    pub(super) fn counts(&self, view: usize) -> Counts {
        self.counts[view]
    }

    /// Sets the tasks of a group.
    pub(super) fn set_counts(&mut self, view: usize, counts: Counts) {
        self.counts[view] = counts;
    }

    /// Affinities keep the group from balance, or no more (`sgc->imbalance`).
    pub(in crate::fair) fn set_imbalanced(&mut self, state: usize, imbalanced: bool) {
        if std::mem::replace(&mut self.imbalanced[state], imbalanced) == imbalanced {
            return;
        }
        match imbalanced {
            true => self.nr_imbalanced += 1,
            false => self.nr_imbalanced -= 1,
        }
        for (kept, valid) in self.kept.iter_mut().zip(&mut self.valid) {
            if kept.state == state {
                kept.empty.imbalanced = imbalanced;
                *valid = false;
            }
        }
    }

    /// Whether affinities keep any group from balance.
    pub(super) fn any_imbalanced(&self) -> bool {
        self.nr_imbalanced > 0
    }

    /// An up-to-date group as an idle CPU of another group sees it; of one without tasks just that.
    pub(super) fn stats(&self, view: usize) -> &SgLbStats {
        &self.kept[view].stats
    }

    /// An up-to-date group without tasks; only `sgc->imbalance` changes of it.
    pub(in crate::fair) fn empty(&self, view: usize) -> &SgLbStats {
        &self.kept[view].empty
    }
}

/// All groups without tasks.
fn idle_counts(topo: &Topology) -> Vec<Counts> {
    let mut counts = vec![Counts::default(); topo.nr_views];
    for group in topo.domains.iter().flatten().flat_map(|d| &d.groups) {
        counts[group.view].idle = group.cpus.len() as u32;
    }
    counts
}

/// The groups one level down that tile `group`, where there are such.
fn parts(topo: &Topology, group: &Group) -> Box<[u32]> {
    let chain = group.cpus.first().map(|&c| &topo.domains[c as usize]);
    let child = chain.and_then(|chain| chain.iter().rfind(|d| d.span == group.span));
    let Some(child) = child else { return Box::default() };
    let tiles = child.groups.iter().map(|g| g.cpus.len()).sum::<usize>() == group.cpus.len();
    match tiles && child.groups.len() < group.cpus.len() {
        true => child.groups.iter().map(|g| g.view as u32).collect(),
        false => Box::default(),
    }
}

impl Fair {
    /// What the CPUs of a group come to.
    #[inline]
    pub(super) fn group_sums(&mut self, w: &World, view: usize) -> &Sums {
        if !self.sums.valid[view] {
            self.sum_up(w, view);
        }
        debug_assert_eq!(self.sums.sums[view], self.sum_cpus(w, view));
        &self.sums.sums[view]
    }

    fn sum_up(&mut self, w: &World, view: usize) {
        let mut sums = Sums::default();
        let parts = self.sums.kept[view].parts.len();
        for part in 0..parts {
            let part = self.sums.kept[view].parts[part] as usize;
            sums.add(self.group_sums(w, part));
        }
        if parts == 0 {
            sums = self.sum_cpus(w, view);
            let GroupSums { kept, touched, .. } = &mut self.sums;
            kept[view].cpus.iter().for_each(|&c| touched[c as usize] = false);
        }
        let kept = &mut self.sums.kept[view];
        self.sums.sums[view] = sums;
        self.sums.valid[view] = true;
        if sums.sum_nr_running == 0 {
            // Nothing can be pulled from it, whatever its class is.
            kept.stats.sum_nr_running = 0;
            return;
        }
        kept.stats = kept.empty.with(&sums);
        kept.stats.smt_balance =
            self.rules.smt_balance && kept.empty.smt && sums.sum_nr_running > 1;
        kept.stats.settle_class(&self.rules, kept.imbalance_pct);
    }

    fn sum_cpus(&self, w: &World, view: usize) -> Sums {
        let mut sums = Sums::default();
        for &cpu in &self.sums.kept[view].cpus {
            sums.add(&self.sums_of_cpu(w, cpu));
        }
        sums
    }

    /// One CPU's part.
    pub(super) fn sums_of_cpu(&self, w: &World, cpu: Cpu) -> Sums {
        let sum_nr_running = w.cpus[cpu as usize].nr_running;
        Sums {
            load: self.cpu_load(cpu),
            util: self.cpu_util(w, cpu),
            runnable: self.cpu_runnable(cpu),
            sum_nr_running,
            idle_cpus: u32::from(w.idle_cpu(cpu)),
            crowded: sum_nr_running > 1,
        }
    }
}

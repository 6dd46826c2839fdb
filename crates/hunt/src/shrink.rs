//! A case made smaller as long as it fails: parts are left out, halves first, then one by one.

use crate::{Case, Event, Policy, Task, groups as of_groups};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// The smallest case that was found to fail.
    pub case: Case,
    /// Cases that were tried.
    pub tries: usize,
}

/// Makes `case` smaller. `first` says which of some cases is the first that fails as `case` does, if one does; it is asked for at most
/// `most` cases.
pub fn smallest(
    case: Case,
    most: usize,
    first: &mut dyn FnMut(&[Case]) -> Option<usize>,
) -> Shrunk {
    let (mut case, mut tries) = (case, 0);
    let mut pass = 0;
    let mut idle_passes = 0;
    // A pass is one way to make a case smaller; it is taken as long as it helps, and all are taken until none does.
    while idle_passes < PASSES.len() {
        let mut smaller = PASSES[pass](&case);
        smaller.retain(|c| *c != case);
        smaller.truncate(most - tries);
        let found = if smaller.is_empty() { None } else { first(&smaller) };
        tries += found.map_or(smaller.len(), |at| at + 1);
        match found {
            Some(at) => {
                case = smaller.swap_remove(at);
                idle_passes = 0;
            }
            None => {
                pass = (pass + 1) % PASSES.len();
                idle_passes += 1;
            }
        }
        if tries >= most {
            break;
        }
    }
    Shrunk { case, tries }
}

type Pass = fn(&Case) -> Vec<Case>;
const PASSES: [Pass; 9] =
    [tasks, groups, settings, hotplug, machine, duration, instances, parts, numbers];

fn with(case: &Case, change: impl FnOnce(&mut Case)) -> Case {
    let mut changed = case.clone();
    change(&mut changed);
    // Who waits for a barrier or a fork of a task that is gone is mended by leaving that out, too.
    let names: Vec<String> = changed.tasks.iter().map(|t| t.name.clone()).collect();
    for task in &mut changed.tasks {
        for phase in &mut task.phases {
            phase.events.retain(|e| !matches!(e, Event::Fork(of) if !names.contains(of)));
        }
        task.phases.retain(|phase| !phase.events.is_empty());
    }
    changed.tasks.retain(|task| !task.phases.is_empty());
    of_groups::mend(&mut changed);
    changed
}

/// All without a run of neighbours, long runs first.
fn without<T: Clone>(all: &[T]) -> Vec<Vec<T>> {
    let mut lists = Vec::new();
    let mut length = all.len();
    while length > 0 {
        for start in (0..all.len()).step_by(length) {
            let end = (start + length).min(all.len());
            lists.push([&all[..start], &all[end..]].concat());
        }
        length /= 2;
    }
    lists
}

fn tasks(case: &Case) -> Vec<Case> {
    let lists = without(&case.tasks).into_iter().filter(|tasks| !tasks.is_empty());
    lists.map(|tasks| with(case, |c| c.tasks = tasks)).filter(|c| !c.tasks.is_empty()).collect()
}

fn groups(case: &Case) -> Vec<Case> {
    let mut all: Vec<Case> =
        without(&case.groups).into_iter().map(|groups| with(case, |c| c.groups = groups)).collect();
    for at in 0..case.groups.len() {
        let simpler = of_groups::simpler(&case.groups[at]).into_iter();
        all.extend(simpler.map(|group| with(case, |c| c.groups[at] = group)));
    }
    all
}

fn settings(case: &Case) -> Vec<Case> {
    let mut all = vec![
        with(case, |c| {
            c.features.clear();
            c.debug.clear();
            c.background = false;
        }),
        with(case, |c| c.features.clear()),
        with(case, |c| c.debug.clear()),
        with(case, |c| c.background = false),
        with(case, |c| c.hz = 250),
    ];
    for name in case.features.keys() {
        all.push(with(case, |c| c.features.retain(|n, _| n != name)));
    }
    all
}

/// A CPU that goes and comes again leaves both steps out at once.
fn hotplug(case: &Case) -> Vec<Case> {
    let mut all: Vec<Case> =
        without(&case.hotplug).into_iter().map(|steps| with(case, |c| c.hotplug = steps)).collect();
    let cpus: std::collections::BTreeSet<u32> = case.hotplug.iter().map(|s| s.cpu).collect();
    all.extend(cpus.iter().map(|cpu| with(case, |c| c.hotplug.retain(|s| s.cpu != *cpu))));
    all
}

fn machine(case: &Case) -> Vec<Case> {
    let shapes = case.shape.simpler().into_iter();
    shapes
        .map(|shape| {
            let cpus = shape.cpus();
            let there = |all: &mut Vec<u32>| all.retain(|&cpu| cpu < cpus);
            with(case, |c| {
                c.hotplug.retain(|s| s.cpu < cpus);
                for task in &mut c.tasks {
                    there(&mut task.cpus);
                    task.phases.iter_mut().for_each(|p| there(&mut p.cpus));
                }
                c.groups.iter_mut().for_each(|g| there(&mut g.cpus));
                c.shape = shape;
            })
        })
        .collect()
}

fn duration(case: &Case) -> Vec<Case> {
    let ms = case.duration_ms;
    let shorter = [ms / 2, ms * 3 / 4, ms * 9 / 10].into_iter().filter(|&new| new >= 10);
    shorter.map(|new| with(case, |c| c.duration_ms = new)).collect()
}

/// The same case with one task changed.
fn one_changed(case: &Case, change: &dyn Fn(&Task) -> Vec<Task>) -> Vec<Case> {
    let changed = |at: usize| {
        let tasks = change(&case.tasks[at]).into_iter();
        tasks.map(move |task| with(case, |c| c.tasks[at] = task))
    };
    (0..case.tasks.len()).flat_map(changed).collect()
}

fn instances(case: &Case) -> Vec<Case> {
    let mut all = vec![with(case, |c| {
        c.tasks.iter_mut().for_each(|t| t.instances = t.instances.div_ceil(2))
    })];
    all.extend(one_changed(case, &|task| {
        let n = task.instances;
        let fewer = [1, n / 2, n.saturating_sub(1)].into_iter().filter(|&new| new >= 1 && new < n);
        fewer.map(|instances| Task { instances, ..task.clone() }).collect()
    }));
    all
}

/// Without phases, events and settings of tasks.
fn parts(case: &Case) -> Vec<Case> {
    one_changed(case, &|task| {
        let mut all: Vec<Task> = vec![
            Task {
                policy: Policy::Other,
                nice: 0,
                slice_us: 0,
                cpus: vec![],
                clamps: None,
                ..task.clone()
            },
            Task { policy: Policy::Other, ..task.clone() },
            Task { nice: 0, ..task.clone() },
            Task { slice_us: 0, ..task.clone() },
            Task { cpus: vec![], ..task.clone() },
            Task { clamps: None, ..task.clone() },
            Task { loops: task.loops.map(|_| 1), ..task.clone() },
        ];
        let phases = without(&task.phases).into_iter().filter(|phases| !phases.is_empty());
        all.extend(phases.map(|phases| Task { phases, ..task.clone() }));
        for at in 0..task.phases.len() {
            let mut phase = |change: &dyn Fn(&mut crate::Phase)| {
                let mut changed = task.clone();
                change(&mut changed.phases[at]);
                // A loop has to take time.
                if changed.phases[at].events.iter().any(|e| matches!(e, Event::Run(_))) {
                    all.push(changed);
                }
            };
            phase(&|p| p.cpus.clear());
            phase(&|p| p.nice = None);
            phase(&|p| p.loops = 1);
            for event in 0..task.phases[at].events.len() {
                phase(&|p| {
                    p.events.remove(event);
                });
            }
        }
        all
    })
}

/// Times that are round: the highest digit alone.
fn numbers(case: &Case) -> Vec<Case> {
    let round = |us: u32| us / 10u32.pow(us.max(1).ilog10()) * 10u32.pow(us.max(1).ilog10());
    one_changed(case, &|task| {
        let mut changed = task.clone();
        changed.slice_us = if task.slice_us == 0 { 0 } else { round(task.slice_us) };
        for event in changed.phases.iter_mut().flat_map(|p| &mut p.events) {
            if let Event::Run(us) | Event::Sleep(us) | Event::Timer(us) | Event::Locked(_, us) =
                event
            {
                *us = round(*us);
            }
        }
        vec![changed]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Choice;

    /// Cases that fail where `fails` says so.
    fn shrink(case: Case, fails: impl Fn(&Case) -> bool) -> Shrunk {
        smallest(case, 5000, &mut |cases| cases.iter().position(&fails))
    }

    #[test]
    fn what_does_not_matter_is_left_out() {
        let choice = Choice { hz: vec![1000], ..Choice::default() };
        let fails = |c: &Case| {
            let runs = |t: &Task| t.instances >= 2 && t.phases.iter().any(|p| p.events.len() >= 2);
            c.shape.cpus() >= 2 && c.tasks.iter().any(runs)
        };
        let mut tried = 0;
        for number in 0..40 {
            let case = Case::random(5, number, &choice);
            if !fails(&case) {
                continue;
            }
            tried += 1;
            let small = shrink(case, fails).case;
            assert!(fails(&small));
            let [task] = &small.tasks[..] else { panic!("{small:?}") };
            assert_eq!((small.shape.cpus(), small.hz, task.instances), (2, 250, 2), "{small:?}");
            assert!(small.groups.is_empty() && task.policy == Policy::Other, "{small:?}");
            assert!(small.hotplug.is_empty() && task.phases.len() == 1 && task.cpus.is_empty());
            assert_eq!(task.phases[0].events.len(), 2);
        }
        assert!(tried > 10, "{tried}");
    }

    #[test]
    fn a_case_is_tried_no_more_often_than_allowed() {
        let case = Case::random(5, 1, &Choice::default());
        let mut asked = 0;
        let shrunk = smallest(case.clone(), 10, &mut |cases| {
            asked += cases.len();
            None
        });
        assert_eq!((shrunk.case, shrunk.tries, asked), (case, 10, 10));
    }
}

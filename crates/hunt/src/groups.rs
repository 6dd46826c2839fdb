//! Control groups of a case: by chance, as text, and smaller.

use crate::draw::Draw;
use crate::{Case, Group, Policy, Task};

/// A weight of which a CPU of many has enough, too.
const HEAVY: u32 = 1000;

impl Draw<'_> {
    /// Groups that take some of the tasks, now and then one in another.
    pub(crate) fn groups(&mut self, tasks: &[Task]) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut left: Vec<&Task> = tasks.iter().collect();
        for at in 0..self.between(1, 3) {
            let mut mine = Vec::new();
            left.retain(|task| {
                let takes = self.one_in(2);
                if takes {
                    mine.push(*task);
                }
                !takes
            });
            if mine.is_empty() {
                continue;
            }
            // A deadline is granted on all CPUs of a root domain only.
            let all_cpus = mine.iter().any(|t| matches!(t.policy, Policy::Deadline { .. }));
            let mut path = format!("g{at}");
            if self.one_in(3) {
                groups.push(self.group(path.clone(), vec![], all_cpus));
                path += "/in";
            }
            let names = mine.iter().map(|task| task.name.clone()).collect();
            groups.push(self.group(path, names, all_cpus));
        }
        groups
    }

    fn group(&mut self, path: String, tasks: Vec<String>, all_cpus: bool) -> Group {
        let idle = self.choice.idle_groups && self.one_in(6);
        let least = if self.choice.light_groups { 1 } else { HEAVY };
        let weight = (!idle && self.one_in(2)).then(|| self.time_us(least, 10_000));
        let period_us = 1000 * self.between(10, 100);
        let max = self.one_in(3).then(|| (period_us / 10 * self.between(2, 20), period_us));
        let cpus = match !all_cpus && self.pinning && self.one_in(3) {
            true => (0..self.cpus).filter(|_| self.one_in(2)).collect(),
            false => vec![],
        };
        Group { path, tasks, weight, max, idle, cpus }
    }
}

impl Group {
    /// Files and what is written to them, where the machine has `cpus`: it may be smaller than it was.
    fn files(&self, cpus: u32) -> Vec<String> {
        let mut files = Vec::new();
        files.extend(self.weight.map(|weight| format!("cpu.weight = {weight}")));
        files.extend(self.max.map(|(quota, period)| format!("cpu.max = \"{quota} {period}\"")));
        if self.idle {
            files.push("cpu.idle = 1".to_string());
        }
        let there = self.cpus.iter().filter(|cpu| **cpu < cpus);
        let there: Vec<String> = there.map(u32::to_string).collect();
        if !there.is_empty() {
            files.push(format!("cpuset.cpus = \"{}\"", there.join(",")));
        }
        files
    }
}

/// The groups as tables of a variant.
pub(crate) fn text(case: &Case) -> String {
    let all: Vec<(&Group, Vec<String>)> =
        case.groups.iter().map(|group| (group, group.files(case.shape.cpus()))).collect();
    // Groups that change nothing are none.
    if all.iter().all(|(_, files)| files.is_empty()) {
        return String::new();
    }
    let table = |(group, files): &(&Group, Vec<String>)| {
        let names: Vec<String> = group.tasks.iter().map(|name| format!("\"{name}\"")).collect();
        let tasks = match names.is_empty() {
            true => String::new(),
            false => format!("tasks = [{}]\n", names.join(", ")),
        };
        let files: String = files.iter().map(|file| format!("{file}\n")).collect();
        format!("[variant.groups.\"{}\"]\n{files}{tasks}", group.path)
    };
    all.iter().map(table).collect()
}

/// Leaves out tasks that are gone, and groups with neither tasks nor groups below.
pub(crate) fn mend(case: &mut Case) {
    let names: Vec<String> = case.tasks.iter().map(|t| t.name.clone()).collect();
    for group in &mut case.groups {
        group.tasks.retain(|task| names.contains(task));
    }
    let paths: Vec<String> = (case.groups.iter())
        .filter(|group| !group.tasks.is_empty())
        .map(|group| group.path.clone())
        .collect();
    let below = |path: &str, other: &String| {
        other == path || other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    };
    case.groups.retain(|group| paths.iter().any(|other| below(&group.path, other)));
}

/// The same group with less in it.
pub(crate) fn simpler(group: &Group) -> Vec<Group> {
    vec![
        Group { weight: None, ..group.clone() },
        Group { max: None, ..group.clone() },
        Group { idle: false, ..group.clone() },
        Group { cpus: vec![], ..group.clone() },
    ]
}

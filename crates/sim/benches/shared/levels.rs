//! Task groups in each other.

use setting::{Group, Setting};

/// Groups in each other, `levels` deep, the last with all tasks.
fn groups(levels: usize) -> Vec<Group> {
    let path = |level: usize| (1..=level).map(|l| format!("g{l}")).collect::<Vec<_>>().join("/");
    let group = |level: usize| {
        let tasks = if level == levels { vec!["*".to_string()] } else { Vec::new() };
        Group { path: path(level), tasks, ..Group::default() }
    };
    (1..=levels).map(group).collect()
}

/// A setting with as many groups in each other as the program's argument says, none without one.
pub fn setting() -> Setting {
    let levels = std::env::args().nth(1).map_or(0, |n| n.parse().expect("a number of groups"));
    Setting { groups: groups(levels), ..Setting::default() }
}

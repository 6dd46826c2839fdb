//! A case's tasks as an rt-app file.

use crate::{Case, Event, Phase, Task};
use std::collections::BTreeMap;

/// Text with a line for each phase. Keys of events are numbered: rt-app takes what begins with an event's name.
pub(crate) fn text(case: &Case) -> String {
    let tasks: Vec<String> = case.tasks.iter().map(|t| task(case, t)).collect();
    format!("{{ \"tasks\": {{\n{}\n}} }}\n", tasks.join(",\n"))
}

fn list(cpus: &[u32]) -> String {
    let numbers: Vec<String> = cpus.iter().map(u32::to_string).collect();
    format!("\"cpus\": [{}]", numbers.join(", "))
}

/// CPUs that the machine has all along: a phase may be smaller than its machine was.
fn affinity(case: &Case, cpus: &[u32]) -> Option<String> {
    let there: Vec<u32> = cpus.iter().copied().filter(|&cpu| cpu < case.shape.cpus()).collect();
    (!there.is_empty()).then(|| list(&there))
}

fn task(case: &Case, task: &Task) -> String {
    let mut fields = vec![format!("\"instance\": {}", task.instances)];
    fields.push(format!("\"loop\": {}", task.loops.map_or(-1, i64::from)));
    let (policy, is_fair) = task.policy.fields();
    fields.extend(policy);
    if is_fair && (task.nice != 0 || task.slice_us != 0) {
        fields.push(format!("\"priority\": {}", task.nice));
    }
    if is_fair && task.slice_us != 0 {
        fields.push(format!("\"dl-runtime\": {}", task.slice_us));
    }
    fields.extend(affinity(case, &task.cpus));
    if let Some((min, max)) = task.clamps {
        fields.push(format!("\"util_min\": {min}, \"util_max\": {max}"));
    }
    let phases: Vec<String> =
        task.phases.iter().enumerate().map(|(at, p)| phase(case, task, at, p)).collect();
    let name = &task.name;
    format!(
        "  \"{name}\": {{ {}, \"phases\": {{\n{}\n  }} }}",
        fields.join(", "),
        phases.join(",\n")
    )
}

fn phase(case: &Case, task: &Task, at: usize, phase: &Phase) -> String {
    let mut fields = vec![format!("\"loop\": {}", phase.loops)];
    fields.extend(phase.nice.map(|nice| format!("\"priority\": {nice}")));
    fields.extend(affinity(case, &phase.cpus));
    let mut numbers = BTreeMap::new();
    for one in &phase.events {
        for (key, value) in events(task, one) {
            let number = numbers.entry(key).or_insert(0);
            *number += 1;
            fields.push(format!("\"{key}{number}\": {value}"));
        }
    }
    format!("    \"p{at}\": {{ {} }}", fields.join(", "))
}

fn events(task: &Task, event: &Event) -> Vec<(&'static str, String)> {
    let quoted = |text: &str| format!("\"{text}\"");
    match event {
        Event::Run(us) => vec![("run", us.to_string())],
        Event::Sleep(us) => vec![("sleep", us.to_string())],
        Event::Timer(us) => {
            vec![("timer", format!("{{ \"ref\": \"unique-{}\", \"period\": {us} }}", task.name))]
        }
        Event::Yield => vec![("yield", "\"\"".to_string())],
        Event::Locked(mutex, us) => {
            vec![("lock", quoted(mutex)), ("run", us.to_string()), ("unlock", quoted(mutex))]
        }
        Event::Post(semaphore) => vec![("sem_post", quoted(semaphore))],
        Event::Wait(semaphore) => vec![("sem_wait", quoted(semaphore))],
        Event::Barrier(name) => vec![("barrier", quoted(name))],
        Event::Fork(task) => vec![("fork", quoted(task))],
    }
}

//! `tasks`: threads, phases, and the properties they share.

use super::RtAppError;
use super::ast::{Attributes, Event, Loops, Phase, Policy, Task};
use super::event;
use super::fields::{Fields, Item};

const TASK_KEYS: &str = "a task's property, an event, or `phases` instead of events";

/// `tasks` of the root, without which rt-app does not start.
pub(super) fn read_all(
    root: &mut Fields<'_>,
    default_policy: Policy,
) -> Result<Vec<Task>, RtAppError> {
    let Some(item) = root.take("tasks")? else {
        return Err(root.item().error("no `tasks`", "an object with `tasks`"));
    };
    let tasks = item.fields("an object of tasks")?.take_all(|_| true);
    tasks.iter().map(|item| task(item, default_policy)).collect()
}

fn task(item: &Item<'_>, default_policy: Policy) -> Result<Task, RtAppError> {
    let mut fields = item.fields("an object with events or `phases`")?;
    let instances = fields.get("instance", |i| i.count(0, "a number of threads"))?.unwrap_or(1);
    let delay_us = fields.get("delay", |i| i.count(0, "µs"))?.unwrap_or(0);
    let phases = fields.get("phases", phases)?;
    let least_loops = if phases.is_some() { 0 } else { 1 };
    let loops = loops(&mut fields, least_loops)?.unwrap_or(Loops::Forever);
    let mut attributes = attributes(&mut fields)?;
    let phases = match phases {
        Some(phases) => {
            legacy_deadline(&mut fields, &mut attributes, false)?;
            phases
        }
        None => {
            // `runtime` is an event here, and for rt-app the budget as well.
            legacy_deadline(&mut fields, &mut attributes, true)?;
            let events = events(&mut fields)?;
            let attributes = Attributes::default();
            vec![Phase { name: None, loops: Loops::Times(1), attributes, events }]
        }
    };
    fields.finish(TASK_KEYS)?;
    let name = item.key.to_string();
    let task = Task { name, instances, delay_us, loops, attributes, phases };
    check_taskgroup(item, &task, default_policy)?;
    Ok(task)
}

fn phases(item: &Item<'_>) -> Result<Vec<Phase>, RtAppError> {
    let phases = item.fields("an object of phases")?.take_all(|_| true);
    if phases.is_empty() {
        return Err(item.error("no phases", "at least one"));
    }
    phases.iter().map(phase).collect()
}

fn phase(item: &Item<'_>) -> Result<Phase, RtAppError> {
    let mut fields = item.fields("an object with events")?;
    let loops = loops(&mut fields, 1)?.unwrap_or(Loops::Times(1));
    let attributes = attributes(&mut fields)?;
    let events = events(&mut fields)?;
    fields.finish("a phase's property or an event")?;
    Ok(Phase { name: Some(item.key.to_string()), loops, attributes, events })
}

fn events(fields: &mut Fields<'_>) -> Result<Vec<Event>, RtAppError> {
    let items = fields.take_all(event::is_event);
    if items.is_empty() {
        return Err(fields.item().error("no events", "at least one"));
    }
    items.iter().map(event::read).collect()
}

fn loops(fields: &mut Fields<'_>, least: i32) -> Result<Option<Loops>, RtAppError> {
    let expected = format!("-1 for no end, or at least {least}");
    fields.get("loop", |item| match item.integer(-1..=i32::MAX, &expected)? {
        -1 => Ok(Loops::Forever),
        times if times < least => Err(item.error(&times.to_string(), &expected)),
        times => Ok(Loops::Times(times.unsigned_abs())),
    })
}

fn attributes(fields: &mut Fields<'_>) -> Result<Attributes, RtAppError> {
    Ok(Attributes {
        policy: fields.get("policy", |i| i.one_of(&Policy::NAMES))?,
        priority: fields.get("priority", |i| i.integer(-20..=99, "-20 to 99"))?,
        dl_runtime_us: fields.get("dl-runtime", microseconds)?,
        dl_period_us: fields.get("dl-period", microseconds)?,
        dl_deadline_us: fields.get("dl-deadline", microseconds)?,
        cpus: fields.get("cpus", |i| i.counts("an array of CPUs"))?,
        nodes_membind: fields.get("nodes_membind", |i| i.counts("an array of NUMA nodes"))?,
        taskgroup: fields.get("taskgroup", taskgroup)?.flatten(),
        util_min: fields.get("util_min", clamp)?.flatten(),
        util_max: fields.get("util_max", clamp)?.flatten(),
    })
}

fn microseconds(item: &Item<'_>) -> Result<u32, RtAppError> {
    item.count(0, "µs")
}

/// Older names of the deadline parameters, which only tasks have: they count where the newer say nothing.
fn legacy_deadline(
    fields: &mut Fields<'_>,
    attributes: &mut Attributes,
    runtime_is_event: bool,
) -> Result<(), RtAppError> {
    let runtime = match runtime_is_event {
        true => fields.last("runtime").map(microseconds).transpose()?,
        false => fields.get("runtime", microseconds)?,
    };
    let older =
        [runtime, fields.get("period", microseconds)?, fields.get("deadline", microseconds)?];
    let newer = [
        &mut attributes.dl_runtime_us,
        &mut attributes.dl_period_us,
        &mut attributes.dl_deadline_us,
    ];
    for (newer, older) in newer.into_iter().zip(older) {
        *newer = newer.filter(|&us| us > 0).or(older).or(*newer);
    }
    Ok(())
}

/// An empty one is none.
fn taskgroup(item: &Item<'_>) -> Result<Option<String>, RtAppError> {
    let expected = "a path that begins with `/`, or nothing";
    let path = item.string(expected)?;
    match path.as_bytes().first() {
        None => Ok(None),
        Some(b'/') => Ok(Some(path)),
        Some(_) => Err(item.error(&format!("\"{path}\""), expected)),
    }
}

/// -1 leaves a clamp as it is.
fn clamp(item: &Item<'_>) -> Result<Option<u16>, RtAppError> {
    let value = item.integer(-1..=1024, "0 to 1024, or -1")?;
    Ok(u16::try_from(value).ok())
}

/// Only the fair class has task groups: `check_taskgroup_policy_dep` of rt-app.
fn check_taskgroup(item: &Item<'_>, task: &Task, default_policy: Policy) -> Result<(), RtAppError> {
    let mut policy = task.attributes.policy.unwrap_or(default_policy);
    let mut group = task.attributes.taskgroup.as_deref();
    for attributes in task.phases.iter().map(|phase| &phase.attributes) {
        policy = attributes.policy.unwrap_or(policy);
        group = attributes.taskgroup.as_deref().or(group);
        if let Some(group) = group.filter(|_| !policy.is_fair()) {
            let found = format!("{} in the task group {group}", policy.name());
            return Err(item.error(&found, "a fair policy, or no task group"));
        }
    }
    Ok(())
}

//! The file as JSON that json-c and rt-app 1.0 take: no comments, every key once, every default said.

use workload::rtapp::ast::{Action, Attributes, Calibration, Event, Loops, Phase, RtApp, Task};
use workload::rtapp::{Params, Suspend};

/// An object, in order, which rt-app goes by.
struct Object(Vec<(String, String)>);

impl Object {
    fn new() -> Object {
        Object(Vec::new())
    }

    fn put(&mut self, key: &str, value: impl Into<String>) {
        self.0.push((key.to_owned(), value.into()));
    }

    fn put_number(&mut self, key: &str, value: impl Into<i64>) {
        self.put(key, value.into().to_string());
    }

    fn text(&self, depth: usize) -> String {
        let indent = "\t".repeat(depth + 1);
        let lines = self.0.iter().map(|(key, value)| format!("{indent}{}: {value}", quoted(key)));
        format!("{{\n{}\n{}}}", lines.collect::<Vec<_>>().join(",\n"), "\t".repeat(depth))
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text for a run of `duration_s`, until all threads end where absent, with logs below `logs`.
pub(super) fn text(app: &RtApp, params: &Params, duration_s: Option<u64>, logs: &str) -> String {
    let mut tasks = Object::new();
    for (nth, task) in app.tasks.iter().enumerate().filter(|(_, task)| task.instances > 0) {
        tasks.put(&app.label(nth), task_object(task, params).text(2));
    }
    let mut root = Object::new();
    root.put("global", global(app, duration_s, logs).text(1));
    root.put("tasks", tasks.text(1));
    root.text(0) + "\n"
}

fn global(app: &RtApp, duration_s: Option<u64>, logs: &str) -> Object {
    let g = &app.global;
    let mut object = Object::new();
    object.put("duration", duration_s.map_or("-1".to_owned(), |s| s.to_string()));
    object.put(
        "calibration",
        match g.calibration {
            Calibration::Cpu(cpu) => quoted(&format!("CPU{cpu}")),
            Calibration::NsPerLoop(ns) => ns.to_string(),
        },
    );
    object.put("default_policy", quoted(g.default_policy.name()));
    object.put("pi_enabled", g.pi_enabled.to_string());
    object.put("lock_pages", g.lock_pages.to_string());
    object.put("logdir", quoted(logs));
    object.put("log_basename", quoted("rt-app"));
    // Without `log_size` logs are files; rt-app 1.0 takes any word for `disable`.
    object.put("ftrace", "false");
    object.put("gnuplot", "false");
    object.put("io_device", quoted(&g.io_device));
    object.put_number("mem_buffer_size", g.mem_buffer_size);
    // One timer's slack is read, never a sum.
    object.put("cumulative_slack", "false");
    object
}

fn task_object(task: &Task, params: &Params) -> Object {
    let mut object = Object::new();
    object.put_number("instance", task.instances);
    object.put_number("delay", task.delay_us);
    object.put("loop", loops(task.loops));
    attributes(&mut object, &task.attributes);
    let mut phases = Object::new();
    for (nth, phase) in task.phases.iter().enumerate() {
        phases.put(&format!("phase{nth}"), phase_object(task, phase, params).text(4));
    }
    object.put("phases", phases.text(3));
    object
}

fn attributes(object: &mut Object, a: &Attributes) {
    if let Some(policy) = a.policy {
        object.put("policy", quoted(policy.name()));
    }
    if let Some(priority) = a.priority {
        object.put_number("priority", priority);
    }
    let times = [
        ("dl-runtime", a.dl_runtime_us),
        ("dl-period", a.dl_period_us),
        // rt-app 1.0 has no deadline where the file has none.
        ("dl-deadline", a.dl_deadline_us.or(a.dl_period_us).or(a.dl_runtime_us)),
    ];
    for (key, us) in times {
        if let Some(us) = us {
            object.put_number(key, us);
        }
    }
    cpus(object, a);
}

fn cpus(object: &mut Object, a: &Attributes) {
    if let Some(cpus) = &a.cpus {
        let list: Vec<String> = cpus.iter().map(u32::to_string).collect();
        object.put("cpus", format!("[{}]", list.join(", ")));
    }
}

fn phase_object(task: &Task, phase: &Phase, params: &Params) -> Object {
    let mut object = Object::new();
    object.put("loop", loops(phase.loops));
    cpus(&mut object, &phase.attributes);
    for (nth, event) in phase.events.iter().enumerate() {
        if let Some((name, value)) = event_value(task, event, params) {
            // Any key that begins with the event's name.
            object.put(&format!("{name}_{nth}"), value);
        }
    }
    object
}

fn loops(loops: Loops) -> String {
    match loops {
        Loops::Times(times) => times.to_string(),
        Loops::Forever => "-1".to_owned(),
    }
}

fn waiting(condition: &str, mutex: &str) -> String {
    format!("{{ \"ref\": {}, \"mutex\": {} }}", quoted(condition), quoted(mutex))
}

/// An event's name and value; `None` for one that rt-app 1.0 does not have, which was allowed to be left out.
fn event_value(task: &Task, event: &Event, params: &Params) -> Option<(&'static str, String)> {
    Some(match &event.action {
        Action::Run { us } => ("run", us.to_string()),
        Action::Runtime { us } => ("runtime", us.to_string()),
        Action::Sleep { us } => ("sleep", us.to_string()),
        Action::Mem { bytes } => ("mem", bytes.to_string()),
        Action::IoRun { bytes } => ("iorun", bytes.to_string()),
        Action::Timer(timer) => {
            let mode = if timer.absolute { "absolute" } else { "relative" };
            let (name, period) = (quoted(&timer.name), timer.period_us);
            ("timer", format!("{{ \"ref\": {name}, \"period\": {period}, \"mode\": \"{mode}\" }}"))
        }
        Action::Lock { mutex } => ("lock", quoted(mutex)),
        Action::Unlock { mutex } => ("unlock", quoted(mutex)),
        Action::Wait { condition, mutex } => ("wait", waiting(condition, mutex)),
        Action::Sync { condition, mutex } => ("sync", waiting(condition, mutex)),
        Action::Signal { condition } => ("signal", quoted(condition)),
        Action::Broadcast { condition } => ("broad", quoted(condition)),
        Action::Barrier { name } => ("barrier", quoted(name)),
        // rt-app 1.0 waits for the string.
        Action::Suspend { name } => match (params.suspend, name) {
            (Suspend::Named, Some(name)) => ("suspend", quoted(name)),
            _ => ("suspend", quoted(&task.name)),
        },
        Action::Resume { name } => ("resume", quoted(name)),
        Action::Yield => ("yield", quoted("")),
        Action::MemRun(_)
        | Action::SemPost { .. }
        | Action::SemWait { .. }
        | Action::Fork { .. } => {
            return None;
        }
    })
}

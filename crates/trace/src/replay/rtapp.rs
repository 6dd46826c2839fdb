//! A replay as a file for rt-app.
//!
//! Work becomes `run`, in us of a CPU at the nominal clock that has its core to itself, which is how rt-app calibrates. Sleeps become
//! `sleep`, messages `sem_post` and `sem_wait`. rt-app counts in us: what a step lacks or has too much, the next one of its kind makes up
//! for.

use super::{LEAD_NS, Replay};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use workload::{Op, Program, Spawn};

/// Keys and values in their order, which rt-app goes by.
struct Ordered<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for Ordered<V> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct File {
    global: Value,
    tasks: Ordered<Ordered<Value>>,
}

/// The file's text. `replay` has no forks ([`super::Options::without_forks`]): each task begins with its own `delay`.
///
/// # Errors
/// None that a replay can give rise to.
pub fn rt_app(replay: &Replay, nominal_khz: f64) -> Result<String, serde_json::Error> {
    let of = |spawn: &Spawn| {
        let program = &replay.workload.programs[spawn.program.index()];
        let events = Events::of(program, spawn, nominal_khz).0;
        let name = format!("{}-{}", file_name(&program.name), spawn.program.0);
        (!events.is_empty()).then_some((name, Ordered(events)))
    };
    let tasks = Ordered(replay.workload.spawns.iter().filter_map(of).collect());
    let global = json!({ "duration": -1, "default_policy": "SCHED_OTHER" });
    Ok(serde_json::to_string_pretty(&File { global, tasks })? + "\n")
}

/// What a task has in the file.
struct Events(Vec<(String, Value)>);

impl Events {
    fn of(program: &Program, spawn: &Spawn, nominal_khz: f64) -> Events {
        let mut events = Vec::new();
        let (mut run_us, mut sleep_us) = (0.0, 0.0);
        // All but those that come later have slept until the begin.
        let mut before_us = LEAD_NS as f64 / 1e3;
        let later_us = (spawn.first_wake_ns.saturating_sub(LEAD_NS)) / 1000;
        let mut put = |name: &str, value: Value| {
            let number = events.len();
            events.push((format!("{name}{number}"), value));
        };
        for op in &program.ops {
            match *op {
                Op::Compute(work) => {
                    run_us += work.cycles * 1e3 / nominal_khz;
                    whole(&mut run_us).into_iter().for_each(|us| put("run", us.into()));
                }
                Op::Sleep { mean_ns: ns, .. } | Op::Io { service_ns: ns, .. } => {
                    sleep_us += ns / 1e3 - std::mem::take(&mut before_us);
                    whole(&mut sleep_us).into_iter().for_each(|us| put("sleep", us.into()));
                }
                Op::Send(queue) => put("sem_post", format!("q{}", queue.0).into()),
                Op::Receive(queue) => {
                    before_us = 0.0;
                    put("sem_wait", format!("q{}", queue.0).into());
                }
                _ => {}
            }
        }
        if events.is_empty() {
            return Events(events);
        }
        let cpus = spawn.affinity.as_ref().filter(|_| is_bound(program));
        let cpus = cpus.map(|cpus| ("cpus", cpus.iter().collect::<Vec<_>>().into()));
        let nice = (spawn.nice != 0).then(|| ("priority", spawn.nice.into()));
        let delay = (later_us > 0).then(|| ("delay", later_us.into()));
        let head = [Some(("loop", 1.into())), delay, nice, cpus].into_iter().flatten();
        let head = head.map(|(name, value): (&str, Value)| (name.to_owned(), value));
        Events(head.chain(events).collect())
    }
}

/// A thread's name is part of its log's.
fn file_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    name.chars().map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// The whole us of `us`, if there are some; the rest stays.
fn whole(us: &mut f64) -> Option<u64> {
    let whole = us.floor();
    (whole >= 1.0).then(|| {
        *us -= whole;
        whole as u64
    })
}

/// A task that is only put to where it was is set free by its first step.
fn is_bound(program: &Program) -> bool {
    !matches!(program.ops.first(), Some(Op::SetAffinity(_)))
}

//! rt-app: the experiment's file as the rt-app 1.0 that Debian has takes it, and its logs as metrics.

mod json;
mod logs;

pub use logs::Logs;

use super::{FILES, FileSource, Output, Program, SCRATCH, Untranslated};
use logs::TaskLogs;
use std::io;
use workload::BuildError;
use workload::rtapp::ast::{Action, Attributes, Phase, Policy, RtApp, Task};
use workload::rtapp::{Feature, Options, Params, read};

/// The file in a guest.
const FILE: &str = "run/rt-app.json";
/// Where rt-app writes its logs, below the scratch directory.
const LOGS: &str = "rt-app";

/// What a guest runs for the file that `params` name, which `read_file` gives.
pub(super) fn translate(
    params: &Params,
    read_file: &dyn Fn(&str) -> io::Result<String>,
) -> Result<Program, Untranslated> {
    let (file, text) = params.source(read_file).map_err(|e| match e {
        BuildError::File { file, reason } => Untranslated::File { file, reason },
        other => Untranslated::File { file: params.file.clone(), reason: other.to_string() },
    })?;
    let options = Options { duplicates: params.duplicates, unknown_keys: params.unknown_keys };
    let app = read(&text, file, options)?;
    let mut check = Check { app: &app, params, notes: Vec::new() };
    check.all()?;
    let mut notes = check.notes;
    let given = params.duration_s.or(app.global.duration_s.map(f64::from));
    let duration_s = given.map(|seconds| seconds.ceil().max(1.0) as u64);
    if let (Some(seconds), Some(whole)) = (given, duration_s)
        && seconds != whole as f64
    {
        notes.push(format!("run for {whole} s, as rt-app takes whole seconds"));
    }
    let tasks = tasks(&app, &mut notes);
    let logs = Logs { tasks, duration_s: duration_s.map(|s| s as f64) };
    Ok(Program {
        packages: vec!["rt-app"],
        programs: vec!["usr/bin/rt-app"],
        files: vec![(FILE.to_owned(), FileSource::Text(json::text(&app, params, duration_s, ".")))],
        command: format!(
            "mkdir -p {SCRATCH}/{LOGS} && cd {SCRATCH}/{LOGS} || exit 1\n\
             rt-app {FILES}/{FILE} >&2 || exit 1\n\
             for log in *.log; do\n\
             \x20   thread=${{log%.log}}\n\
             \x20   echo \"thread ${{thread##*-}}\"\n\
             \x20   awk '!/^#/ {{ print $5, $6, $8, $10, $11 }}' \"$log\" || exit 1\n\
             done\n"
        ),
        output: Output::RtApp(logs),
        notes,
        guest_notes: Vec::new(),
    })
}

/// What rt-app 1.0 cannot do, which it would leave out in silence.
struct Check<'a> {
    app: &'a RtApp,
    params: &'a Params,
    notes: Vec<String>,
}

impl Check<'_> {
    fn all(&mut self) -> Result<(), Untranslated> {
        let app = self.app;
        self.policy("global.default_policy", app.global.default_policy)?;
        for task in app.tasks.iter().filter(|task| task.instances > 0) {
            let path = format!("tasks.{}", task.name);
            self.attributes(&path, &task.attributes)?;
            for phase in &task.phases {
                self.phase(task, phase)?;
            }
        }
        Ok(())
    }

    fn newer(&self, path: &str, found: &'static str) -> Result<(), Untranslated> {
        let file = self.app.file.clone();
        Err(Untranslated::Newer { file, path: path.to_owned(), found })
    }

    /// Leaves `feature` out where the experiment allows it.
    fn left_out(&mut self, path: &str, feature: Feature) -> Result<(), Untranslated> {
        if !self.params.ignore.contains(&feature) {
            return self.newer(path, feature.name());
        }
        self.notes.push(format!("left out: {} ({path})", feature.name()));
        Ok(())
    }

    fn policy(&self, path: &str, policy: Policy) -> Result<(), Untranslated> {
        match policy {
            Policy::Batch | Policy::Idle => self.newer(path, policy.name()),
            Policy::Other | Policy::RoundRobin | Policy::Fifo | Policy::Deadline => Ok(()),
        }
    }

    fn attributes(&mut self, path: &str, a: &Attributes) -> Result<(), Untranslated> {
        let policy = a.policy.unwrap_or(self.app.global.default_policy);
        self.policy(&format!("{path}.policy"), policy)?;
        if policy != Policy::Deadline && a.dl_runtime_us.is_some_and(|us| us > 0) {
            self.newer(&format!("{path}.dl-runtime"), "a slice")?;
        }
        self.newer_attributes(path, a)
    }

    /// Attributes that no task has in rt-app 1.0.
    fn newer_attributes(&mut self, path: &str, a: &Attributes) -> Result<(), Untranslated> {
        if a.util_min.is_some() || a.util_max.is_some() {
            self.newer(path, "util_min or util_max")?;
        }
        if a.taskgroup.as_deref().is_some_and(|group| group != "/") {
            self.left_out(&format!("{path}.taskgroup"), Feature::Taskgroup)?;
        }
        if a.nodes_membind.is_some() {
            self.left_out(&format!("{path}.nodes_membind"), Feature::NodesMembind)?;
        }
        Ok(())
    }

    fn phase(&mut self, task: &Task, phase: &Phase) -> Result<(), Untranslated> {
        let name = phase.name.as_deref().unwrap_or("the only one");
        let path = format!("tasks.{}.phases.{name}", task.name);
        let a = &phase.attributes;
        let scheduling = a.policy.is_some() || a.priority.is_some();
        let deadline = a.dl_runtime_us.or(a.dl_period_us).or(a.dl_deadline_us).is_some();
        // Attributes of a task without phases are the task's.
        if phase.name.is_some() && (scheduling || deadline) {
            self.newer(&path, "a policy or priority of a phase")?;
        }
        if phase.name.is_some() {
            self.newer_attributes(&path, a)?;
        }
        for event in &phase.events {
            let path = self.app.path(task, phase, event);
            match event.action {
                Action::MemRun(_) => self.left_out(&path, Feature::Memrun)?,
                Action::SemPost { .. } | Action::SemWait { .. } => {
                    self.newer(&path, "a semaphore")?;
                }
                Action::Fork { .. } => self.newer(&path, "a fork")?,
                _ => {}
            }
        }
        Ok(())
    }
}

/// What the logs of each task can say.
fn tasks(app: &RtApp, notes: &mut Vec<String>) -> Vec<TaskLogs> {
    let present = app.tasks.iter().enumerate().filter(|(_, task)| task.instances > 0);
    let about = |(nth, task): (usize, &Task)| {
        let label = app.label(nth);
        let count = |phase: &Phase, wanted: fn(&Action) -> bool| {
            phase.events.iter().filter(|event| wanted(&event.action)).count()
        };
        let timers = |phase: &Phase| count(phase, |action| matches!(action, Action::Timer(_)));
        let sleeps = |phase: &Phase| count(phase, |action| matches!(action, Action::Sleep { .. }));
        let timed: Vec<&Phase> = task.phases.iter().filter(|p| timers(p) > 0).collect();
        let single = !timed.is_empty() && timed.iter().all(|phase| timers(phase) == 1);
        // Without a sleep in any phase a thread is last due by the timer.
        let response = single && timed.len() == task.phases.len();
        let response = response && task.phases.iter().all(|phase| sleeps(phase) == 0);
        if !timed.is_empty() && !single {
            notes.push(format!(
                "no {label}_wakeup and no {label}_response: rt-app's log has one line for several timers"
            ));
        } else if !timed.is_empty() && !response {
            notes.push(format!(
                "no {label}_response: rt-app's log does not tell what a loop slept from its timer's time"
            ));
        }
        TaskLogs { label, instances: task.instances, wakeup: single, response }
    };
    present.map(about).collect()
}

#[cfg(test)]
mod tests;

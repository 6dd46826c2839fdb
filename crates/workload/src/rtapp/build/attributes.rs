//! Policies, priorities, affinities: what tasks and phases set.

use super::Builder;
use super::thread::Thread;
use crate::program::{self, Op};
use crate::rtapp::RtAppError;
use crate::rtapp::ast::{Attributes, Phase, Policy, RtApp, Task};
use crate::rtapp::feature::Feature;
use machine::CpuSet;

/// rt-app's for `SCHED_FIFO` and `SCHED_RR`.
const DEFAULT_PRIORITY: i32 = 10;

/// Whether a thread of the file has another policy than `SCHED_OTHER` at some time. Threads inherit those of who forks them.
fn has_policies(app: &RtApp) -> bool {
    let phases = app.tasks.iter().flat_map(|task| &task.phases).map(|phase| &phase.attributes);
    let all = app.tasks.iter().map(|task| &task.attributes).chain(phases);
    let mut policies = all.filter_map(|a| a.policy).chain([app.global.default_policy]);
    policies.any(|policy| policy != Policy::Other)
}

impl<'a> Builder<'a> {
    /// What a thread sets when it starts.
    pub(super) fn task_attributes(&mut self, t: &mut Thread<'a>) -> Result<(), RtAppError> {
        let attributes = &t.task.attributes;
        let path = format!("tasks.{}", t.task.name);
        self.not_simulated(&path, attributes)?;
        self.util_clamps(t, &path, attributes)?;
        let policy = attributes.policy.unwrap_or(self.app.global.default_policy);
        self.schedule(t, &path, policy, attributes)
    }

    /// What a phase sets when it begins.
    pub(super) fn phase_attributes(
        &mut self,
        t: &mut Thread<'a>,
        nth: usize,
        phase: &'a Phase,
    ) -> Result<(), RtAppError> {
        let name = phase.name.as_deref().unwrap_or("");
        let path = format!("tasks.{}.phases.{name}", t.task.name);
        self.not_simulated(&path, &phase.attributes)?;
        self.util_clamps(t, &path, &phase.attributes)?;
        let cpus = self.affinity(t, phase)?;
        // Threads start with all CPUs; after the last phase comes the first again.
        let before = match nth.checked_sub(1).and_then(|before| t.task.phases.get(before)) {
            Some(before) => self.affinity(t, before)?,
            None => None,
        };
        let last = t.task.phases.last().map_or(Ok(None), |last| self.affinity(t, last))?;
        if cpus != before || (nth == 0 && cpus != last) {
            t.ops.push(Op::SetAffinity(cpus.unwrap_or(self.costs.online.clone())));
        }
        // Without a policy or a priority rt-app changes nothing, a slice neither.
        let current = t.task.attributes.policy.unwrap_or(self.app.global.default_policy);
        let mut policies = t.task.phases.iter().take(nth + 1).filter_map(|p| p.attributes.policy);
        let policy = policies.next_back().unwrap_or(current);
        let attributes = &phase.attributes;
        if attributes.policy.is_some() || attributes.priority.is_some() {
            return self.schedule(t, &path, policy, attributes);
        }
        Ok(())
    }

    /// `set_thread_param` of rt-app.
    fn schedule(
        &mut self,
        t: &mut Thread<'a>,
        path: &str,
        policy: Policy,
        attributes: &Attributes,
    ) -> Result<(), RtAppError> {
        if self.costs.deadlines {
            return self.set_policy(t, path, policy, attributes);
        }
        let feature = match policy {
            Policy::Other => None,
            Policy::Batch => Some(Feature::SchedBatch),
            Policy::Idle => Some(Feature::SchedIdle),
            Policy::RoundRobin => Some(Feature::SchedRr),
            Policy::Fifo => Some(Feature::SchedFifo),
            Policy::Deadline => Some(Feature::SchedDeadline),
        };
        let is_left_out =
            |f: Feature| f == Feature::SchedDeadline || self.params.ignore.contains(&f);
        let Some(feature) = feature.filter(|&f| is_left_out(f)) else {
            return self.set_policy(t, path, policy, attributes);
        };
        let given = attributes.policy.is_some();
        let place =
            if given { format!("{path}.policy") } else { "global.default_policy".to_string() };
        self.leave_out(feature, &place)?;
        if !policy.is_fair() {
            t.ops.push(Op::SetNice(0));
            return Ok(());
        }
        self.nice_and_slice(t, path, policy, attributes)
    }

    /// The same with all policies. Threads of a file without other policies than `SCHED_OTHER` set none.
    fn set_policy(
        &mut self,
        t: &mut Thread<'a>,
        path: &str,
        policy: Policy,
        attributes: &Attributes,
    ) -> Result<(), RtAppError> {
        let priority = match policy.is_fair() || policy == Policy::Deadline {
            true => 0,
            false => self.real_time_priority(path, attributes)?,
        };
        let asked = match policy {
            Policy::Other => program::Policy::Other,
            Policy::Batch => program::Policy::Batch,
            Policy::Idle => program::Policy::Idle,
            Policy::Fifo => program::Policy::Fifo { priority },
            Policy::RoundRobin => program::Policy::RoundRobin { priority },
            Policy::Deadline => self.deadline(path, t.task, attributes)?,
        };
        if has_policies(self.app) {
            t.ops.push(Op::SetPolicy(asked));
        }
        if policy.is_fair() { self.nice_and_slice(t, path, policy, attributes) } else { Ok(()) }
    }

    fn real_time_priority(&self, path: &str, attributes: &Attributes) -> Result<u8, RtAppError> {
        let priority = attributes.priority.unwrap_or(DEFAULT_PRIORITY);
        u8::try_from(priority).ok().filter(|p| (1..=99).contains(p)).ok_or_else(|| {
            let path = format!("{path}.priority");
            self.refuse(&path, &priority.to_string(), "a real-time priority, 1 to 99")
        })
    }

    /// A period that is not told is the runtime, and a deadline the period. What a phase does not tell, its task does.
    fn deadline(
        &self,
        path: &str,
        task: &Task,
        attributes: &Attributes,
    ) -> Result<program::Policy, RtAppError> {
        let given = |of: fn(&Attributes) -> Option<u32>| {
            let us = of(attributes).or(of(&task.attributes)).filter(|&us| us > 0);
            us.map(|us| u64::from(us) * 1000)
        };
        let runtime_ns = given(|a| a.dl_runtime_us).ok_or_else(|| {
            self.refuse(&format!("{path}.dl-runtime"), "none", "more than 0 us for SCHED_DEADLINE")
        })?;
        let period_ns = given(|a| a.dl_period_us).unwrap_or(runtime_ns);
        let deadline_ns = given(|a| a.dl_deadline_us).unwrap_or(period_ns);
        Ok(program::Policy::Deadline { runtime_ns, deadline_ns, period_ns })
    }

    fn nice_and_slice(
        &mut self,
        t: &mut Thread<'a>,
        path: &str,
        policy: Policy,
        attributes: &Attributes,
    ) -> Result<(), RtAppError> {
        let priority = attributes.priority.unwrap_or(0);
        let nice = i8::try_from(priority).ok().filter(|nice| (-20..=19).contains(nice));
        let nice = nice.ok_or_else(|| {
            self.refuse(
                &format!("{path}.priority"),
                &priority.to_string(),
                "a nice value, -20 to 19",
            )
        })?;
        t.ops.push(Op::SetNice(nice));
        if let Some(us) = attributes.dl_runtime_us.filter(|&us| us > 0 && policy != Policy::Idle) {
            t.ops.push(Op::SetSlice(u64::from(us) * 1000));
        }
        Ok(())
    }

    /// CPUs of a phase: its own, the task's, or `None` for all.
    fn affinity(&self, t: &Thread<'a>, phase: &Phase) -> Result<Option<CpuSet>, RtAppError> {
        let own = phase.attributes.cpus.as_ref();
        let Some(cpus) = own.or(t.task.attributes.cpus.as_ref()) else { return Ok(None) };
        let set: CpuSet = cpus.iter().map(|&cpu| cpu as usize).collect();
        if cpus.is_empty() || !set.is_subset(&self.costs.online) {
            let path = format!("tasks.{}.cpus", t.task.name);
            let found = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(self.refuse(&path, &found, &format!("CPUs of {}", self.costs.online)));
        }
        Ok(Some(set))
    }

    /// `set_thread_uclamp` of rt-app: what is said, by a task or by a phase, holds until something else is.
    fn util_clamps(
        &self,
        t: &mut Thread<'a>,
        path: &str,
        attributes: &Attributes,
    ) -> Result<(), RtAppError> {
        let (min, max) = (attributes.util_min, attributes.util_max);
        if min.is_none() && max.is_none() {
            return Ok(());
        }
        let of_task = &t.task.attributes;
        if let Some((low, high)) = min.or(of_task.util_min).zip(max.or(of_task.util_max))
            && low > high
        {
            let expected = format!("at most util_max, {high}");
            return Err(self.refuse(&format!("{path}.util_min"), &low.to_string(), &expected));
        }
        t.ops.push(Op::SetUtilClamp { min, max });
        Ok(())
    }

    fn not_simulated(&mut self, path: &str, attributes: &Attributes) -> Result<(), RtAppError> {
        let group = attributes.taskgroup.as_deref().is_some_and(|group| group != "/");
        for (feature, key, given) in [
            (Feature::NodesMembind, "nodes_membind", attributes.nodes_membind.is_some()),
            (Feature::Taskgroup, "taskgroup", group),
        ] {
            if given {
                self.leave_out(feature, &format!("{path}.{key}"))?;
            }
        }
        Ok(())
    }
}

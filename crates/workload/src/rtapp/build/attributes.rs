//! Policies, priorities, affinities: what tasks and phases set.

use super::Builder;
use super::thread::Thread;
use crate::program::Op;
use crate::rtapp::RtAppError;
use crate::rtapp::ast::{Attributes, Phase, Policy};
use crate::rtapp::feature::Feature;
use machine::CpuSet;

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
        let feature = match policy {
            Policy::Other => None,
            Policy::Batch => Some(Feature::SchedBatch),
            Policy::Idle => Some(Feature::SchedIdle),
            Policy::RoundRobin => Some(Feature::SchedRr),
            Policy::Fifo => Some(Feature::SchedFifo),
            Policy::Deadline => Some(Feature::SchedDeadline),
        };
        if let Some(feature) = feature {
            let given = attributes.policy.is_some();
            let path =
                if given { format!("{path}.policy") } else { "global.default_policy".to_string() };
            self.leave_out(feature, &path)?;
        }
        if !policy.is_fair() {
            t.ops.push(Op::SetNice(0));
            return Ok(());
        }
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

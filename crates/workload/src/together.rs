//! Several workloads at once in one run, each with its own figures.
//!
//! Every part begins as it does alone. When the measured parts have all ended, the run ends; a shell waits for that, as one with
//! `a & b & wait` does. Until then nobody's load goes away:
//! * where tasks of a part outlive its end, as workers of a service do its window, they go on as they are;
//! * a part whose tasks have all ended, as a build's have, is started again, over and over.
//!
//! Its figures are those of its first time. A part that is not measured has none, and nobody waits for it.

use crate::WorkloadError;
use crate::program::{Metric, Offsets, Op, ProgramId, Queue, QueueId, QueueKind, Spawn, Workload};

const NAME: &str = "together";

/// One of the workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name, which its figures have before theirs: `front: wakeup_p99_us`.
    pub name: String,
    /// Path of the control group in which all of its tasks begin; none for that of their parents.
    pub group: Option<String>,
    /// Whether it has figures, and the run goes on until it has ended.
    pub measured: bool,
    /// What it does alone.
    pub workload: Workload,
}

impl Part {
    /// The name of its figure `name`.
    pub fn figure(&self, name: &str) -> String {
        figure(&self.name, name)
    }
}

/// The name that the figure `name` of the part `part` has.
pub fn figure(part: &str, name: &str) -> String {
    format!("{part}: {name}")
}

/// Puts all tasks of `workload` into the control group `group`.
pub fn in_group(workload: &mut Workload, group: &str) {
    workload.groups = vec![Some(group.to_string()); workload.programs.len()];
}

/// One workload that runs `parts` at once.
///
/// # Errors
/// Parts that have no end of their own, or of which no model can run several: partitions and traces; more than a workload can number;
/// no part that is measured.
pub fn together(parts: &[Part]) -> Result<Workload, WorkloadError> {
    let measured = parts.iter().filter(|part| part.measured).count() as u32;
    if measured == 0 {
        return refuse("measured", "none".to_string(), "at least one part that is measured");
    }
    let mut all = Workload::default();
    let ends = Ends {
        done: all.queue(Queue::unbounded(QueueKind::Futex)),
        never: all.queue(Queue::unbounded(QueueKind::Futex)),
    };
    let ops = vec![Op::Receive(ends.done), Op::Loop { to: 0, times: measured }, Op::Stop];
    let shell = all.program("bash", ops);
    all.spawns.push(Spawn::new(shell));
    all.groups.push(None);
    for part in parts {
        let last = stopping(part)?;
        match outlived(part, last) {
            true => going_on(&mut all, part, last, &ends)?,
            false => again(&mut all, part, last, &ends)?,
        }
    }
    Ok(all)
}

/// Where parts say that they have ended.
struct Ends {
    /// A message for each measured part.
    done: QueueId,
    /// Nobody ever writes to it.
    never: QueueId,
}

impl Ends {
    /// What the end of `part` says.
    fn said(&self, part: &Part) -> Vec<Op> {
        if part.measured { vec![Op::Send(self.done)] } else { vec![] }
    }
}

fn refuse<T>(
    field: &'static str,
    found: String,
    expected: &'static str,
) -> Result<T, WorkloadError> {
    Err(WorkloadError { program: NAME, field, found, expected })
}

fn many(part: &Part, kind: &str) -> WorkloadError {
    WorkloadError {
        program: NAME,
        field: "part",
        found: format!("`{}` with too many {kind}", part.name),
        expected: "at most 65535 of them in all parts",
    }
}

/// Adds `part`, whose tasks go on when it ends: the one that ends it stays as well, asleep.
fn going_on(
    all: &mut Workload,
    part: &Part,
    last: ProgramId,
    ends: &Ends,
) -> Result<(), WorkloadError> {
    let by = copy(all, part, part.measured)?;
    let mut stop = ends.said(part);
    stop.push(Op::Receive(ends.never));
    end_with(all, by.program(last), &stop);
    Ok(())
}

/// Adds `part`, which has no task left when it ends, and begins again. The second time and all later ones have numbers of their own, so
/// that they change no figure.
fn again(
    all: &mut Workload,
    part: &Part,
    last: ProgramId,
    ends: &Ends,
) -> Result<(), WorkloadError> {
    let w = &part.workload;
    let Some(shell) = w.spawns.iter().find(|s| !s.daemon).map(|s| s.program) else { return Ok(()) };
    let mut first = vec![];
    let mut at = None;
    if part.measured {
        let by = copy(all, part, true)?;
        end_with(all, by.program(last), &ends.said(part));
        first = all.programs[by.program(shell).index()].ops.clone();
        at = Some(by.program(shell));
    }
    let (spawns, clients) = (all.spawns.len(), all.clients.len());
    let by = copy(all, part, false)?;
    end_with(all, by.program(last), &[]);
    for &(queue, messages) in &w.left {
        drain(&mut all.programs[by.program(last).index()].ops, by.queue(queue), messages);
    }
    if at.is_some() {
        // The shell of the first time starts these, too.
        all.spawns.truncate(spawns);
        all.clients.truncate(clients);
    }
    let to = first.len() as u16;
    let later = all.programs[by.program(shell).index()].ops.clone();
    if first.len() + later.len() >= usize::from(u16::MAX) {
        return Err(many(part, "steps of one task"));
    }
    first.extend(later.iter().map(|op| op.shifted(to)));
    first.push(Op::Loop { to, times: 0 });
    all.programs[at.unwrap_or(by.program(shell)).index()].ops = first;
    Ok(())
}

/// The program of `part` whose last step ends the run.
fn stopping(part: &Part) -> Result<ProgramId, WorkloadError> {
    let w = &part.workload;
    if w.partitions.is_some() || w.has_kernel_work || w.idle_exit.is_some() {
        let expected = "no partitions and no trace: those are whole machines";
        return refuse("part", format!("`{}`", part.name), expected);
    }
    let stops = |op: &&Op| matches!(op, Op::Stop);
    let mut all = (w.programs.iter().enumerate())
        .filter(|(_, p)| p.ops.iter().any(|op| stops(&op)))
        .map(|(at, p)| (at, p.ops.iter().filter(stops).count(), p.ops.last()));
    match (all.next(), all.next()) {
        (Some((at, 1, Some(Op::Stop))), None) => Ok(ProgramId(at as u16)),
        _ => refuse("part", format!("`{}`", part.name), "a workload with one end of its own"),
    }
}

/// Whether tasks of `part` are there when its program `last` has ended: children that it has not waited for, or tasks that it did not start.
fn outlived(part: &Part, last: ProgramId) -> bool {
    let w = &part.workload;
    let ops = &w.programs[last.index()].ops;
    let position = |is: fn(&Op) -> bool| ops.iter().rposition(is);
    let forked = position(|op| matches!(op, Op::Fork(_) | Op::Clone(_)));
    let waited = position(|op| matches!(op, Op::WaitChildren));
    let has_others = w.spawns.iter().filter(|spawn| !spawn.daemon).count() != 1;
    has_others || forked.is_some() && waited < forked
}

/// Puts `steps` in the place of the program's last one.
fn end_with(all: &mut Workload, program: ProgramId, steps: &[Op]) {
    let ops = &mut all.programs[program.index()].ops;
    ops.pop();
    ops.extend_from_slice(steps);
}

/// Reads the `messages` that are left in `queue`, so that the next time begins as the first.
fn drain(ops: &mut Vec<Op>, queue: QueueId, messages: u32) {
    if messages > 0 {
        let to = ops.len() as u16;
        ops.extend([Op::Receive(queue), Op::Loop { to, times: messages }]);
    }
}

/// Adds what `part` has, by new numbers; with its metrics where they are wanted.
fn copy(all: &mut Workload, part: &Part, metrics: bool) -> Result<Offsets, WorkloadError> {
    let w = &part.workload;
    let by = Offsets::after(all);
    let lengths = [
        ("programs", all.programs.len() + w.programs.len()),
        ("queues", all.queues.len() + w.queues.len()),
        ("barriers", all.barriers.len() + w.barriers.len()),
        ("loops", all.pools.len() + w.pools.len()),
        ("devices", all.devices.len() + w.devices.len()),
        ("histograms", all.histograms.len() + w.histograms.len()),
    ];
    if let Some((kind, _)) = lengths.iter().find(|(_, length)| *length > usize::from(u16::MAX)) {
        return Err(many(part, kind));
    }
    for program in &w.programs {
        all.program(&program.name, program.ops.iter().map(|op| by.op(op)).collect());
        all.groups.push(part.group.clone());
    }
    all.queues.extend(w.queues.iter().map(|queue| by.of_queue(queue)));
    all.barriers.extend_from_slice(&w.barriers);
    all.pools.extend_from_slice(&w.pools);
    all.devices.extend_from_slice(&w.devices);
    all.histograms.extend(w.histograms.iter().map(|h| by.histogram(h)));
    all.spawns.extend(w.spawns.iter().map(|spawn| by.spawn(spawn)));
    all.clients.extend(w.clients.iter().map(|clients| by.clients(clients)));
    let sums = [
        ("mutexes", &mut all.locks, w.locks),
        ("conditions", &mut all.conds, w.conds),
        ("timers", &mut all.timers, w.timers),
        ("flags", &mut all.flags, w.flags),
        ("counters", &mut all.counters, w.counters),
        ("lines", &mut all.lines, w.lines),
        ("marks", &mut all.marks, w.marks),
        ("connections", &mut all.connections, w.connections),
    ];
    for (kind, sum, own) in sums {
        *sum = sum.checked_add(own).ok_or_else(|| many(part, kind))?;
    }
    if metrics {
        let named = |m: &Metric| Metric { name: part.figure(&m.name), ..by.metric(m) };
        all.metrics.extend(w.metrics.iter().map(named));
    }
    Ok(by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Reading, Work};
    use crate::{hackbench, kernbench, no_costs, schbench};

    fn service() -> Workload {
        let params = schbench::Params {
            message_threads: 1,
            workers: 2,
            sleep_us: 0.0,
            work_us: 100.0,
            warmup_s: 0.0,
            seconds: 1.0,
            cpus: None,
        };
        schbench::build(&params, &schbench::Costs { cycles_per_us: 2000.0 }).unwrap()
    }

    fn job() -> Workload {
        let params = kernbench::Params { jobs: 4, objects: 8, objects_run: 8, cpus: None };
        kernbench::build(&params, &no_costs::NoCosts).unwrap()
    }

    fn part(name: &str, measured: bool, workload: Workload) -> Part {
        let group = Some(format!("g/{name}"));
        Part { name: name.to_string(), group, measured, workload }
    }

    fn steps<'a>(w: &'a Workload, name: &str) -> Vec<&'a [Op]> {
        let all = w.programs.iter().filter(|p| p.name == name);
        all.map(|p| p.ops.as_slice()).collect()
    }

    #[test]
    fn figures_have_the_names_and_the_numbers_of_their_part() {
        let parts = [part("front", true, service()), part("farm", true, job())];
        let all = together(&parts).unwrap();
        let names: Vec<&str> = all.metrics.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(
            (names[0], names.last().copied()),
            ("front: wakeup_mean_us", Some("farm: seconds"))
        );
        assert_eq!(names.len(), service().metrics.len() + 1);
        let Reading::Seconds { from, to, .. } = all.metrics.last().unwrap().reading else {
            panic!("{:?}", all.metrics)
        };
        assert_eq!((from.0, to.0), (service().marks, service().marks + 1));
        assert_eq!(all.programs.len(), all.groups.len());
        assert_eq!(all.groups[0], None);
        assert_eq!(all.groups[1].as_deref(), Some("g/front"));
        assert_eq!(all.groups.last().unwrap().as_deref(), Some("g/farm"));
    }

    #[test]
    fn a_shell_waits_for_the_measured_parts_alone() {
        let parts =
            [part("a", true, service()), part("b", false, job()), part("c", true, service())];
        let all = together(&parts).unwrap();
        let done = QueueId(0);
        let waits = [Op::Receive(done), Op::Loop { to: 0, times: 2 }, Op::Stop];
        assert_eq!(all.programs[0].ops, waits);
        let said = all.programs.iter().flat_map(|p| &p.ops).filter(|op| **op == Op::Send(done));
        assert_eq!(said.count(), 2);
        let stops = all.programs.iter().flat_map(|p| &p.ops).filter(|op| **op == Op::Stop);
        assert_eq!(stops.count(), 1);
        assert!(all.metrics.iter().all(|m| !m.name.starts_with("b: ")));
    }

    #[test]
    fn who_ends_a_service_stays_and_its_workers_go_on() {
        let all = together(&[part("a", true, service())]).unwrap();
        let main = steps(&all, "schbench").into_iter().last().unwrap();
        let end = [Op::Send(QueueId(0)), Op::Receive(QueueId(1))];
        assert!(main.ends_with(&end), "{main:?}");
        assert_eq!(all.spawns.len(), 2);
    }

    #[test]
    fn a_job_is_started_again_with_other_numbers() {
        let all = together(&[part("a", true, job())]).unwrap();
        assert_eq!(all.spawns.len(), 2);
        let shells = steps(&all, "bash");
        // The waiting shell, that of both times, and the second one's own, which nobody starts.
        assert_eq!(shells.len(), 3);
        let forks: Vec<u16> = (shells[1].iter())
            .filter_map(|op| if let Op::Fork(p) = op { Some(p.0) } else { None })
            .collect();
        let own = job().programs.len() as u16;
        assert_eq!(forks.len(), 2);
        assert_eq!(forks[1], forks[0] + own);
        assert_eq!(shells[1].last(), Some(&Op::Loop { to: 3, times: 0 }));
        let second = &all.programs[usize::from(forks[1])].ops;
        let tokens = Op::Receive(QueueId(2 + job().queues.len() as u16));
        let to = second.len() as u16 - 2;
        assert!(second.ends_with(&[tokens, Op::Loop { to, times: 4 }]), "{second:?}");
    }

    #[test]
    fn an_unmeasured_job_begins_again_and_again() {
        let all = together(&[part("a", true, service()), part("b", false, job())]).unwrap();
        assert_eq!(all.spawns.len(), 3);
        assert_eq!(steps(&all, "bash").last().unwrap().last(), Some(&Op::Loop { to: 0, times: 0 }));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let none = together(&[part("a", false, service())]).unwrap_err().to_string();
        assert_eq!(
            none,
            "together: measured: found none, expected at least one part that is measured"
        );
        let whole = Workload { has_kernel_work: true, ..service() };
        let trace = together(&[part("a", true, whole)]).unwrap_err().to_string();
        assert!(trace.starts_with("together: part: found `a`, expected no partitions"), "{trace}");
        let mut endless = Workload::default();
        endless.program("p", vec![Op::Compute(Work::fixed(1.0))]);
        let endless = together(&[part("a", true, endless)]).unwrap_err().to_string();
        assert!(endless.ends_with("expected a workload with one end of its own"), "{endless}");
        let params = hackbench::Params {
            groups: 200,
            loops: 1,
            fds: 100,
            datasize: 100,
            pipe: true,
            threads: false,
            cpus: None,
        };
        let costs = hackbench::Costs { user_cycles: 100.0 };
        let large = hackbench::build(&params, &costs).unwrap();
        let large = part("a", true, large);
        let many = together(&[large.clone(), large]).unwrap_err().to_string();
        assert!(many.starts_with("together: part: found `a` with too many"), "{many}");
    }
}

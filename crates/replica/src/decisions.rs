//! Decisions as a library tells them, each with the state that it is made from.
//!
//! A question comes when one of the functions that decide begins. Then queues and tasks are read, which nothing changes meanwhile. The
//! answer comes when the function returns; others may be asked in between.

use crate::ReplicaError;
use crate::abi::Api;
use object::{Object, ObjectSymbol};
use sim::source::{Decision, Question, QueueSeen, QueueState, TaskSeen, TaskState, decision};
use std::cell::UnsafeCell;
use std::collections::BTreeSet;
use std::path::Path;

/// Functions that decide, by the names that releases have for them.
const FUNCTIONS: [(u32, &[&str]); 7] = [
    (decision::CPU, &["select_task_rq_fair"]),
    // EEVDF's choice comes before a delayed task is taken off.
    (decision::TASK, &["pick_eevdf", "pick_next_entity"]),
    (
        decision::PREEMPTION,
        &["wakeup_preempt_fair", "check_preempt_wakeup_fair", "check_preempt_wakeup"],
    ),
    (decision::BALANCES, &["sched_balance_rq", "load_balance"]),
    (decision::TURN, &["should_we_balance"]),
    (decision::GROUP, &["sched_balance_find_src_group", "find_busiest_group"]),
    (decision::QUEUE, &["sched_balance_find_src_rq", "find_busiest_queue"]),
];
/// Tasks of one queue.
const MOST_WAITING: usize = 4096;

static SEEN: Seen = Seen(UnsafeCell::new(None));

/// Who hears of decisions; nobody until they are watched.
struct Seen(UnsafeCell<Option<Collector>>);

// SAFETY: a library is called and calls on one thread, the replica's only one; `take`, `watch`, `asked` and `answered` never run
// inside each other, since reading state asks no question.
unsafe impl Sync for Seen {}

struct Collector {
    api: &'static Api,
    cpus: usize,
    open: Vec<Decision>,
    made: Vec<Decision>,
    /// Room for a queue's tasks: a kernel's stack has none.
    waiting: Vec<i64>,
}

/// Tells the library, which was loaded from `file`, which of its functions decide.
///
/// # Errors
/// A library without probes, and one in which a function is missing.
pub(crate) fn watch(api: &'static Api, file: &Path, cpus: usize) -> Result<(), ReplicaError> {
    let wrong = |reason: String| ReplicaError::Library { file: file.to_owned(), reason };
    let data = std::fs::read(file)?;
    let parsed = object::File::parse(&*data).map_err(|e| wrong(e.to_string()))?;
    let address = |name: &str| {
        parsed.symbols().find(|s| s.name() == Ok(name) && s.is_definition()).map(|s| s.address())
    };
    let api_at = address("sc_api").ok_or_else(|| wrong("found no sc_api, expected one".into()))?;
    let base = (std::ptr::from_ref(api) as u64).wrapping_sub(api_at);
    for (decision, names) in FUNCTIONS {
        let at = names.iter().find_map(|name| address(name)).ok_or_else(|| {
            wrong(format!("found no function {}, expected one", names.join(" or ")))
        })?;
        if (api.watch)(decision, base.wrapping_add(at) as *const _) != 0 {
            return Err(wrong("found no probes, expected CONFIG_SCHEDSCAPE_PROBES".into()));
        }
    }
    // SAFETY: see `Seen`.
    unsafe {
        *SEEN.0.get() = Some(Collector {
            api,
            cpus,
            open: vec![],
            made: vec![],
            waiting: vec![0; MOST_WAITING],
        })
    };
    Ok(())
}

fn collector() -> Option<&'static mut Collector> {
    // SAFETY: see `Seen`; nobody keeps the reference.
    unsafe { (*SEEN.0.get()).as_mut() }
}

/// Moves the decisions since the last time to `to`, which is empty.
pub(crate) fn take(to: &mut Vec<Decision>) {
    if let Some(collector) = collector() {
        std::mem::swap(&mut collector.made, to);
    }
}

pub(crate) extern "C" fn asked(question: *const Question) {
    let Some(collector) = collector() else { return };
    // SAFETY: the library passes a question that lives until this returns.
    let question = unsafe { *question };
    let within = collector.open.last().map(|outer| outer.question.decision);
    let (queues, tasks) = collector.look(&question);
    collector.open.push(Decision { question, within, queues, tasks, answer: 0 });
}

pub(crate) extern "C" fn answered(_: u32, answer: i64) {
    let Some(collector) = collector() else { return };
    if let Some(decision) = collector.open.pop() {
        collector.made.push(Decision { answer, ..decision });
    }
}

impl Collector {
    fn look(&mut self, question: &Question) -> (Vec<QueueSeen>, Vec<TaskSeen>) {
        let queues: Vec<QueueSeen> = (0..self.cpus as u32).map(|cpu| self.queue(cpu)).collect();
        let mut pids: BTreeSet<i64> = [question.task, question.current_task].into();
        for queue in &queues {
            pids.extend([queue.state.current_task, queue.state.current_fair]);
            pids.extend(&queue.waiting);
        }
        pids.remove(&0);
        let tasks = pids.into_iter().map(|pid| self.task(pid)).collect();
        (queues, tasks)
    }

    fn queue(&mut self, cpu: u32) -> QueueSeen {
        let mut state = QueueState::default();
        let most = self.waiting.len() as u32;
        (self.api.queue_state)(cpu, &mut state, self.waiting.as_mut_ptr(), most);
        QueueSeen { state, waiting: self.waiting[..state.waiting as usize].to_vec() }
    }

    fn task(&self, pid: i64) -> TaskSeen {
        let mut state = TaskState::default();
        let mut mask = std::ptr::null();
        (self.api.task_state)(pid, &mut state, &mut mask);
        let words = self.cpus.div_ceil(u64::BITS as usize);
        // SAFETY: the library's masks have room for all CPUs of the machine.
        let mask = unsafe { std::slice::from_raw_parts(mask, words) }.to_vec();
        TaskSeen { pid, state, mask }
    }
}

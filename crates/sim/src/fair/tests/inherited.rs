//! What a child has from its parent.

use crate::class::Class;
use crate::fair::testing::{asleep, machine, scenario, world};
use crate::world::{Task, TaskId};
use workload::ProgramId;

#[test]
fn a_child_remembers_whom_its_parent_woke() {
    let scenario = scenario(&machine("epyc-7742-1s-nps1", 8), "6.12", &[]);
    let (mut w, mut fair) = world(&scenario);
    let parent = asleep(&mut w, &mut fair, 3);
    let entity = &mut fair.entities[parent.index()];
    (entity.wakee_flips, entity.last_wakee, entity.recent_used_cpu) = (7, Some(parent), 5);
    let child = TaskId(w.tasks.len() as u32);
    w.tasks.push(Task::new(ProgramId(0), 3, w.topo.online_set.clone()));
    fair.fork(&mut w, child, Some(parent));
    let entity = &fair.entities[child.index()];
    assert_eq!((entity.wakee_flips, entity.last_wakee), (7, Some(parent)));
    assert_eq!(entity.recent_used_cpu, 3);
}

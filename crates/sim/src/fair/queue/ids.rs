//! What is queued, and where: numbers of entities and of queues.
//!
//! Without groups, an entity is a task and a queue is its CPU's. A group has an entity and a queue on each CPU: its tasks
//! are on the queue, and the entity stands for them on the queue of the group above.

use super::entity::Entity;
use crate::topology::Cpu;
use crate::world::TaskId;
use std::ops::{Index, IndexMut};

/// The bit that tells groups from tasks.
const GROUP: u32 = 1 << 31;

/// A `sched_entity`: a task, or a group on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fair) struct EntityId(u32);

impl EntityId {
    /// The entity of a group on a CPU, by its place among them.
    const fn of_group(at: u32) -> EntityId {
        EntityId(GROUP | at)
    }

    /// The task; none for a group.
    pub(in crate::fair) fn task(self) -> Option<TaskId> {
        (self.0 & GROUP == 0).then_some(TaskId(self.0))
    }

    /// Whether it is a group's.
    pub(in crate::fair) fn is_group(self) -> bool {
        self.0 & GROUP != 0
    }
}

impl From<TaskId> for EntityId {
    fn from(task: TaskId) -> EntityId {
        EntityId(task.0)
    }
}

/// A `cfs_rq`: the queue of a CPU, or that of a group on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fair) struct QueueId(u32);

impl QueueId {
    /// The queue of `cpu` (`rq->cfs`).
    pub(in crate::fair) const fn root(cpu: Cpu) -> QueueId {
        QueueId(cpu as u32)
    }

    /// The queue on `cpu` of the group at place `group`, from 1 on; 0 for the root, of `nr_cpus` CPUs.
    pub(in crate::fair) fn of_group(group: usize, cpu: Cpu, nr_cpus: usize) -> QueueId {
        QueueId((group * nr_cpus) as u32 + u32::from(cpu))
    }

    pub(in crate::fair) fn index(self) -> usize {
        self.0 as usize
    }

    /// The entity that stands for this queue one level up (`tg->se[cpu]`); none for the queue of a CPU, of which there are
    /// `nr_cpus`.
    pub(in crate::fair) fn entity(self, nr_cpus: usize) -> Option<EntityId> {
        self.0.checked_sub(nr_cpus as u32).map(EntityId::of_group)
    }

    /// The queue that `entity` stands for (`group_cfs_rq`); none for a task.
    pub(in crate::fair) fn owned_by(entity: EntityId, nr_cpus: usize) -> Option<QueueId> {
        entity.is_group().then_some(QueueId((entity.0 & !GROUP) + nr_cpus as u32))
    }
}

/// All entities: tasks in the order in which they came, and groups by CPU.
#[derive(Debug, Clone, Default)]
pub(in crate::fair) struct Entities {
    pub(in crate::fair) tasks: Vec<Entity>,
    pub(in crate::fair) groups: Vec<Entity>,
}

/// A task by its number.
impl Index<usize> for Entities {
    type Output = Entity;

    #[inline]
    fn index(&self, task: usize) -> &Entity {
        &self.tasks[task]
    }
}

impl IndexMut<usize> for Entities {
    #[inline]
    fn index_mut(&mut self, task: usize) -> &mut Entity {
        &mut self.tasks[task]
    }
}

impl Index<EntityId> for Entities {
    type Output = Entity;

    #[inline]
    fn index(&self, id: EntityId) -> &Entity {
        match id.is_group() {
            false => &self.tasks[id.0 as usize],
            true => &self.groups[(id.0 & !GROUP) as usize],
        }
    }
}

impl IndexMut<EntityId> for Entities {
    #[inline]
    fn index_mut(&mut self, id: EntityId) -> &mut Entity {
        match id.is_group() {
            false => &mut self.tasks[id.0 as usize],
            true => &mut self.groups[(id.0 & !GROUP) as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_and_the_entities_that_stand_for_them_find_each_other() {
        for (group, cpu) in [(1, 0), (1, 3), (2, 1)] {
            let queue = QueueId::of_group(group, cpu, 4);
            let entity = queue.entity(4).unwrap();
            assert_eq!((entity.task(), QueueId::owned_by(entity, 4)), (None, Some(queue)));
        }
        assert_eq!(QueueId::of_group(0, 3, 4), QueueId::root(3));
        assert_eq!(
            (QueueId::root(3).entity(4), EntityId::from(TaskId(7)).task()),
            (None, Some(TaskId(7)))
        );
        assert_eq!(QueueId::owned_by(TaskId(7).into(), 4), None);
    }
}

//! Devices: requests are served while the tasks that made them sleep.
//!
//! A device serves groups of requests, as many groups at a time as it has slots. A request joins the group opened last,
//! if that has not begun and has room. If not, it opens a group on the slot that is free first and draws its service
//! time. So `submit` knows at once when the request will be done. `wait_for_device` then takes the task to its next
//! step, counts it as waiting for I/O if the step says so, sets its alarm and puts it to sleep.
//!
//! A device has no event of its own: the task's slot holds the time of its interrupt, and `tasks` wakes the task on the
//! CPU where it went to sleep. Idle CPUs do not foresee that interrupt, as they do a timer's.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::trace::Trace;
use crate::world::{State, TaskId};
use workload::{Device, DeviceId, Spread};

/// One device. As requests are served in the order they come, when one will be done is known when it is made.
#[derive(Debug)]
pub(super) struct DeviceState {
    /// By slot: when it is done with what it has.
    free_ns: Vec<u64>,
    /// Requests that a group takes at most.
    together: u32,
    /// The group that was begun last: its requests, its time.
    members: u32,
    begins_ns: u64,
    ends_ns: u64,
}

impl DeviceState {
    pub(super) fn new(device: &Device) -> DeviceState {
        DeviceState {
            free_ns: vec![0; usize::from(device.slots)],
            together: device.together,
            members: 0,
            begins_ns: 0,
            ends_ns: 0,
        }
    }

    /// When a request made at `now_ns` is done, and whether it opens a group; `service_ns` is asked if it does.
    fn request(&mut self, now_ns: u64, service_ns: impl FnOnce() -> u64) -> (u64, bool) {
        let open = self.begins_ns > now_ns && self.members < self.together;
        if !open {
            self.members = 0;
            self.begins_ns = now_ns;
            if let Some(free_ns) = self.free_ns.iter_mut().min() {
                self.begins_ns = now_ns.max(*free_ns);
                self.ends_ns = self.begins_ns + service_ns();
                *free_ns = self.ends_ns;
            }
        }
        self.members += 1;
        (self.ends_ns, !open)
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Hands a request of `task` to a device; when it will be done.
    pub(super) fn submit(
        &mut self,
        task: TaskId,
        id: DeviceId,
        service_ns: f64,
        spread: Spread,
    ) -> u64 {
        let work = &mut self.draws.work;
        let service_ns = || work.draw(service_ns, spread).max(1.0) as u64;
        let (done_ns, first) = self.shared.devices[id.index()].request(self.w.now_ns, service_ns);
        self.w.tasks[task.index()].first_of_group = first;
        done_ns
    }

    /// The running `task` sleeps until its request is done.
    pub(super) fn wait_for_device(&mut self, task: TaskId, done_ns: u64, iowait: bool) -> Step {
        self.next_op(task);
        let t = &mut self.w.tasks[task.index()];
        t.in_iowait = iowait;
        self.w.cpus[t.cpu as usize].nr_iowait += u32::from(iowait);
        self.set_alarm(task, done_ns);
        self.block(task, State::Sleeping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(slots: u16, together: u32, at_ns: &[u64]) -> Vec<u64> {
        let mut device = DeviceState::new(&Device { slots, together });
        at_ns.iter().map(|&now_ns| device.request(now_ns, || 100).0).collect()
    }

    #[test]
    fn requests_wait_for_a_slot_in_order() {
        assert_eq!(ends(1, 1, &[0, 10, 300]), [100, 200, 400]);
        assert_eq!(ends(2, 1, &[0, 10, 20, 30, 300]), [100, 110, 200, 210, 400]);
    }

    #[test]
    fn who_opens_a_group_is_told_so() {
        let mut device = DeviceState::new(&Device { slots: 1, together: 2 });
        let first = [0, 10, 20, 30, 40].map(|now_ns| device.request(now_ns, || 100).1);
        assert_eq!(first, [true, true, false, true, false]);
    }

    #[test]
    fn who_comes_while_the_device_is_busy_is_served_by_the_next_group() {
        assert_eq!(ends(1, 9, &[0, 10, 20, 110, 120]), [100, 200, 200, 300, 300]);
        assert_eq!(ends(1, 2, &[0, 10, 20, 30, 40]), [100, 200, 200, 300, 300]);
    }
}

//! Users on other machines: think, send a request, wait for the reply.
//!
//! A user is an event slot and a CPU that takes its interrupts, drawn at the start from those of its group. Its event
//! is the arrival of a request (`request_arrives`): the CPU does the network's work if it is running, a message with
//! the user's number goes into the group's queue, and the CPU goes on with what is due. The task that reads the message
//! works for that user until it replies (`reply`). The response time is then recorded, from arrival to reply, and the
//! user's next request is set for when a drawn time to think is over.
//!
//! In an open loop the next request is set when one arrives, and the response time is that of the request that the replying task works on,
//! as several of a user's may be under way.
//!
//! Users who think count as active, those who wait do not: tasks have to answer them. A reply without a request is
//! misuse and ends the run (`progress`) in a closed loop. Messages and the waking of readers are left to `queues`, and `hotplug` moves
//! interrupts off a CPU that goes offline.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::rng::{Purpose, Stream};
use crate::setup::Setup;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, TaskId};
use workload::Clients;

/// One user.
#[derive(Debug, Clone, Copy)]
pub(super) struct User {
    /// Index of its group.
    pub(super) group: u16,
    /// CPU that takes its interrupts.
    pub(super) irq_cpu: Cpu,
    /// When its request arrived.
    since_ns: u64,
    /// Requests so far.
    sent: u32,
    waits: bool,
}

/// All users; each has an event slot behind those of the CPUs.
#[derive(Debug)]
pub(super) struct Users {
    pub(super) list: Vec<User>,
    think: Stream,
}

impl Users {
    pub(super) fn new(setup: &Setup, seed: u64) -> Users {
        let mut think = Stream::new(seed, Purpose::Clients);
        let mut list = Vec::new();
        for (group, clients) in setup.workload.clients.iter().enumerate() {
            let cpus = &clients.irq_cpus & &setup.topo.online_set;
            for _ in 0..clients.count {
                let nth = think.below(cpus.len() as u64) as usize;
                let irq_cpu = cpus.iter().nth(nth).unwrap_or(0) as Cpu;
                list.push(User {
                    group: group as u16,
                    irq_cpu,
                    since_ns: 0,
                    sent: 0,
                    waits: false,
                });
            }
        }
        Users { list, think }
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// All users start to think.
    pub(super) fn boot_users(&mut self) {
        for user in 0..self.users.list.len() {
            let group = self.users.list[user].group;
            let clients = &self.setup.workload.clients[group as usize];
            let at_ns = clients.first_ns + self.users.think.below(clients.within_ns + 1);
            self.progress.active += 1;
            self.timeline.events.set(self.timeline.slots.user(user as u32), at_ns);
        }
    }

    /// A request arrives: an interrupt and the network's work on the user's CPU.
    pub(super) fn request_arrives(&mut self, user: u32) {
        let now_ns = self.w.now_ns;
        let u = &mut self.users.list[user as usize];
        (u.since_ns, u.waits) = (now_ns, true);
        u.sent += 1;
        let (cpu, group, number) = (u.irq_cpu, u.group, u.sent);
        let clients = &self.setup.workload.clients[group as usize];
        if clients.open {
            self.think(user, clients);
        } else {
            self.progress.active -= 1;
        }
        self.here = cpu;
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.settle(cpu);
            self.w.charge_kernel(cpu, self.w.hw.kernel.packet);
        }
        self.arrive(cpu, clients.requests, Some(user), number);
        self.cpu_event(cpu);
    }

    /// The next request of `user` comes when it has thought.
    fn think(&mut self, user: u32, clients: &Clients) {
        let think_ns = self.users.think.draw(clients.think_ns, clients.spread).max(1.0) as u64;
        self.timeline.events.set(self.timeline.slots.user(user), self.w.now_ns + think_ns);
    }

    /// The reply of the running `task` leaves: its user thinks again.
    pub(super) fn reply(&mut self, task: TaskId) -> Step {
        let user = self.w.tasks[task.index()].client.take();
        let Some(user) = user.filter(|&u| self.users.list[u as usize].waits) else {
            return self
                .misuse(task, "found a reply without a request, expected one for each request");
        };
        let u = &mut self.users.list[user as usize];
        let clients = &self.setup.workload.clients[u.group as usize];
        if clients.open {
            self.record(
                clients.responses,
                self.w.now_ns - self.w.tasks[task.index()].origin.began_ns,
            );
            return self.next_op(task);
        }
        u.waits = false;
        let response_ns = self.w.now_ns - u.since_ns;
        self.record(clients.responses, response_ns);
        self.think(user, clients);
        self.progress.active += 1;
        self.next_op(task)
    }
}

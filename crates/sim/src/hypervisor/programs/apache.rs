//! `ab` and Apache in one partition: a client keeps so many requests in flight, workers answer them.

use super::path::Extra;
use super::{Memory, PathRun, Stop};
use crate::hypervisor::core::At;
use crate::hypervisor::partition::{PartitionState, Request};
use cache::{Kind, Sampling, Walk};
use workload::kvm::ApacheBench;

/// Where the connections and the page lie; the same for all vcpus of a partition.
#[derive(Debug, Clone, Copy)]
struct Shared {
    connections: u64,
    connection_lines: u64,
    page: Walk,
    sampling: Sampling,
}

impl Shared {
    fn new(p: &ApacheBench, partition: &PartitionState, memory: &Memory<'_>) -> Shared {
        let connection_lines = memory.costs.lines(p.connection_kib);
        let connections = partition.data;
        let page = connections + u64::from(p.connections) * connection_lines;
        let page = Walk::new(page, memory.costs.lines(p.page_kib), memory.sampling);
        Shared { connections, connection_lines, page, sampling: memory.sampling }
    }

    fn connection(&self, number: u32) -> Option<Extra> {
        let first = self.connections + u64::from(number) * self.connection_lines;
        let walk = Walk::new(first, self.connection_lines, self.sampling);
        Some(Extra { walk, kind: Kind::Write })
    }

    fn page(&self) -> Option<Extra> {
        Some(Extra { walk: self.page, kind: Kind::Read })
    }
}

/// The client.
#[derive(Debug)]
pub(crate) struct Client {
    path: PathRun,
    shared: Shared,
    /// Connections that have not been opened yet.
    unopened: u32,
    /// The connection that it works on, with the time of the request that was answered.
    works: Option<(u32, Option<f64>)>,
}

impl Client {
    pub(super) fn new(
        p: &ApacheBench,
        partition: &PartitionState,
        memory: &mut Memory<'_>,
    ) -> Client {
        let code = memory.region(memory.costs.lines(p.client.code_kib));
        let path = PathRun::new(&p.client, code, memory);
        let shared = Shared::new(p, partition, memory);
        Client { path, shared, unopened: p.connections, works: None }
    }

    pub(super) fn run(
        &mut self,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        while at.thread.now_ns < until_ns {
            let Some((connection, sent_ns)) = self.works else {
                // It opens all connections before it looks at an answer.
                if self.unopened > 0 {
                    self.unopened -= 1;
                    self.works = Some((self.unopened, None));
                } else if let Some(answered) = partition.answers.pop_front() {
                    self.works = Some((answered.connection, Some(answered.sent_ns)));
                } else {
                    return Stop::Cede(f64::INFINITY);
                }
                let number = self.works.map_or(0, |w| w.0);
                self.path.begin([self.shared.connection(number), None]);
                continue;
            };
            if self.path.run(at, until_ns) {
                let now_ns = at.thread.now_ns;
                if let Some(sent_ns) = sent_ns {
                    partition.note_response(now_ns, now_ns - sent_ns);
                }
                partition.requests.push_back(Request { connection, sent_ns: now_ns });
                partition.kick_idle_worker();
                self.works = None;
            }
        }
        Stop::Time
    }
}

/// A worker.
#[derive(Debug)]
pub(crate) struct Worker {
    path: PathRun,
    shared: Shared,
    works: Option<Request>,
}

impl Worker {
    pub(super) fn new(
        p: &ApacheBench,
        partition: &PartitionState,
        memory: &mut Memory<'_>,
    ) -> Worker {
        let path = PathRun::new(&p.request, partition.code, memory);
        Worker { path, shared: Shared::new(p, partition, memory), works: None }
    }

    pub(super) fn run(
        &mut self,
        vcpu: u32,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        while at.thread.now_ns < until_ns {
            let Some(request) = self.works else {
                let Some(request) = partition.requests.pop_front() else {
                    partition.idle_workers.push(vcpu);
                    return Stop::Cede(f64::INFINITY);
                };
                self.works = Some(request);
                self.path.begin([self.shared.connection(request.connection), self.shared.page()]);
                continue;
            };
            if self.path.run(at, until_ns) {
                partition.answers.push_back(request);
                partition.kicks.push(0);
                self.works = None;
            }
        }
        Stop::Time
    }
}

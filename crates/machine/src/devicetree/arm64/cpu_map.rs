//! `cpu-map`: sockets, clusters, cores and threads (Devicetree binding `cpu/cpu-topology.txt`), as Linux's
//! `parse_dt_topology` (6.12) reads it.

use super::cpus::CpuNode;
use crate::devicetree::node::Node;
use crate::error::{Fault, MachineError};
use std::collections::HashMap;

/// Clusters inside one another that are read; real trees have two.
const MAX_DEPTH: usize = 16;

/// Linux's ids of a CPU's package, cluster and core. Cores of one machine with equal ids are one core to Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) package: u32,
    pub(super) cluster: Option<u32>,
    pub(super) core: u32,
}

/// What the map says.
pub(super) struct Map {
    /// Place of each CPU that the map names.
    pub(super) places: Vec<Option<Place>>,
    pub(super) unknown: Vec<String>,
}

/// Reads the node `map`. Sockets are packages, and without any the whole map is one. Clusters are numbered inside
/// their parent, cores inside their cluster; only the clusters that hold cores count.
pub(super) fn read<'t>(
    map: Node<'t>,
    cpus: &[CpuNode<'t>],
    phandles: &HashMap<u32, Node<'t>>,
) -> Result<Map, MachineError> {
    let numbers = cpus.iter().enumerate().map(|(cpu, c)| (c.node.index(), cpu)).collect();
    let places = vec![None; cpus.len()];
    let mut walk = Walk { numbers, phandles, places, leaves: HashMap::new(), merged: None };
    let sockets = numbered(map, "socket");
    if sockets.is_empty() {
        walk.clusters(map, Place { package: 0, cluster: None, core: 0 }, 0)?;
    }
    for (package, socket) in (0..).zip(sockets) {
        walk.clusters(socket, Place { package, cluster: None, core: 0 }, 0)?;
    }
    Ok(Map { places: walk.places, unknown: walk.merged.into_iter().collect() })
}

/// Children `STEM0`, `STEM1` … of `node`, as far as the numbers go without a gap.
fn numbered<'t>(node: Node<'t>, stem: &str) -> Vec<Node<'t>> {
    let mut named: HashMap<&str, Node<'t>> = HashMap::new();
    for child in node.children() {
        named.entry(child.base_name()).or_insert(child);
    }
    (0..named.len()).map_while(|i| named.get(format!("{stem}{i}").as_str()).copied()).collect()
}

struct Walk<'t, 'p> {
    /// CPU number of each CPU node.
    numbers: HashMap<usize, usize>,
    phandles: &'p HashMap<u32, Node<'t>>,
    places: Vec<Option<Place>>,
    /// The first cluster with cores of each package and cluster id.
    leaves: HashMap<(u32, Option<u32>), Node<'t>>,
    /// Says which clusters have the same ids.
    merged: Option<String>,
}

impl<'t> Walk<'t, '_> {
    /// Reads `node`, which is a socket or the whole map at depth 0, else a cluster.
    fn clusters(&mut self, node: Node<'t>, at: Place, depth: usize) -> Result<(), MachineError> {
        let clusters = numbered(node, "cluster");
        if depth == MAX_DEPTH && !clusters.is_empty() {
            let expected = format!("at most {MAX_DEPTH} clusters inside one another");
            return Err(node.error("one more cluster in it", &expected));
        }
        for (id, &cluster) in (0..).zip(&clusters) {
            self.clusters(cluster, Place { cluster: Some(id), ..at }, depth + 1)?;
        }
        let cores = numbered(node, "core");
        match cores.first() {
            Some(core) if depth == 0 => {
                return Err(core.error("a core outside of clusters", "a core in a cluster"));
            }
            Some(core) if !clusters.is_empty() => {
                return Err(core.error("a core beside clusters", "cores in the innermost clusters"));
            }
            Some(_) => self.remember(node, at),
            None => {}
        }
        for (id, core) in (0..).zip(cores) {
            self.core(core, Place { core: id, ..at })?;
        }
        Ok(())
    }

    /// Notes a cluster with cores, and whether another one has its ids.
    fn remember(&mut self, node: Node<'t>, at: Place) {
        let earlier = *self.leaves.entry((at.package, at.cluster)).or_insert(node);
        if earlier.index() != node.index() && self.merged.is_none() {
            self.merged = Some(format!(
                "Clusters in clusters: Linux numbers a cluster inside its parent only, so {} and {} (and others so) \
                 count as one cluster and their cores of one number as threads of one core.",
                earlier.path(),
                node.path()
            ));
        }
    }

    fn core(&mut self, core: Node<'t>, at: Place) -> Result<(), MachineError> {
        let threads = numbered(core, "thread");
        if threads.is_empty() {
            return self.cpu(core, at);
        }
        if core.has("cpu") {
            return Err(core.error("both threads and a CPU", "one of them"));
        }
        threads.into_iter().try_for_each(|thread| self.cpu(thread, at))
    }

    /// Puts the CPU that `node` names at `at`; a CPU that is left out is passed over.
    fn cpu(&mut self, node: Node<'t>, at: Place) -> Result<(), MachineError> {
        let wrong = |found: String, expected: &str| {
            Err(node.property_error("cpu", Fault::new(found, expected)))
        };
        let Some(phandle) = node.cell("cpu")? else {
            return Err(node.error("no cpu", "the phandle of a CPU"));
        };
        let Some(target) = self.phandles.get(&phandle) else {
            return wrong(format!("phandle {phandle:#x}"), "the phandle of a CPU");
        };
        let Some(&cpu) = self.numbers.get(&target.index()) else { return Ok(()) };
        match self.places.get_mut(cpu) {
            Some(place @ None) => {
                *place = Some(at);
                Ok(())
            }
            _ => wrong(format!("CPU {cpu} ({}) again", target.path()), "each CPU once"),
        }
    }
}

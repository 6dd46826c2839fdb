//! Machines: regular ones by counts, and those of the catalog.

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// One of the catalog, with so many CPUs.
    Catalog(&'static str, u32),
    /// Packages of dies or clusters, these of cores, these of threads.
    Regular {
        /// Packages.
        packages: u32,
        /// Clusters of a package; 1 for a machine without.
        clusters: u32,
        /// Cores of a cluster.
        cores: u32,
        /// Threads of a core, 1 or 2; 1 with clusters.
        threads: u32,
        /// Dies of a package, each with a last-level cache of its own; 1 with clusters.
        dies: u32,
        /// Distance of the packages, each a NUMA node then; 0 for one node.
        distance: u32,
    },
}

/// Machines of the catalog that are small enough for many runs.
pub(crate) const CATALOG: [Shape; 5] = [
    Shape::Catalog("power9-big-core", 16),
    Shape::Catalog("kunpeng920-1node", 24),
    Shape::Catalog("kunpeng920-2node", 48),
    Shape::Catalog("power10-8core", 64),
    Shape::Catalog("epyc-7742-1s-nps4", 128),
];

impl Shape {
    /// Its CPUs.
    pub fn cpus(&self) -> u32 {
        match *self {
            Shape::Catalog(_, cpus) => cpus,
            Shape::Regular { packages, clusters, cores, threads, dies, .. } => {
                packages * dies * clusters * cores * threads
            }
        }
    }

    /// As an experiment names it.
    pub fn machine(&self) -> String {
        let Shape::Regular { packages, clusters, cores, threads, dies, distance } = *self else {
            let Shape::Catalog(name, _) = *self else { unreachable!() };
            return name.to_string();
        };
        let (cpus, of_package) = (self.cpus(), self.cpus() / packages);
        let mut text = match clusters {
            1 => format!(
                "qemu:-M q35 -cpu EPYC-Rome -smp {cpus},sockets={packages},dies={dies},cores={cores},threads={threads}"
            ),
            _ => format!(
                "qemu:-M virt,smp-cache.0.cache=l3,smp-cache.0.topology=socket \
                 -smp {cpus},sockets={packages},clusters={clusters},cores={cores},threads={threads}"
            ),
        };
        if distance > 0 && packages > 1 {
            text += " -m 4G";
            for node in 0..packages {
                let (first, last) = (node * of_package, (node + 1) * of_package - 1);
                text += &format!(" -numa node,nodeid={node},cpus={first}-{last}");
            }
            for (a, b) in (0..packages).flat_map(|a| (a + 1..packages).map(move |b| (a, b))) {
                text += &format!(" -numa dist,src={a},dst={b},val={distance}");
            }
        }
        text
    }

    /// The machine of the catalog whose constants hold.
    pub fn constants(&self) -> Option<&'static str> {
        match *self {
            Shape::Catalog(..) => None,
            Shape::Regular { clusters: 1, .. } => Some("epyc-7742-2s-nps4"),
            Shape::Regular { .. } => Some("kunpeng920-4node"),
        }
    }

    /// Simpler machines, the simplest first.
    pub(crate) fn simpler(&self) -> Vec<Shape> {
        let Shape::Regular { packages, clusters, cores, threads, dies, distance } = *self else {
            return REGULAR.to_vec();
        };
        let of = |packages, dies, clusters, cores, threads, distance| Shape::Regular {
            packages,
            dies,
            clusters,
            cores,
            threads,
            // The constants of a machine with clusters have none for two last-level caches in a node.
            distance: match packages {
                1 => 0,
                _ if clusters > 1 && distance == 0 => 20,
                _ => distance,
            },
        };
        let (p, d, c, n, t) = (packages, dies, clusters, cores, threads);
        let mut all = vec![
            of(1, 1, 1, 1, 1, 0),
            of(1, 1, 1, 2, 1, 0),
            of(1, d, c, n, t, 0),
            of(p, 1, c, n, t, distance),
            of(p, d, 1, n, t, distance),
            of(p, d, c, 1, t, distance),
            of(p, d, c, n / 2, t, distance),
            of(p, d, c, n, 1, distance),
            of(p, d, c, n, t, 0),
            of(p - 1, d, c, n, t, distance),
            of(p, d - 1, c, n, t, distance),
            of(p, d, c - 1, n, t, distance),
            of(p, d, c, n - 1, t, distance),
        ];
        all.retain(|shape| shape != self && (1..=self.cpus()).contains(&shape.cpus()));
        all
    }
}

/// What may stand for a machine of the catalog.
const REGULAR: [Shape; 4] =
    [small(1, 1, 2, 1), small(1, 1, 2, 2), small(1, 1, 4, 2), small(2, 2, 2, 1)];

const fn small(packages: u32, clusters: u32, cores: u32, threads: u32) -> Shape {
    let distance = if packages > 1 { 20 } else { 0 };
    Shape::Regular { packages, clusters, cores, threads, dies: 1, distance }
}

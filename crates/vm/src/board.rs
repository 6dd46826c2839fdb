//! QEMU's arguments for a machine, and what a guest with them cannot show of it.
//!
//! What QEMU makes of the arguments is read back (`machine::qemu`), so that what is lost is found by comparing two
//! machines and not by rules of its own.

use crate::VmError;
use crate::firmware::TreeEdits;
use machine::CpuSet;
use machine::model::{Arch, CacheKind, Machine, Origin, ThreadGroupProperty};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Memory of a guest in MiB: room for the kernel, what is unpacked, and a little for each CPU.
const MEMORY_MIB: usize = 1024;
/// Memory that POWER's firmware takes for itself, in MiB.
const OPAL_MIB: usize = 1024;
/// What the counters of arm's timers run at in a guest with a slower clock, in Hz: low enough for a factor of several hundred, and
/// a tick is below 10 ns of such a guest's.
const COUNTER_HZ: u32 = 5_000_000;
/// CPUs that x86 kernels reach without remapped interrupts.
const XAPIC_CPUS: usize = 254;
/// Memory for each CPU beyond the first 32, in MiB.
const CPU_MIB: usize = 16;

/// A machine as QEMU has it.
#[derive(Debug, Clone)]
pub struct Board {
    /// Arguments for CPUs, caches, nodes and memory.
    pub arguments: Vec<String>,
    /// Words that the kernel's command line needs.
    pub append: &'static str,
    /// `ibm,thread-groups` of each core by the number of its first thread: what QEMU's device tree lacks.
    pub thread_groups: BTreeMap<u32, Vec<u32>>,
    /// The frequency in Hz that the device tree gives arm's timers, if not their own.
    pub timer_hz: Option<u32>,
    /// The machine with its CPUs in QEMU's order: packages, dies, clusters, cores, threads.
    pub machine: Machine,
    /// The machine's number of each of the guest's CPUs.
    pub order: Vec<usize>,
}

/// The number that a guest's kernel gives a CPU, which need not be the machine's ([`Board::order`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GuestCpu(pub u32);

impl fmt::Display for GuestCpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many units of a kind each unit of the next larger kind has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    packages: usize,
    dies: usize,
    clusters: usize,
    cores: usize,
    threads: usize,
}

impl Board {
    /// The arguments for `machine`, all of whose CPUs are there; without what the firmware says of thread groups and
    /// clusters where it is to be `plain`.
    ///
    /// # Errors
    /// A machine whose packages, dies, clusters or cores differ in size: QEMU's are all alike.
    pub fn of(machine: &Machine, plain: bool) -> Result<Board, VmError> {
        let order = order(machine);
        let mut machine = match machine.reordered(&order) {
            Some(reordered) => reordered,
            None => return Err(VmError::NoBoard { machine: machine.name.clone() }),
        };
        if plain {
            machine.thread_groups.clear();
            machine.cpus.iter_mut().for_each(|cpu| cpu.cluster = None);
        }
        let shape = Shape::of(&machine)?;
        let (mut arguments, append) = match machine.arch {
            Arch::X86 => (x86(&machine, shape), ""),
            // The PPTT tells clusters; without the word the kernel takes the device tree.
            Arch::Arm64 => (arm64(shape), "acpi=force"),
            Arch::Powerpc => (powerpc(&machine, shape)?, ""),
            Arch::Other => return Err(VmError::NoBoard { machine: machine.name.clone() }),
        };
        memory(&machine, &mut arguments);
        let thread_groups = thread_groups(&machine);
        Ok(Board { arguments, append, thread_groups, timer_hz: None, machine, order })
    }

    /// The board with a clock that is slower than this computer's by the factor `by`: while a guest's second passes, `by` pass
    /// here. A device tree instead of ACPI tells its kernel that the timers' counters run `by` times as fast as they do.
    ///
    /// # Errors
    /// A machine whose kernel takes the frequency of its timers from nobody, and a factor beyond what the property holds.
    pub fn slowed(self, by: u32) -> Result<Board, VmError> {
        if by == 1 {
            return Ok(self);
        }
        let hz = COUNTER_HZ.checked_mul(by).filter(|_| self.machine.arch == Arch::Arm64 && by > 0);
        let Some(hz) = hz else {
            let most = if self.machine.arch == Arch::Arm64 { u32::MAX / COUNTER_HZ } else { 1 };
            return Err(VmError::Clock { machine: self.machine.name, found: by, most });
        };
        let mut arguments: Vec<String> = Vec::new();
        let mut all = self.arguments.into_iter();
        while let Some(argument) = all.next() {
            match argument.as_str() {
                // Firmware would bring ACPI, which has no such property.
                "-bios" => drop(all.next()),
                "-cpu" => {
                    let model = all.next().unwrap_or_default();
                    arguments.extend([argument, format!("{model},cntfrq={COUNTER_HZ}")]);
                }
                _ => arguments.push(argument),
            }
        }
        Ok(Board { arguments, append: "", timer_hz: Some(hz), ..self })
    }

    /// What the machine's device tree has besides what QEMU writes.
    pub fn edits(&self) -> TreeEdits<'_> {
        TreeEdits { thread_groups: &self.thread_groups, timer_hz: self.timer_hz }
    }

    /// The guest's CPUs, each with the machine's number.
    pub fn cpus(&self) -> impl DoubleEndedIterator<Item = (GuestCpu, usize)> + '_ {
        self.order.iter().enumerate().map(|(guest, &cpu)| (GuestCpu(guest as u32), cpu))
    }

    /// The guest's number of the machine's `cpu`.
    pub fn guest_cpu(&self, cpu: usize) -> Option<GuestCpu> {
        self.cpus().find(|&(_, of)| of == cpu).map(|(guest, _)| guest)
    }

    /// The architecture of its guests.
    pub fn arch(&self) -> crate::Arch {
        match self.machine.arch {
            Arch::X86 => crate::Arch::X86,
            Arch::Arm64 => crate::Arch::Arm64,
            Arch::Powerpc | Arch::Other => crate::Arch::Powerpc,
        }
    }

    /// Whether it is POWER without a hypervisor (`powernv`).
    pub(crate) fn is_bare_metal(&self) -> bool {
        self.arguments.iter().any(|a| a.starts_with("powernv"))
    }

    /// The arguments as one string, as [`machine::qemu`] reads them.
    pub fn spec(&self) -> String {
        self.arguments.join(" ")
    }
}

impl Shape {
    fn of(machine: &Machine) -> Result<Shape, VmError> {
        let l3 = |c: usize| cache_cpus(machine, 3, c);
        let package = |c: usize| machine.package_cpus(c);
        // A last-level cache that is smaller than its package is what QEMU can make of a die.
        let die = |c: usize| match l3(c) {
            Some(cpus) if machine.arch == Arch::X86 && cpus != package(c) => cpus,
            _ => machine.die_cpus(c),
        };
        let cluster = |c: usize| machine.cluster_cpus(c).unwrap_or(die(c));
        let core = |c: usize| machine.core_cpus(c);
        let thread = |c: usize| CpuSet::first_n(c + 1) - CpuSet::first_n(c);
        let whole = |_: usize| machine.possible();
        Ok(Shape {
            packages: inside(machine, "packages", whole, package)?,
            dies: inside(machine, "dies of a package", package, die)?,
            clusters: inside(machine, "clusters of a die", die, cluster)?,
            cores: inside(machine, "cores of a cluster", cluster, core)?,
            threads: inside(machine, "threads of a core", core, thread)?,
        })
    }

    fn cpus(&self) -> usize {
        self.packages * self.dies * self.clusters * self.cores * self.threads
    }

    /// `-smp` with the units that the machine type knows.
    fn smp(&self, units: &[(&str, usize)]) -> [String; 2] {
        let counts = units.iter().map(|(unit, n)| format!(",{unit}={n}")).collect::<String>();
        ["-smp".to_owned(), format!("{}{counts}", self.cpus())]
    }
}

/// CPUs in the order in which QEMU numbers them.
fn order(machine: &Machine) -> Vec<usize> {
    let first = |set: CpuSet| set.first();
    let mut order: Vec<usize> = (0..machine.cpus.len()).collect();
    order.sort_by_key(|&cpu| {
        let l3 = cache_cpus(machine, 3, cpu).and_then(first);
        (
            first(machine.package_cpus(cpu)),
            first(machine.die_cpus(cpu)),
            l3,
            machine.cluster_cpus(cpu).and_then(first),
            first(machine.core_cpus(cpu)),
            machine.cpus[cpu].thread,
        )
    });
    order
}

/// How many units each larger unit has, the same for all.
fn inside(
    machine: &Machine,
    what: &str,
    larger: impl Fn(usize) -> CpuSet,
    unit: impl Fn(usize) -> CpuSet,
) -> Result<usize, VmError> {
    let mut counts = BTreeSet::new();
    for cpu in machine.possible().iter() {
        let units: BTreeSet<Option<usize>> = larger(cpu).iter().map(|c| unit(c).first()).collect();
        counts.insert(units.len());
    }
    match counts.iter().copied().collect::<Vec<_>>()[..] {
        [n] => Ok(n),
        _ => Err(VmError::Irregular {
            machine: machine.name.clone(),
            found: format!(
                "{} {what}",
                counts.iter().map(usize::to_string).collect::<Vec<_>>().join(" and ")
            ),
        }),
    }
}

/// The CPUs that share `cpu`'s cache for data of a level, as its kernel sees it.
pub(crate) fn cache_cpus(machine: &Machine, level: u8, cpu: usize) -> Option<CpuSet> {
    let fits = |c: &&machine::model::Cache| {
        c.level == level
            && c.kind != CacheKind::Instruction
            && c.origin == Origin::Firmware
            && c.cpus.contains(cpu)
    };
    machine.caches.iter().find(fits).map(|c| c.cpus.clone())
}

fn strings<const N: usize>(arguments: [&str; N]) -> Vec<String> {
    arguments.map(str::to_owned).to_vec()
}

/// `q35`: last-level caches by die where a package has several, level-2 caches by module where clusters are known.
fn x86(machine: &Machine, shape: Shape) -> Vec<String> {
    let mut board = "q35".to_owned();
    let mut units = vec![("sockets", shape.packages)];
    if shape.dies > 1 {
        board.push_str(",smp-cache.0.cache=l3,smp-cache.0.topology=die");
        units.push(("dies", shape.dies));
    }
    if shape.clusters > 1 {
        let next = usize::from(shape.dies > 1);
        board.push_str(&format!(",smp-cache.{next}.cache=l2,smp-cache.{next}.topology=module"));
        units.push(("modules", shape.clusters));
    }
    units.extend([("cores", shape.cores), ("threads", shape.threads)]);
    // QEMU's models of AMD tell caches by die to no guest.
    let cpu = match (machine.vendor.as_deref(), shape.clusters > 1, shape.dies > 1) {
        (_, true, _) => "SierraForest",
        (Some("AuthenticAMD"), false, false) => "EPYC-Rome-v4",
        (_, false, _) => "SapphireRapids-v3",
    };
    let mut arguments = strings(["-M", &board, "-cpu", cpu]);
    arguments.extend(shape.smp(&units));
    if shape.cpus() > XAPIC_CPUS {
        arguments.extend(strings(["-device", "intel-iommu,intremap=on,eim=on"]));
    }
    arguments
}

/// `virt` with ACPI, whose PPTT tells clusters.
fn arm64(shape: Shape) -> Vec<String> {
    let mut arguments =
        strings(["-M", "virt,gic-version=3", "-cpu", "cortex-a72", "-bios", "QEMU_EFI.fd"]);
    let mut units = vec![("sockets", shape.packages)];
    match shape.dies * shape.clusters {
        1 => {}
        clusters => units.push(("clusters", clusters)),
    }
    units.extend([("cores", shape.cores), ("threads", shape.threads)]);
    arguments.extend(shape.smp(&units));
    arguments
}

/// `powernv` of the generation that has such cores.
fn powerpc(machine: &Machine, shape: Shape) -> Result<Vec<String>, VmError> {
    let name = machine.name.as_str();
    let generation = ["10", "9", "8"].into_iter().find(|n| name.contains(&format!("power{n}")));
    let board = match (generation, shape.threads) {
        (Some("8"), _) | (None, 1 | 2) => "powernv8",
        (Some("9") | None, 8) => "powernv9,big-core=on",
        (Some("9") | None, _) => "powernv9",
        (Some(_), 8) => "powernv10,big-core=on",
        (Some(_), _) => "powernv10",
    };
    let cores = shape.dies * shape.clusters * shape.cores;
    let mut arguments = strings(["-M", board]);
    let units = [("sockets", shape.packages), ("cores", cores), ("threads", shape.threads)];
    arguments.extend(shape.smp(&units));
    Ok(arguments)
}

/// Memory, by node where there are several and the board has nodes of its own choice.
fn memory(machine: &Machine, arguments: &mut Vec<String>) {
    let cpus = machine.cpus.len();
    let firmware = if machine.arch == Arch::Powerpc { OPAL_MIB } else { 0 };
    let mib = MEMORY_MIB + firmware + CPU_MIB * cpus.saturating_sub(32);
    let with_cpus: Vec<_> = machine.nodes.iter().filter(|n| !n.cpus.is_empty()).collect();
    let several = with_cpus.len() > 1 && machine.arch != Arch::Powerpc;
    let each = mib.div_ceil(with_cpus.len().max(1));
    let total = if several { each * with_cpus.len() } else { mib };
    arguments.extend(["-m".to_owned(), total.to_string()]);
    if !several {
        return;
    }
    for (id, node) in with_cpus.iter().enumerate() {
        let cpus = node
            .cpus
            .to_string()
            .split(',')
            .map(|part| format!(",cpus={part}"))
            .collect::<String>();
        let object = format!("memory-backend-ram,id=m{id},size={each}M");
        let numa = format!("node,nodeid={id},memdev=m{id}{cpus}");
        arguments.extend(["-object".to_owned(), object, "-numa".to_owned(), numa]);
    }
    for (src, a) in with_cpus.iter().enumerate() {
        for (dst, b) in with_cpus.iter().enumerate().skip(src + 1) {
            let value = a.distances.get(b.id as usize).copied().unwrap_or(20);
            arguments.extend(["-numa".to_owned(), format!("dist,src={src},dst={dst},val={value}")]);
        }
    }
}

/// `ibm,thread-groups` as the property has it: for each kind its number, groups, threads of each, and these.
fn thread_groups(machine: &Machine) -> BTreeMap<u32, Vec<u32>> {
    let mut by_core = BTreeMap::new();
    for groups in &machine.thread_groups {
        let property = match groups.property {
            ThreadGroupProperty::L1 => 1,
            ThreadGroupProperty::L2 => 2,
            ThreadGroupProperty::Other(number) => number,
        };
        let each = groups.groups.iter().map(CpuSet::len).max().unwrap_or(0) as u32;
        let hw = |cpu: usize| machine.cpus.get(cpu).map(|c| c.hw_id);
        let first = groups.groups.iter().flat_map(CpuSet::iter).filter_map(hw).min();
        let Some(first) = first else { continue };
        let cells: &mut Vec<u32> = by_core.entry(first).or_default();
        cells.extend([property, groups.groups.len() as u32, each]);
        cells.extend(groups.groups.iter().flat_map(CpuSet::iter).filter_map(hw));
    }
    by_core
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str) -> Board {
        Board::of(&machine::catalog::load(name).unwrap(), false).unwrap()
    }

    #[test]
    fn arguments_of_the_catalogs_machines() {
        let spec = board("power9-big-core").spec();
        assert_eq!(spec, "-M powernv9,big-core=on -smp 16,sockets=1,cores=2,threads=8 -m 2048");
        let spec = board("kunpeng920-1node").spec();
        assert!(spec.contains("-smp 24,sockets=1,clusters=6,cores=4,threads=1"), "{spec}");
    }

    #[test]
    fn a_slower_clock_comes_by_device_tree() {
        let slow = board("kunpeng920-1node").slowed(48).unwrap();
        assert_eq!((slow.timer_hz, slow.append), (Some(240_000_000), ""));
        let spec = slow.spec();
        assert!(spec.contains("-cpu cortex-a72,cntfrq=5000000 -smp 24,"), "{spec}");
        assert!(!spec.contains("EFI"), "{spec}");
        let same = board("power9-big-core").slowed(1).unwrap();
        assert_eq!(same.spec(), board("power9-big-core").spec());
        for (machine, by, most) in [("kunpeng920-1node", 859, 858), ("epyc-7742-1s-nps1", 2, 1)] {
            let error = board(machine).slowed(by).unwrap_err().to_string();
            assert!(error.contains(&format!("found {by}, expected at most {most}")), "{error}");
        }
    }

    /// As `ibm,thread-groups` of real firmware: property 1, two groups of four.
    #[test]
    fn thread_groups_of_big_cores() {
        let groups = board("power9-big-core").thread_groups;
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[&0], [1, 2, 4, 0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(groups[&8], [1, 2, 4, 8, 10, 12, 14, 9, 11, 13, 15]);
    }

    /// What QEMU makes of the arguments has the same sets of CPUs, where the machine numbers them as QEMU does.
    #[test]
    fn what_is_read_back_is_the_machine() {
        for spec in [
            "-M q35,smp-cache.0.cache=l3,smp-cache.0.topology=die -cpu EPYC-Rome-v4 -smp 32,sockets=2,dies=2,cores=4,threads=2 -m 1024",
            "-M q35 -cpu EPYC-Rome-v4 -smp 16,sockets=2,cores=4,threads=2 -m 1024 -object memory-backend-ram,id=m0,size=512M -numa node,nodeid=0,memdev=m0,cpus=0-7 -object memory-backend-ram,id=m1,size=512M -numa node,nodeid=1,memdev=m1,cpus=8-15 -numa dist,src=0,dst=1,val=20",
            "-M virt,gic-version=3 -cpu cortex-a72 -smp 24,sockets=1,clusters=6,cores=4,threads=1 -m 1024 -bios QEMU_EFI.fd",
        ] {
            let given = machine::qemu::read(spec).unwrap();
            let again = machine::qemu::read(&Board::of(&given, false).unwrap().spec()).unwrap();
            for cpu in 0..given.cpus.len() {
                assert_eq!(again.package_cpus(cpu), given.package_cpus(cpu), "{spec}: {cpu}");
                assert_eq!(again.core_cpus(cpu), given.core_cpus(cpu), "{spec}: {cpu}");
                assert_eq!(again.cluster_cpus(cpu), given.cluster_cpus(cpu), "{spec}: {cpu}");
                assert_eq!(again.node_cpus(cpu), given.node_cpus(cpu), "{spec}: {cpu}");
                assert_eq!(cache_cpus(&again, 3, cpu), cache_cpus(&given, 3, cpu), "{spec}: {cpu}");
            }
        }
    }
}

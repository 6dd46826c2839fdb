//! Machine types: architecture, which units `-smp` may count, and how caches are shared (`smp-cache`).

use super::OptionFault;
use super::options::{Item, Options, switch};
use super::smp::Smp;
use crate::error::Fault;
use crate::layout::{Counts, Span};
use crate::model::{Arch, CacheKind, Firmware};

/// Kinds of machine types that differ in their rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `pc` and `q35`.
    Pc,
    /// `virt` of arm64.
    Virt,
    /// `pseries`.
    Pseries,
    /// `powernv8`, `powernv9`, `powernv10`.
    Powernv {
        /// 8, 9 or 10.
        generation: u32,
        /// Whether cores have 8 threads.
        big_core: bool,
    },
}

impl Kind {
    pub(super) fn arch(self) -> Arch {
        match self {
            Kind::Pc => Arch::X86,
            Kind::Virt => Arch::Arm64,
            Kind::Pseries | Kind::Powernv { .. } => Arch::Powerpc,
        }
    }
}

/// A machine type with its options.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) kind: Kind,
    /// Whether omitted counts fall to sockets before cores, as before version 6.2.
    pub(super) prefers_sockets: bool,
    pub(super) kvm: bool,
    acpi: bool,
    /// `smp-cache`: cache and topology by index.
    smp_cache: Vec<(String, Option<String>, Option<String>)>,
}

/// Options of machine types that leave the topology alone.
const HARMLESS: &[&str] = &[
    "confidential-guest-support",
    "default-bus-bypass-iommu",
    "dtb-randomness",
    "dump-guest-core",
    "gic-version",
    "graphics",
    "highmem",
    "hmat",
    "hpet",
    "iommu",
    "ic-mode",
    "its",
    "kernel-irqchip",
    "mem-merge",
    "memory-backend",
    "mte",
    "nvdimm",
    "pcspk-audiodev",
    "pflash0",
    "pflash1",
    "pic",
    "pit",
    "ras",
    "sata",
    "secure",
    "smbus",
    "smm",
    "suppress-vmdesc",
    "usb",
    "virtualization",
    "vmport",
    "x-oem-id",
    "x-oem-table-id",
];

pub(super) fn read(options: &Options) -> Result<Board, OptionFault> {
    let mut kind = None;
    let mut board = Board {
        kind: Kind::Pc,
        prefers_sockets: false,
        kvm: accelerated(&options.accel)?,
        acpi: true,
        smp_cache: Vec::new(),
    };
    let mut big_core = None;
    for item in &options.machine {
        match (item.key.as_str(), &item.value) {
            ("type", Some(name)) => kind = Some(named(name)?),
            (name, None) => kind = Some(named(name)?),
            ("accel", Some(value)) => board.kvm = accelerated(std::slice::from_ref(value))?,
            ("acpi", Some(_)) => board.acpi = switch("-machine", item)?,
            ("big-core", Some(_)) => big_core = Some(switch("-machine", item)?),
            (key, Some(_)) if key.starts_with("smp-cache.") => board.set_cache(item)?,
            (key, Some(_)) if HARMLESS.contains(&key) => {}
            (key, Some(_)) => {
                let expected = "an option that is read or known to leave the topology alone";
                return Err((format!("-machine {key}"), Fault::new("an unknown option", expected)));
            }
        }
    }
    let Some((kind, prefers_sockets)) = kind else {
        return Err(("-machine".to_string(), Fault::new("no machine type", KINDS)));
    };
    board.kind = with_big_core(kind, big_core)?;
    board.prefers_sockets = prefers_sockets;
    Ok(board)
}

const KINDS: &str =
    "pc, q35, virt, pseries, powernv8, powernv9 or powernv10, with or without version";

/// The machine type called `name`, and whether it is older than 6.2.
fn named(name: &str) -> Result<(Kind, bool), OptionFault> {
    let fault = || ("-machine".to_string(), Fault::new(format!("`{name}`"), KINDS));
    let powernv = |generation| Kind::Powernv { generation, big_core: false };
    let exact = match name {
        "pc" | "q35" => Some(Kind::Pc),
        "virt" => Some(Kind::Virt),
        "pseries" => Some(Kind::Pseries),
        "powernv8" => Some(powernv(8)),
        "powernv9" => Some(powernv(9)),
        "powernv" | "powernv10" => Some(powernv(10)),
        _ => None,
    };
    if let Some(kind) = exact {
        return Ok((kind, false));
    }
    let (kind, version) = [
        ("pc-q35-", Kind::Pc),
        ("pc-i440fx-", Kind::Pc),
        ("virt-", Kind::Virt),
        ("pseries-", Kind::Pseries),
    ]
    .into_iter()
    .find_map(|(prefix, kind)| Some((kind, name.strip_prefix(prefix)?)))
    .ok_or_else(fault)?;
    let (major, minor) = version.split_once('.').ok_or_else(fault)?;
    let version: (u32, u32) =
        (major.parse().map_err(|_| fault())?, minor.parse().map_err(|_| fault())?);
    Ok((kind, version < (6, 2)))
}

fn with_big_core(kind: Kind, big_core: Option<bool>) -> Result<Kind, OptionFault> {
    match (kind, big_core) {
        (kind, None) => Ok(kind),
        (Kind::Powernv { generation: generation @ (9 | 10), .. }, Some(big_core)) => {
            Ok(Kind::Powernv { generation, big_core })
        }
        (_, Some(_)) => Err((
            "-machine big-core".to_string(),
            Fault::new("a machine type without it", "powernv9 or powernv10"),
        )),
    }
}

/// Whether the first accelerator of a list is KVM.
fn accelerated(accel: &[String]) -> Result<bool, OptionFault> {
    let Some(first) = accel.first() else { return Ok(false) };
    let name = first.split_once([',', ':']).map_or(first.as_str(), |(name, _)| name);
    match name {
        "kvm" => Ok(true),
        "tcg" => Ok(false),
        other => Err(("-accel".to_string(), Fault::new(format!("`{other}`"), "tcg or kvm"))),
    }
}

impl Board {
    /// What the guest's kernel boots from. On arm64 QEMU's own loader hands over a device tree only.
    pub(super) fn firmware(&self, options: &Options) -> Firmware {
        match self.kind {
            Kind::Pc => Firmware::Acpi,
            Kind::Virt if self.acpi && options.firmware => Firmware::Acpi,
            Kind::Virt | Kind::Pseries | Kind::Powernv { .. } => Firmware::DeviceTree,
        }
    }

    /// Refuses more threads a core than the CPUs of a POWER board have.
    pub(super) fn check_threads(&self, counts: &Counts) -> Result<(), OptionFault> {
        let most = match self.kind {
            Kind::Pc | Kind::Virt => return Ok(()),
            Kind::Pseries | Kind::Powernv { generation: 8, .. } => 8,
            Kind::Powernv { big_core: true, .. } => 8,
            Kind::Powernv { .. } => 4,
        };
        match counts.threads <= most && counts.threads.is_power_of_two() {
            true => Ok(()),
            false => Err((
                "-smp threads".to_string(),
                Fault::new(counts.threads.to_string(), format!("1, 2, 4 … up to {most}")),
            )),
        }
    }

    /// Keeps `smp-cache.N.cache=` and `smp-cache.N.topology=`.
    fn set_cache(&mut self, item: &Item) -> Result<(), OptionFault> {
        let place = format!("-machine {}", item.key);
        let parts: Vec<&str> = item.key.split('.').collect();
        let [_, index, field @ ("cache" | "topology")] = parts[..] else {
            let expected = "smp-cache.N.cache or smp-cache.N.topology";
            return Err((place, Fault::new("an unknown option", expected)));
        };
        let at = match self.smp_cache.iter().position(|(i, _, _)| i == index) {
            Some(at) => at,
            None => {
                self.smp_cache.push((index.to_string(), None, None));
                self.smp_cache.len() - 1
            }
        };
        if let Some((_, cache, topology)) = self.smp_cache.get_mut(at) {
            let slot = if field == "cache" { cache } else { topology };
            slot.clone_from(&item.value);
        }
        Ok(())
    }
}

/// How caches of a level and kind are shared because `smp-cache` says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SharedLevel {
    pub(super) level: u8,
    pub(super) kind: CacheKind,
    pub(super) span: Span,
    /// CPUs of one such unit.
    pub(super) width: u32,
}

/// What `smp-cache` asks for. QEMU wants units that the machine type has, and no cache shared more narrowly than
/// one of a lower level.
pub(super) fn shared_levels(board: &Board, smp: &Smp) -> Result<Vec<SharedLevel>, OptionFault> {
    let fault = |index: &str, field: &str, found: String, expected: &str| {
        (format!("-machine smp-cache.{index}.{field}"), Fault::new(found, expected))
    };
    if let (Some((index, _, _)), false) =
        (board.smp_cache.first(), matches!(board.kind, Kind::Pc | Kind::Virt))
    {
        let found = "a machine type without it".to_string();
        return Err(fault(index, "cache", found, "pc, q35 or virt"));
    }
    let mut levels: Vec<SharedLevel> = Vec::new();
    for (index, cache, topology) in &board.smp_cache {
        let (level, kind) = match cache.as_deref() {
            Some("l1d") => (1, CacheKind::Data),
            Some("l1i") => (1, CacheKind::Instruction),
            Some("l2") => (2, CacheKind::Unified),
            Some("l3") => (3, CacheKind::Unified),
            other => {
                let found = format!("`{}`", other.unwrap_or("nothing"));
                return Err(fault(index, "cache", found, "l1d, l1i, l2 or l3"));
            }
        };
        let counts = &smp.counts;
        let cores = match (topology.as_deref(), board.kind) {
            (Some("default"), _) => continue,
            (Some("thread"), _) => 0,
            (Some("core"), _) => 1,
            (Some("module"), Kind::Pc) => counts.cores,
            (Some("cluster"), Kind::Virt) => counts.cluster_cores(),
            (Some("die"), Kind::Pc) => counts.die_cores(),
            (Some("socket"), _) => counts.package_cores(),
            (other, _) => {
                let found = format!("`{}`", other.unwrap_or("nothing"));
                let expected = "a unit that the machine type has: thread, core, module or die (x86), cluster \
                                (arm64), socket";
                return Err(fault(index, "topology", found, expected));
            }
        };
        let (span, width) = match cores {
            0 => (Span::Thread, 1),
            cores => (Span::Cores(cores), cores * counts.threads),
        };
        if levels.iter().any(|l| (l.level, l.kind) == (level, kind)) {
            return Err(fault(index, "cache", format!("a second level {level}"), "each once"));
        }
        levels.push(SharedLevel { level, kind, span, width });
    }
    levels.sort_by_key(|l| (l.level, l.kind));
    let narrower = |l: &&SharedLevel| levels.iter().any(|o| o.level < l.level && o.width > l.width);
    if let Some(level) = levels.iter().find(narrower) {
        let found = format!("level {} shared by {} CPUs", level.level, level.width);
        let expected = "no fewer CPUs than those that share a lower level";
        return Err(("-machine smp-cache".to_string(), Fault::new(found, expected)));
    }
    Ok(levels)
}

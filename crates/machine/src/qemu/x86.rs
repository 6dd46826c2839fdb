//! x86 CPU models: whose they are, and what CPUID tells Linux of caches and dies.

use super::OptionFault;
use super::board::SharedLevel;
use super::options::{items, switch};
use crate::error::Fault;
use crate::layout::{CacheShape, Counts, Span};
use crate::model::{CacheKind, Origin};

/// Sizes in KiB and ways of the first-level data, first-level instruction, second and third-level caches.
type Sizes = [(u32, u32); 4];

const LEGACY_INTEL: Sizes = [(32, 8), (32, 8), (4096, 16), (16384, 16)];
const LEGACY_AMD: Sizes = [(64, 2), (64, 2), (512, 16), (16384, 16)];

/// AMD's models by name, the longest names first, with the caches that a model brings along.
const AMD: &[(&str, Option<Sizes>)] = &[
    ("EPYC-Turin", Some([(48, 12), (32, 8), (1024, 16), (32768, 16)])),
    ("EPYC-Genoa", Some([(32, 8), (32, 8), (1024, 8), (32768, 16)])),
    ("EPYC-Milan", Some([(32, 8), (32, 8), (512, 8), (32768, 16)])),
    ("EPYC-Rome", Some([(32, 8), (32, 8), (512, 8), (16384, 16)])),
    ("EPYC", Some([(32, 8), (64, 4), (512, 8), (8192, 16)])),
    ("Opteron_G1", None),
    ("Opteron_G2", None),
    ("Opteron_G3", None),
    ("Opteron_G4", None),
    ("Opteron_G5", None),
    ("phenom", None),
    ("qemu64", None),
];

const INTEL: &[&str] = &[
    "Broadwell",
    "Cascadelake-Server",
    "ClearwaterForest",
    "Conroe",
    "Cooperlake",
    "Denverton",
    "GraniteRapids",
    "Haswell",
    "Icelake-Server",
    "IvyBridge",
    "KnightsMill",
    "Nehalem",
    "Penryn",
    "SandyBridge",
    "SapphireRapids",
    "SierraForest",
    "Skylake-Client",
    "Skylake-Server",
    "Snowridge",
    "Westmere",
    "core2duo",
    "kvm64",
];

/// Models that bring caches of their own along from this version on.
const INTEL_WITH_CACHES: &[(&str, u32)] =
    &[("GraniteRapids", 3), ("SapphireRapids", 4), ("SierraForest", 3), ("ClearwaterForest", 1)];

/// A CPU model with its options.
#[derive(Debug)]
pub(super) struct Cpu {
    is_amd: bool,
    is_naples: bool,
    /// Whether CPUID tells which threads share which cache (TOPOEXT); always so on Intel.
    tells_sharing: bool,
    has_l3: bool,
    /// `None` where the model's own caches are not known here.
    sizes: Option<Sizes>,
}

/// Options of CPU models that would change caches or ids in ways that depend on more than the command line.
const REFUSED: &[&str] =
    &["apic-id", "cpuid-0xb", "host-cache-info", "level", "vendor", "x-force-cpuid-0x1f"];

pub(super) fn read(text: Option<&str>, kvm: bool) -> Result<Cpu, OptionFault> {
    let items = items(text.unwrap_or("qemu64"));
    let (model, features) = match items.split_first() {
        Some((model, features)) if model.value.is_none() => (model.key.as_str(), features),
        _ => return Err(("-cpu".to_string(), Fault::new("no model", "one"))),
    };
    let mut cpu = named(model, kvm)?;
    for item in features {
        let name = item.key.trim_start_matches(['+', '-']);
        let on = match item.key.chars().next() {
            Some('-') => false,
            Some('+') => true,
            _ if REFUSED.contains(&name) => {
                let expected = "none of the options that make ids or caches depend on the host";
                return Err((format!("-cpu {name}"), Fault::new("a value", expected)));
            }
            _ if is_number(item.value.as_deref())
                || name == "model-id"
                || name == "hv-vendor-id" =>
            {
                continue;
            }
            _ => switch("-cpu", item)?,
        };
        match name {
            "l3-cache" => cpu.has_l3 = on,
            "topoext" if cpu.is_amd => cpu.tells_sharing = on && kvm,
            "legacy-cache" => {
                let legacy = if cpu.is_amd { LEGACY_AMD } else { LEGACY_INTEL };
                cpu.sizes = if on { Some(legacy) } else { cpu.sizes };
            }
            _ => {}
        }
    }
    Ok(cpu)
}

/// Whether an option's value is a number, such as `family=6`, which no cache depends on.
fn is_number(value: Option<&str>) -> bool {
    value.is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
}

/// The model called `name`, with or without `-vN` and suffixes such as `-IBRS` or `-noTSX`.
fn named(name: &str, kvm: bool) -> Result<Cpu, OptionFault> {
    let is = |model: &str| {
        name.strip_prefix(model).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some((model, sizes)) = AMD.iter().find(|(model, _)| is(model)) {
        let is_epyc = model.starts_with("EPYC");
        return Ok(Cpu {
            is_amd: true,
            is_naples: *model == "EPYC",
            // TCG has no TOPOEXT.
            tells_sharing: is_epyc && kvm,
            has_l3: true,
            sizes: Some(sizes.unwrap_or(LEGACY_AMD)),
        });
    }
    if !INTEL.iter().any(|model| is(model)) {
        let amd: Vec<&str> = AMD.iter().map(|(model, _)| *model).collect();
        let expected = format!("a named model: {}, {}", amd.join(", "), INTEL.join(", "));
        return Err(("-cpu".to_string(), Fault::new(format!("`{name}`"), expected)));
    }
    let version = name.rsplit_once("-v").and_then(|(_, v)| v.parse::<u32>().ok()).unwrap_or(1);
    let own = INTEL_WITH_CACHES.iter().any(|(model, since)| is(model) && version >= *since);
    Ok(Cpu {
        is_amd: false,
        is_naples: false,
        tells_sharing: true,
        has_l3: true,
        sizes: (!own).then_some(LEGACY_INTEL),
    })
}

const NAPLES_L3: &str = "Third-level cache: with this CPU model Linux gives each to eight APIC ids, which fall \
                         unevenly to these cores.";

impl Cpu {
    pub(super) fn vendor(&self) -> &'static str {
        if self.is_amd { "AuthenticAMD" } else { "GenuineIntel" }
    }

    /// Whether Linux tells dies apart: from CPUID leaf 0x1f, which it does not read on AMD.
    pub(super) fn shows_dies(&self) -> bool {
        !self.is_amd
    }

    /// Caches as Linux shows them, and the cores of what it calls a cluster: those that share an L2, by Intel's
    /// leaf 4. On AMD it has no clusters.
    ///
    /// Without TOPOEXT, Linux takes an AMD model's inner caches for a thread's own and the L3 for the package's;
    /// that of the first EPYC model belongs to eight APIC ids in any case (`cacheinfo.c`).
    pub(super) fn caches(
        &self,
        counts: &Counts,
        levels: &[SharedLevel],
        unknown: &mut Vec<String>,
    ) -> (Vec<CacheShape>, Option<u32>) {
        if self.sizes.is_none() {
            unknown.push(
                "Cache sizes: this version of the CPU model has caches of its own.".to_string(),
            );
        }
        let asked = |level: u8, kind: CacheKind| {
            levels.iter().find(|l| (l.level, l.kind) == (level, kind)).map(|l| l.span)
        };
        let kinds = [
            (1, CacheKind::Data),
            (1, CacheKind::Instruction),
            (2, CacheKind::Unified),
            (3, CacheKind::Unified),
        ];
        let mut caches = Vec::new();
        for (i, (level, kind)) in kinds.into_iter().enumerate() {
            if level == 3 && !self.has_l3 {
                continue;
            }
            let default = if level == 3 { Span::Cores(counts.die_cores()) } else { Span::Core };
            let shared_by = match (self.tells_sharing, level) {
                (_, 3) if self.is_naples => {
                    let Some(span) = eight_apic_ids(counts) else {
                        unknown.push(NAPLES_L3.to_string());
                        continue;
                    };
                    span
                }
                (true, _) => asked(level, kind).unwrap_or(default),
                (false, 3) => Span::Package,
                (false, _) => Span::Thread,
            };
            let sizes = self.sizes.and_then(|sizes| sizes.get(i).copied());
            caches.push(CacheShape {
                level,
                kind,
                size_kib: sizes.map(|(kib, _)| kib),
                line_bytes: Some(64),
                ways: sizes.map(|(_, ways)| ways),
                shared_by,
                origin: Origin::Firmware,
            });
        }
        let cluster = match asked(2, CacheKind::Unified) {
            _ if self.is_amd => None,
            Some(Span::Cores(cores)) => Some(cores),
            _ => Some(1),
        };
        (caches, cluster)
    }
}

/// Runs of cores whose APIC ids agree but for the last three bits; `None` where they are of unequal size or span
/// packages.
fn eight_apic_ids(counts: &Counts) -> Option<Span> {
    let cores = match counts.threads.next_power_of_two() {
        1 => 8,
        2 => 4,
        4 => 2,
        _ => return Some(Span::Core),
    };
    let all = counts.package_cores();
    match (counts.cores.is_multiple_of(cores), counts.packages) {
        (true, _) => Some(Span::Cores(cores)),
        (false, 1) if all == counts.cores && all < cores => Some(Span::Package),
        _ => None,
    }
}

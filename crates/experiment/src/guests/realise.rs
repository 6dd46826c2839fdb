//! Variants on real kernels: which kernel, which firmware, which switches.
//!
//! A variant asks for a release and mechanisms. A stock kernel has its release's, and three ways to have others: its
//! features in debugfs, firmware that lacks thread groups or clusters, and CPUs that are offline. What none of them gives
//! is refused by name. Whether firmware gives what a mechanism asks for is not guessed: the domains that are predicted
//! for the guest must be those that are predicted for the machine under the variant.

use definition::file::VariantEntry;
use definition::{DefinitionError, Plan};
use kernel::{Domains, Kernel, KernelError, MECHANISMS, MechanismId, Version};
use machine::{CpuSet, Machine};
use setting::Group;
use vm::board::{Board, GuestCpu};
use vm::sched_ext::Scheduler;
use vm::{Arch, Cache, KernelImage, VmError};

/// Why guests cannot have a variant.
#[derive(Debug, thiserror::Error)]
pub enum RealiseError {
    /// No such board, or no such kernel.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// Domains that cannot be built.
    #[error(transparent)]
    Domains(#[from] KernelError),
    /// An SMT mode that the machine does not have.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// A governor.
    #[error("frequency: found a governor, expected none: guests have no cpufreq")]
    Frequency,
    /// A kernel tree that no kernel was built from.
    #[error("source: found no kernel, expected one that is built from it")]
    Source,
    /// Something that only the simulator sets.
    #[error("{field}: found settings, expected none: they are not made in guests")]
    OnlySimulated {
        /// The variant's field.
        field: &'static str,
    },
    /// A scheduler on a kernel that cannot load one.
    #[error(
        "scheduler: found {release} without {lacks}, expected a kernel with the class sched_ext, as Debian's of 7.2 and later are"
    )]
    NoSchedExt {
        /// The kernel's release.
        release: String,
        /// What its configuration lacks.
        lacks: String,
    },
    /// A scheduler that nobody built.
    #[error("scheduler: found none that is ready for guests, expected one")]
    NoScheduler,
    /// Settings of the prefetch engine.
    #[error("prefetch: found settings, expected none: guests have no prefetch engine")]
    Prefetch,
    /// Another tick than the kernel is built with.
    #[error("hz: found {found}, expected {built}, as {release} is built")]
    Hz {
        /// The variant's.
        found: u32,
        /// The kernel's.
        built: u32,
        /// The kernel's release.
        release: String,
    },
    /// A mechanism that the kernel has no switch for.
    #[error(
        "mechanism {mechanism}: found {found}, expected what {version} has: no feature switches it"
    )]
    NoSwitch {
        /// The mechanism.
        mechanism: &'static str,
        /// `on` or `off`.
        found: &'static str,
        /// The kernel's release.
        version: Version,
    },
    /// Mechanisms whose domains firmware does not bring about.
    #[error(
        "mechanisms: found {found}, expected domains that {version} builds with or without thread groups and clusters in firmware"
    )]
    Firmware {
        /// The mechanisms, each with `on` or `off`.
        found: String,
        /// The kernel's release.
        version: Version,
    },
}

/// What guests of a variant boot; variants with the same can share a boot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Boot {
    /// The kernel.
    pub kernel: KernelImage,
    /// Whether firmware leaves thread groups and clusters away.
    pub plain: bool,
    /// Words for the kernel's command line.
    pub append: String,
}

/// A variant on a real kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Realised {
    /// What boots.
    pub boot: Boot,
    /// Features to switch, as the kernel's file takes them.
    pub features: Vec<String>,
    /// The guest's CPUs that are offline, in the order in which they go.
    pub offline: Vec<GuestCpu>,
    /// The sched_ext scheduler that is loaded before each run.
    pub scheduler: Option<Scheduler>,
    /// CPUs that are switched during a run: seconds from its start, the CPU, whether it comes online.
    pub hotplug: Vec<(f64, GuestCpu, bool)>,
    /// Control groups, those above first; CPUs are the guest's.
    pub groups: Vec<Group>,
    /// Whether NUMA balancing is on, where that is said.
    pub numa_balancing: Option<bool>,
}

/// Mechanisms that the kernel switches itself, by its own names.
const FEATURES: [(MechanismId, &str); 17] = [
    (MechanismId::StartDebit, "START_DEBIT"),
    (MechanismId::GentleFairSleepers, "GENTLE_FAIR_SLEEPERS"),
    (MechanismId::LastBuddy, "LAST_BUDDY"),
    (MechanismId::CacheHotBuddy, "CACHE_HOT_BUDDY"),
    (MechanismId::WakeupPreemption, "WAKEUP_PREEMPTION"),
    (MechanismId::PlaceLag, "PLACE_LAG"),
    (MechanismId::PlaceDeadlineInitial, "PLACE_DEADLINE_INITIAL"),
    (MechanismId::RunToParity, "RUN_TO_PARITY"),
    (MechanismId::PlaceRelDeadline, "PLACE_REL_DEADLINE"),
    (MechanismId::PreemptShort, "PREEMPT_SHORT"),
    (MechanismId::DelayDequeue, "DELAY_DEQUEUE"),
    (MechanismId::DelayZero, "DELAY_ZERO"),
    (MechanismId::UtilEst, "UTIL_EST"),
    (MechanismId::WaIdle, "WA_IDLE"),
    (MechanismId::WaWeight, "WA_WEIGHT"),
    (MechanismId::WaBias, "WA_BIAS"),
    (MechanismId::SisUtil, "SIS_UTIL"),
];

impl Realised {
    /// Variant `at` of `plan` on its `own` kernel, built from its source or given, or on one of `cache`: of the variant's release, or of
    /// `release` where one is given; with its `scheduler`, where it has one. A mechanism in which the experiment's variants differ is taken from the variant even then, any
    /// other one from the kernel.
    ///
    /// # Errors
    /// Why guests cannot have it.
    pub fn of(
        plan: &Plan,
        at: usize,
        cache: &Cache,
        release: Option<Version>,
        own: Option<&KernelImage>,
        scheduler: Option<&Scheduler>,
    ) -> Result<Realised, RealiseError> {
        let variant = &plan.file.variants[at];
        let board = Board::of(&plan.machine, false)?;
        let image = kernel_of(variant, board.arch(), cache, release, own)?;
        let stock = image.model()?;
        refuse_what_guests_lack(variant, &image)?;
        if variant.scheduler.is_some() && scheduler.is_none() {
            return Err(RealiseError::NoScheduler);
        }
        let other_release = match own {
            Some(_) => variant.source.is_none(),
            None => release.is_some(),
        };
        let (model, mut features) = switches(plan, at, &stock, other_release)?;
        features.extend(variant.features.iter().map(|(name, &on)| switched(name, on)));
        let plain = firmware(plan, &board, &stock, &model)?;
        let append = format!("{} {}", board.append, variant.command_line()).trim().to_string();
        let online = plan.machine_of(at)?.online;
        let offline = plan.machine.possible() - online;
        // The last CPUs go first.
        let offline = board.cpus().rev().filter(|&(_, cpu)| offline.contains(cpu));
        let offline = offline.map(|(guest, _)| guest).collect();
        let steps = variant
            .hotplug
            .iter()
            .flat_map(|entry| entry.cpus.iter().map(move |cpu| (entry.at_s, cpu, entry.online)));
        let hotplug =
            steps.filter_map(|(at, cpu, on)| Some((at, board.guest_cpu(cpu)?, on))).collect();
        let groups = plan.file.groups(at).into_iter().map(|group| in_guest(group, &board));
        let groups = groups.collect::<Result<_, _>>()?;
        let boot = Boot { kernel: image, plain, append };
        let (scheduler, numa_balancing) = (scheduler.cloned(), variant.numa_balancing);
        Ok(Realised { boot, features, offline, scheduler, hotplug, groups, numa_balancing })
    }
}

/// `group` with the guest's CPUs.
fn in_guest(mut group: Group, board: &Board) -> Result<Group, RealiseError> {
    if group.core_cookie || group.session {
        let field = if group.core_cookie { "groups: core_cookie" } else { "groups: session" };
        return Err(RealiseError::OnlySimulated { field });
    }
    for (_, text) in group.files.iter_mut().filter(|(file, _)| file.starts_with("cpuset.cpus")) {
        if let Ok(cpus) = text.parse::<CpuSet>() {
            let own = board.cpus().filter(|&(_, cpu)| cpus.contains(cpu));
            *text = own.map(|(guest, _)| guest.0 as usize).collect::<CpuSet>().to_string();
        }
    }
    Ok(group)
}

/// The kernel that guests of `arch` boot for a variant: see [`Realised::of`].
fn kernel_of(
    variant: &VariantEntry,
    arch: Arch,
    cache: &Cache,
    release: Option<Version>,
    own: Option<&KernelImage>,
) -> Result<KernelImage, RealiseError> {
    match own {
        Some(own) => Ok(own.clone()),
        None if variant.source.is_some() => Err(RealiseError::Source),
        None => Ok(cache.kernel(arch, Some(release.unwrap_or(variant.kernel)))?),
    }
}

/// Whether the kernel of a variant can load schedulers, so that building one is worth the time. `release` and `own` are as for
/// [`Realised::of`], which says why not.
pub fn loads_schedulers(
    variant: &VariantEntry,
    arch: Arch,
    cache: &Cache,
    release: Option<Version>,
    own: Option<&KernelImage>,
) -> bool {
    kernel_of(variant, arch, cache, release, own)
        .is_ok_and(|kernel| kernel.lacks_for_sched_ext().is_ok_and(|lacks| lacks.is_empty()))
}

fn refuse_what_guests_lack(
    variant: &VariantEntry,
    image: &KernelImage,
) -> Result<(), RealiseError> {
    if variant.frequency.is_some() {
        return Err(RealiseError::Frequency);
    }
    if variant.prefetch.is_some() {
        return Err(RealiseError::Prefetch);
    }
    if variant.scheduler.is_some() {
        let lacks = image.lacks_for_sched_ext()?.join(" and ");
        if !lacks.is_empty() {
            return Err(RealiseError::NoSchedExt { release: image.release.clone(), lacks });
        }
    }
    let only_simulated = [
        ("sysctl", variant.sysctl.is_empty()),
        ("debug", variant.debug.is_empty()),
        ("host", variant.host.is_none()),
    ];
    if let Some((field, _)) = only_simulated.into_iter().find(|(_, none)| !none) {
        return Err(RealiseError::OnlySimulated { field });
    }
    let found = variant.hz.unwrap_or(Kernel::DEFAULT_HZ);
    match image.hz()? {
        Some(built) if built != found => {
            Err(RealiseError::Hz { found, built, release: image.release.clone() })
        }
        _ => Ok(()),
    }
}

/// The stock kernel as the variant wants it, and the features that are to be switched for it.
pub(crate) fn switches(
    plan: &Plan,
    at: usize,
    stock: &Kernel,
    other_release: bool,
) -> Result<(Kernel, Vec<String>), RealiseError> {
    let own = &plan.kernels[at];
    let mut model = stock.clone();
    let mut features = Vec::new();
    for row in MECHANISMS {
        let differs = plan.kernels.iter().any(|k| k.has(row.id) != own.has(row.id));
        let of_variant = !other_release || differs || own.switched(row.id).is_some();
        let wanted = own.has(row.id);
        if !of_variant || wanted == stock.has(row.id) {
            continue;
        }
        model = model.with(row.id, wanted);
        let feature = FEATURES.iter().find(|(id, _)| *id == row.id);
        match feature {
            Some((_, name)) => features.push(switched(name, wanted)),
            // The domains will tell.
            None if row.id.is_of_topology() => {}
            None => {
                return Err(RealiseError::NoSwitch {
                    mechanism: row.name,
                    found: if wanted { "on" } else { "off" },
                    version: stock.version,
                });
            }
        }
    }
    Ok((model, features))
}

/// A feature as the kernel's file takes it.
fn switched(name: &str, on: bool) -> String {
    format!("{}{name}", if on { "" } else { "NO_" })
}

/// Whether the variant needs plain firmware.
fn firmware(
    plan: &Plan,
    board: &Board,
    stock: &Kernel,
    model: &Kernel,
) -> Result<bool, RealiseError> {
    let built = |machine: &Machine, kernel: &Kernel| -> Result<Domains, KernelError> {
        kernel::build(machine, kernel)
    };
    let wanted = built(&board.machine, model)?;
    if built(&board.machine, stock)? == wanted {
        return Ok(false);
    }
    let plain = Board::of(&plan.machine, true)?;
    if built(&plain.machine, stock)? == wanted {
        return Ok(true);
    }
    let all = kernel::MECHANISMS.iter().map(|row| row.id).filter(|id| id.is_of_topology());
    let named = all.filter(|&id| model.has(id) != stock.has(id));
    let named: Vec<String> = named
        .map(|id| format!("{} {}", id.row().name, if model.has(id) { "on" } else { "off" }))
        .collect();
    Err(RealiseError::Firmware { found: named.join(", "), version: stock.version })
}

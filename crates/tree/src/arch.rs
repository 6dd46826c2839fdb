//! The architecture that a tree gets, as files; they travel with the program.

use crate::TreeError;
use std::path::Path;

/// Name of the architecture, as in `ARCH=`.
pub(crate) const NAME: &str = "schedscape";

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../arch/", $path)))),*]
    };
}

/// Path below `arch/schedscape`, and text.
pub(crate) const FILES: &[(&str, &str)] = files![
    "Kbuild",
    "Kconfig",
    "Kconfig.debug",
    "Makefile",
    "include/asm/Kbuild",
    "include/asm/atomic.h",
    "include/asm/bitops.h",
    "include/asm/cache.h",
    "include/asm/cmpxchg.h",
    "include/asm/current.h",
    "include/asm/delay.h",
    "include/asm/elf.h",
    "include/asm/hidden.h",
    "include/asm/io.h",
    "include/asm/irq.h",
    "include/asm/irq_work.h",
    "include/asm/irqflags.h",
    "include/asm/mmu_context.h",
    "include/asm/mmzone.h",
    "include/asm/page.h",
    "include/asm/percpu.h",
    "include/asm/pgalloc.h",
    "include/asm/pgtable.h",
    "include/asm/processor.h",
    "include/asm/ptrace.h",
    "include/asm/smp.h",
    "include/asm/sparsemem.h",
    "include/asm/spinlock.h",
    "include/asm/spinlock_types.h",
    "include/asm/string.h",
    "include/asm/switch_to.h",
    "include/asm/thread_info.h",
    "include/asm/tlb.h",
    "include/asm/tlbflush.h",
    "include/asm/topology.h",
    "include/asm/uaccess.h",
    "include/asm/unistd.h",
    "include/asm/vmalloc.h",
    "include/uapi/asm/Kbuild",
    "include/uapi/asm/bitsperlong.h",
    "include/uapi/asm/byteorder.h",
    "include/uapi/asm/ptrace.h",
    "include/uapi/asm/sigcontext.h",
    "include/uapi/asm/unistd.h",
    "kernel/Makefile",
    "kernel/abi.h",
    "kernel/asm-offsets.c",
    "kernel/boot.c",
    "kernel/calls.c",
    "kernel/clock.c",
    "kernel/compat.h",
    "kernel/counters.c",
    "kernel/cpu.c",
    "kernel/cpufreq.c",
    "kernel/debug.c",
    "kernel/debugfs.c",
    "kernel/events.c",
    "kernel/frequency.c",
    "kernel/groups.c",
    "kernel/hotplug.c",
    "kernel/idle.c",
    "kernel/interrupt.c",
    "kernel/leaders.c",
    "kernel/looks.c",
    "kernel/machine.h",
    "kernel/memory.c",
    "kernel/missing.c",
    "kernel/pressure.c",
    "kernel/print.c",
    "kernel/probes.c",
    "kernel/random.c",
    "kernel/rcu.c",
    "kernel/sanitize.c",
    "kernel/scheduler.h",
    "kernel/state.c",
    "kernel/state.h",
    "kernel/sums.c",
    "kernel/switch.c",
    "kernel/sysctl.c",
    "kernel/sysfs.c",
    "kernel/system_calls.c",
    "kernel/task.c",
    "kernel/topology.c",
];

/// The configuration that a build starts from.
pub(crate) const CONFIG: &str = include_str!("../arch/config");
/// Options that decide how the scheduler behaves, one a line.
pub(crate) const CHOICES: &str = include_str!("../arch/choices");
/// The tree's objects that make the library, one a line, with conditions; those whose source a tree does not have are left out.
pub(crate) const OBJECTS: &str = include_str!("../arch/objects");
/// Symbols that are empty or constant, with reasons.
pub(crate) const SYMBOLS: &str = include_str!("../arch/symbols.toml");
/// What the linker arranges, with conditions.
pub(crate) const LINK: &str = include_str!("../arch/link.lds");

/// The architecture's own objects.
pub(crate) fn objects() -> impl Iterator<Item = String> {
    let sources =
        FILES.iter().filter_map(|(path, _)| path.strip_prefix("kernel/")?.strip_suffix(".c"));
    sources.filter(|name| *name != "asm-offsets").map(|name| format!("arch/{NAME}/kernel/{name}.o"))
}

/// Writes the architecture into the directory `to`; files that are already so keep their times.
pub(crate) fn write(to: &Path) -> Result<(), TreeError> {
    for (path, text) in FILES {
        let file = to.join(path);
        if std::fs::read(&file).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        let folder = file.parent().unwrap_or(to);
        std::fs::create_dir_all(folder).map_err(TreeError::io(folder))?;
        std::fs::write(&file, text).map_err(TreeError::io(&file))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is added to the directory has to be added to the list.
    #[test]
    fn every_file_travels() {
        fn count(dir: &Path) -> usize {
            let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
            entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
        }
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("arch");
        let beside = ["config", "choices", "objects", "symbols.toml", "link.lds"];
        assert_eq!(count(&dir), FILES.len() + beside.len());
    }
}

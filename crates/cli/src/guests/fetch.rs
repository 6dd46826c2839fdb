//! `schedscape vm fetch`.

use super::cache;
use crate::Failure;
use crate::args::{FetchArgs, Part};
use crate::output::print;
use crate::progress::bar;
use vm::Arch;

pub fn fetch(args: &FetchArgs) -> Result<(), Failure> {
    let cache = cache(&args.cache)?;
    let archs = if args.archs.is_empty() { Arch::ALL.to_vec() } else { args.archs.clone() };
    let wants = |part: Part| args.only.is_empty() || args.only.contains(&part);
    let bar = bar("{spinner} {msg}, {elapsed}")?;
    let suite = args.suite.as_str();
    for arch in archs {
        let begin =
            |what: &str| bar.set_message(format!("{what} for {arch} guests out of {suite}"));
        let done = |text: String| bar.suspend(|| print(&text));
        if wants(Part::Qemu) {
            begin("QEMU");
            cache.fetch_qemu(suite, arch)?;
            let (major, minor) = vm::qemu::Qemu::find(&cache, arch)?.version;
            done(format!("{arch}: QEMU {major}.{minor}\n"))?;
        }
        if wants(Part::Kernel) {
            begin("kernel");
            let kernel = cache.fetch_kernel(suite, arch, args.kernel)?;
            done(format!("{arch}: kernel {}\n", kernel.release))?;
        }
        if wants(Part::Programs) {
            begin("programs");
            let programs = cache.fetch_guest(suite, arch)?;
            done(format!("{arch}: programs in {}\n", programs.display()))?;
        }
        if wants(Part::Worker) {
            begin("compiler");
            done(format!("{arch}: worker {}\n", cache.workers(arch)?.worker.display()))?;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

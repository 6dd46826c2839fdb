//! What is missing to boot guests.

use crate::accel::{Trial, check_kvm};
use crate::qemu::{OLDEST, Qemu};
use crate::sched_ext::crates;
use crate::{Arch, Cache, packages};
use serde::Serialize;

/// One thing that guests need, or that serves them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is.
    pub what: String,
    /// Whether guests need it.
    pub needed: bool,
    /// Whether it is there.
    pub good: bool,
    /// What was found.
    pub found: String,
    /// The command that helps, where there is one.
    pub help: Option<String>,
}

impl Check {
    fn new(what: &str, found: Result<String, String>, help: &str) -> Check {
        let good = found.is_ok();
        let found = match found {
            Ok(found) | Err(found) => found,
        };
        Check { what: what.to_owned(), needed: true, good, found, help: Some(help.to_owned()) }
    }
}

/// Looks at this computer and what `cache` holds for guests of `archs`.
pub fn checks(cache: &Cache, archs: &[Arch]) -> Vec<Check> {
    let program = |name: &str, package: &str| {
        let found = crate::host::run(std::process::Command::new(name).arg("--version"));
        let line = |said: String| said.lines().next().map_or(name.to_owned(), str::to_owned);
        let help = format!("apt install {package}");
        Check::new(name, found.map(line).map_err(|e| e.to_string()), &help)
    };
    let mut out = vec![program("apt-get", "apt"), program("dpkg-deb", "dpkg")];
    out.push(Check::new(
        "Debian's keys",
        packages::keys().map(|path| path.display().to_string()),
        "apt install debian-archive-keyring",
    ));
    out.push(Check::new(
        "Debian's archive",
        packages::archive().map_err(|e| e.to_string()),
        "see sources.list(5)",
    ));
    archs.iter().for_each(|&arch| out.extend(of_arch(cache, arch)));
    let build = crates::what_builds().map_err(|e| e.to_string());
    out.push(Check { needed: false, help: None, ..Check::new("sched_ext schedulers", build, "") });
    out
}

/// Whether a guest boots under KVM: tried with the newest kernel that is fetched.
fn kvm(cache: &Cache, arch: Arch, qemu: Option<&Qemu>) -> Result<String, String> {
    check_kvm(arch)?;
    let (Some(qemu), Ok(kernel), Ok(programs)) =
        (qemu, cache.kernel(arch, None), cache.guest(arch))
    else {
        return Err("no QEMU, kernel or programs to try it with".to_owned());
    };
    Trial { qemu, kernel: &kernel, programs: &programs }.run()?;
    Ok(format!("{} boots", kernel.release))
}

fn of_arch(cache: &Cache, arch: Arch) -> Vec<Check> {
    let fetch = |part: &str| format!("schedscape vm fetch --arch {arch} --only {part}");
    let qemu =
        Qemu::find(cache, arch).map_err(|_| format!("none of {}.{} or newer", OLDEST.0, OLDEST.1));
    let kernels = cache.fetched_kernels(arch).map_err(|e| e.to_string());
    let releases = kernels.and_then(|kernels| match &kernels[..] {
        [] => Err("none".to_owned()),
        all => Ok(all.iter().map(|k| k.release.as_str()).collect::<Vec<_>>().join(", ")),
    });
    let programs =
        cache.guest(arch).map(|dir| dir.display().to_string()).map_err(|_| "none".to_owned());
    let workers = cache.built_workers(arch).ok_or("not built".to_owned());
    let version = |q: &Qemu| format!("{}.{} ({})", q.version.0, q.version.1, q.place());
    let kvm = kvm(cache, arch, qemu.as_ref().ok());
    vec![
        Check::new(
            &format!("{arch}: QEMU"),
            qemu.as_ref().map(version).map_err(Clone::clone),
            &fetch("qemu"),
        ),
        Check::new(&format!("{arch}: kernels"), releases, &fetch("kernel")),
        Check::new(&format!("{arch}: programs"), programs, &fetch("programs")),
        Check::new(
            &format!("{arch}: worker"),
            workers.map(|built| built.worker.display().to_string()),
            &fetch("worker"),
        ),
        Check { needed: false, help: None, ..Check::new(&format!("{arch}: KVM"), kvm, "") },
    ]
}

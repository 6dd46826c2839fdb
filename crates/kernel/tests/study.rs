//! The big-core study's own print of the SMT domains, from the catalog's machine.

use kernel::{Domains, Kernel, MechanismId, Version, build, log};
use machine::catalog;

/// The study's kernel, 4.18-rc7, without or with its patches, in an SMT mode.
fn domains(patched: bool, smt: u32) -> Domains {
    let machine = catalog::load("power9-big-core").unwrap().with_smt(smt).unwrap();
    let kernel = Kernel::new("4.18.0-rc7".parse::<Version>().unwrap())
        .with(MechanismId::SmallCoreSmt, patched)
        .with(MechanismId::BigCoreCache, patched);
    build(&machine, &kernel).unwrap()
}

fn study(patched: bool, smt: u32, title: &str) -> String {
    log::study_form(&domains(patched, smt), &[0, 1], title)
}

const PATCHED_SMT8: &str = "\
With Patches: (ppc64_cpu --smt=on) : SMT domain
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0,2,4,6 level=SMT
  groups: 0:{ span=0 cap=294 }, 2:{ span=2 cap=294 }, 4:{ span=4 cap=294 }, 6:{ span=6 cap=294 }
CPU1 attaching sched-domain(s):
 domain-0: span=1,3,5,7 level=SMT
  groups: 1:{ span=1 cap=294 }, 3:{ span=3 cap=294 }, 5:{ span=5 cap=294 }, 7:{ span=7 cap=294 }
";

const PATCHED_SMT4: &str = "\
With Patches : (ppc64_cpu --smt=4) : SMT domain
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0,2 level=SMT
  groups: 0:{ span=0 cap=589 }, 2:{ span=2 cap=589 }
CPU1 attaching sched-domain(s):
 domain-0: span=1,3 level=SMT
  groups: 1:{ span=1 cap=589 }, 3:{ span=3 cap=589 }
";

const PATCHED_SMT2: &str = "\
With Patches : (ppc64_cpu --smt=2) : SMT domain ceases to exist.
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
";

const VANILLA_SMT8: &str = "\
Without Patches: (ppc64_cpu --smt=on) : SMT domain
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0-7 level=SMT
  groups: 0:{ span=0 cap=147 }, 1:{ span=1 cap=147 }, 2:{ span=2 cap=147 }, 3:{ span=3 cap=147 }, \
4:{ span=4 cap=147 }, 5:{ span=5 cap=147 }, 6:{ span=6 cap=147 }, 7:{ span=7 cap=147 }
CPU1 attaching sched-domain(s):
 domain-0: span=0-7 level=SMT
  groups: 1:{ span=1 cap=147 }, 2:{ span=2 cap=147 }, 3:{ span=3 cap=147 }, 4:{ span=4 cap=147 }, \
5:{ span=5 cap=147 }, 6:{ span=6 cap=147 }, 7:{ span=7 cap=147 }, 0:{ span=0 cap=147 }
";

// The study's groups at SMT 4 (CPU0) and SMT 2 without patches end in a comma, which the kernel cannot print:
// it puts commas between groups only. The commas are left out here.

const VANILLA_SMT4: &str = "\
Without Patches: (ppc64_cpu --smt=4) : SMT domain
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0-3 level=SMT
  groups: 0:{ span=0 cap=294 }, 1:{ span=1 cap=294 }, 2:{ span=2 cap=294 }, 3:{ span=3 cap=294 }
CPU1 attaching sched-domain(s):
 domain-0: span=0-3 level=SMT
  groups: 1:{ span=1 cap=294 }, 2:{ span=2 cap=294 }, 3:{ span=3 cap=294 }, 0:{ span=0 cap=294 }
";

const VANILLA_SMT2: &str = "\
Without Patches: (ppc64_cpu --smt=2) : SMT domain
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0-1 level=SMT
  groups: 0:{ span=0 cap=589 }, 1:{ span=1 cap=589 }
CPU1 attaching sched-domain(s):
 domain-0: span=0-1 level=SMT
  groups: 1:{ span=1 cap=589 }, 0:{ span=0 cap=589 }
";

#[test]
fn smt_domains_with_patches_are_as_the_study_prints_them() {
    assert_eq!(study(true, 8, "With Patches: (ppc64_cpu --smt=on)"), PATCHED_SMT8);
    assert_eq!(study(true, 4, "With Patches : (ppc64_cpu --smt=4)"), PATCHED_SMT4);
    assert_eq!(study(true, 2, "With Patches : (ppc64_cpu --smt=2)"), PATCHED_SMT2);
}

#[test]
fn smt_domains_without_patches_are_as_the_study_prints_them() {
    assert_eq!(study(false, 8, "Without Patches: (ppc64_cpu --smt=on)"), VANILLA_SMT8);
    assert_eq!(study(false, 4, "Without Patches: (ppc64_cpu --smt=4)"), VANILLA_SMT4);
    assert_eq!(study(false, 2, "Without Patches: (ppc64_cpu --smt=2)"), VANILLA_SMT2);
}

fn names(domains: &Domains) -> Vec<&str> {
    domains.by_cpu[0].iter().map(|d| d.name).collect()
}

/// The study: "in SMT=2 mode, we will only have 3 levels in the sched-domain topology (CACHE, DIE and NUMA)";
/// the catalog's machine has one node, so no NUMA.
#[test]
fn small_cores_bring_a_cache_level_and_lose_smt_at_two_threads() {
    assert_eq!(names(&domains(true, 8)), ["SMT", "CACHE", "DIE"]);
    assert_eq!(names(&domains(true, 2)), ["CACHE", "DIE"]);
    assert_eq!(names(&domains(false, 8)), ["SMT", "DIE"]);
    assert_eq!(domains(true, 2).capacity[0], 1024);
}

/// v5 of the patches: L2 siblings compared with the whole core's threads, so no CACHE level.
#[test]
fn fifth_version_of_the_patches_has_no_cache_level() {
    let machine = catalog::load("power9-big-core").unwrap();
    let kernel = Kernel::new(Version::new(4, 18)).with(MechanismId::SmallCoreSmt, true);
    assert_eq!(names(&build(&machine, &kernel).unwrap()), ["SMT", "DIE"]);
}

#[test]
fn study_form_says_which_cpu_has_no_smt_domain() {
    let machine = catalog::load("power9-big-core").unwrap();
    let machine = machine.with_online("0-2".parse().unwrap()).unwrap();
    let kernel = Kernel::new(Version::new(6, 12));
    let text = log::study_form(&build(&machine, &kernel).unwrap(), &[0, 1], "6.12");
    let expected = "\
6.12 : SMT domain
~~~~~~~~~~~~~~~~~
CPU0 attaching sched-domain(s):
 domain-0: span=0,2 level=SMT
  groups: 0:{ span=0 }, 2:{ span=2 }
CPU1 has no SMT domain.
";
    assert_eq!(text, expected);
}

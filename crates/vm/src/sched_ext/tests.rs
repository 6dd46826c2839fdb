use super::*;
use crate::host_arch;

/// A program of this computer with libraries, and its architecture.
fn own() -> (&'static Path, Arch) {
    (Path::new("/bin/sh"), host_arch().unwrap())
}

#[test]
fn a_program_brings_its_loader_and_libraries_in_a_directory_of_its_own() {
    let (file, arch) = own();
    let scheduler = Scheduler::program(file, arch, Path::new("/nowhere")).unwrap();
    assert!(scheduler.version.starts_with("sha256:"), "{}", scheduler.version);
    let scheduler = scheduler.with_options(&["-v".to_owned(), "it's".to_owned()]);
    let mut guest = Initramfs::new();
    let loads = add_all(&mut guest, &[&scheduler]).unwrap();
    let expected = "scheduler_program /schedulers/0/bin/sh --library-path /schedulers/0/lib \
                    /schedulers/0/program -v 'it'\\''s'\n";
    assert_eq!(loads, [expected]);
    let archive = guest.archive();
    let has = |name: &[u8]| archive.windows(name.len()).any(|at| at == name);
    assert!(has(b"schedulers/0/bin/sh\0") && has(b"schedulers/0/program\0"));
    assert!(has(b"schedulers/0/lib/libc.so.6\0") && has(b"scheduler.sh\0"));
}

#[test]
fn files_of_another_kind_are_refused_by_name() {
    let (file, arch) = own();
    let other = if arch == Arch::X86 { Arch::Arm64 } else { Arch::X86 };
    let refused = |path: &Path, arch| {
        Scheduler::program(path, arch, Path::new("/nowhere")).unwrap_err().to_string()
    };
    let error = refused(file, other);
    assert!(error.contains("found another architecture, expected a program for "), "{error}");
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("text");
    std::fs::write(&text, "#!/bin/sh\n").unwrap();
    assert!(refused(&text, arch).contains("found no program, expected a program for "));
    let error = Scheduler::object(file, arch, &Cache::new(dir.path())).unwrap_err().to_string();
    assert!(error.contains("expected a BPF object"), "{error}");
}

use super::*;
use crate::plugin::PLUGIN;
use crate::worker::{FLEET, WORKER};
use std::collections::BTreeSet;

#[test]
fn the_suite_of_an_os_release() {
    let text = "NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\nID=debian\n";
    assert_eq!(codename(text), Some("bookworm"));
    assert_eq!(codename("VERSION_CODENAME=\"noble\""), Some("noble"));
    assert_eq!(codename("ID=arch\nVERSION_CODENAME=\n"), None);
}

/// Sources by the directory that they are in.
const PLACES: [(&[&Sources], &str); 2] =
    [(&[&WORKER, &FLEET], "src/guest/worker"), (&[&PLUGIN], "src/plugin/lines")];

/// All files are in the tables: one that is not would be left out of the program.
#[test]
fn every_source_is_compiled() {
    for (sources, place) in PLACES {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
        let found: BTreeSet<String> = std::fs::read_dir(&dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        let files = |sources: &Sources| sources.files.iter().chain(sources.headers);
        let names: BTreeSet<String> =
            sources.iter().flat_map(|s| files(s)).map(|(name, _)| name.to_string()).collect();
        assert_eq!(found, names);
    }
}

#[test]
fn names_of_cross_packages() {
    let other = Arch::ALL.into_iter().find(|&a| host_arch().unwrap() != a && a != Arch::X86);
    let expected = match other.unwrap() {
        Arch::Arm64 => ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
        _ => ["gcc-powerpc64le-linux-gnu", "libc6-dev-ppc64el-cross"],
    };
    assert_eq!(packages(other.unwrap()), expected);
    assert_eq!(packages(Arch::X86).len(), 2);
}

/// The C files by this computer's compiler, any warning an error.
#[test]
fn no_warning_in_the_sources() {
    let all = PLACES.into_iter().flat_map(|(all, place)| all.iter().map(move |s| (s, place)));
    for (sources, place) in all {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
        let mut cc = Command::new("cc");
        cc.args(["-fsyntax-only", "-Werror"]).args(sources.flags).current_dir(dir);
        cc.args(sources.files.iter().map(|(name, _)| name));
        run(&mut cc).unwrap();
    }
}

#[test]
fn it_is_built_once_and_runs() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(dir.path());
    let built = cache.workers(host_arch().unwrap()).unwrap();
    let when = |path: &Path| path.metadata().unwrap().modified().unwrap();
    let before = [when(&built.worker), when(&built.fleet)];
    assert_eq!(cache.workers(host_arch().unwrap()).unwrap(), built);
    assert_eq!([when(&built.worker), when(&built.fleet)], before);
    for name in ["worker", "fleet"] {
        assert_eq!(std::fs::read_dir(dir.path().join(name)).unwrap().count(), 1);
    }
    let output =
        Command::new(built.worker).args(["false_sharing", "rounds=1000"]).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("seconds "));
}

#[test]
fn bad_arguments_are_one_line_and_an_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let worker = Cache::new(dir.path()).workers(host_arch().unwrap()).unwrap().worker;
    for (arguments, expected) in [
        (
            "dance",
            "found dance, expected one of ebizzy, false_sharing, stream, schbench, netperf, costs, costs_exec, mark, stats",
        ),
        ("false_sharing rounds=0", "rounds: found 0, expected 1 to 4294967295"),
        ("false_sharing rounds=-1", "rounds: found -1, expected 1 to 4294967295"),
        ("false_sharing rounds=1 rounds=2", "rounds: found twice, expected once"),
        ("false_sharing rounds=1 x=2", "found 2 arguments, expected 1"),
        (
            "stream array_mib=1 passes=2 placement=default cpus=0-",
            "cpus: found 0-, expected numbers as in 0,2-3",
        ),
        (
            "stream array_mib=1 passes=2 placement=left cpus=0",
            "placement: found left, expected default, interleave, interleave=NODES or bind=NODES",
        ),
        ("netperf pairs=1 seconds=1", "warmup_s: missing"),
    ] {
        let output = Command::new(&worker).args(arguments.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("worker: {expected}\n"));
        assert!(output.stdout.is_empty());
    }
}

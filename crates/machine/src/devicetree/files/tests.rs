use super::*;
use crate::devicetree::testing::{core, machine};
use crate::devicetree::{read, read_dir, read_files};
use proptest::prelude::*;

/// Files of a two-core POWER machine, in an order that no tree has.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = machine(vec![core(&[0, 1]), core(&[8, 9]), core(&[16, 17])]).files();
    files.reverse();
    files
}

#[test]
fn a_directory_gives_the_machine_of_its_blob() {
    let blob = machine(vec![core(&[0, 1]), core(&[8, 9]), core(&[16, 17])]).blob();
    let mut of_files = read_files(files(), "t").unwrap();
    assert!(of_files.unknown.pop().unwrap().starts_with("Order of CPUs: a directory"));
    assert_eq!(of_files, read(&blob, "t.dtb").unwrap());

    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("t");
    for (path, bytes) in files() {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let mut of_dir = read_dir(&root).unwrap();
    of_dir.unknown.pop();
    assert_eq!(of_dir, of_files);
    assert_eq!(crate::resolve(root.to_str().unwrap()).unwrap().cpus, of_files.cpus);

    #[cfg(unix)]
    {
        // A loop that following links would never leave.
        std::os::unix::fs::symlink(&root, root.join("cpus/loop")).unwrap();
        of_dir = read_dir(&root).unwrap();
        of_dir.unknown.pop();
        assert_eq!(of_dir, of_files);
    }
}

#[test]
fn siblings_come_by_unit_address_and_taken_names_lose_their_suffix() {
    let text = |path: &str| (path.to_string(), b"x\0".to_vec());
    let paths = ["b@10/p", "b@9/p", "a/p", "l2-cache", "l2-cache#1/p", "x#2/p", "y@1,0/p"];
    let nodes = nodes(paths.map(text), "t").unwrap();
    let names: Vec<&str> = nodes.iter().map(|n| &*n.name).collect();
    assert_eq!(names, ["", "a", "b@9", "b@10", "l2-cache", "x#2", "y@1,0"]);
    assert_eq!(nodes[0].properties.len(), 1);
    assert!(nodes[1..].iter().all(|n| n.parent == Some(0)));
}

#[test]
fn refuses_paths_that_are_none() {
    let fail = |paths: &[&str]| {
        let files = paths.iter().map(|p| (p.to_string(), Vec::new()));
        nodes(files, "t").unwrap_err().to_string()
    };
    let outside = "expected a path below the root";
    assert_eq!(fail(&["a/../b"]), format!("t: found property `a/../b`, {outside}"));
    assert!(fail(&[""]).ends_with(outside));
    assert!(fail(&[".."]).ends_with(outside));
    assert!(fail(&["cpus/p", "./cpus/p"]).ends_with("expected each property of a node once"));
    assert!(fail(&["a/".repeat(70).as_str(), &"a/".repeat(80)]).contains("at most 64 nodes above"));
}

proptest! {
    #[test]
    fn arbitrary_files_never_panic(
        files in prop::collection::vec(
            ("(cpus/|cpu@[0-9]/|cpu-map/|socket0/|cluster0/|core0/|[a-z#@./]{1,4}){1,6}(reg|cpu|phandle|device_type)?",
             prop::collection::vec(any::<u8>(), 0..12)),
            0..12),
    ) {
        let _ = read_files(files, "t");
    }
}

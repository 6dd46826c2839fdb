use super::*;
use proptest::prelude::*;
use std::os::unix::fs::symlink;

/// A little-endian 64-bit file that names a loader, libraries and paths to them, and holds nothing else.
fn elf(loader: &str, libraries: &[&str], runpath: &str) -> Vec<u8> {
    let mut strings = vec![0u8];
    let mut add = |text: &str| {
        let at = strings.len() as u64;
        strings.extend(text.as_bytes());
        strings.push(0);
        at
    };
    let loader_at = add(loader);
    let mut entries: Vec<(u64, u64)> = libraries.iter().map(|name| (1, add(name))).collect();
    if !runpath.is_empty() {
        entries.push((29, add(runpath)));
    }
    entries.push((0, 0));
    let (segments, strings_at) = (64u64, 64 + 56);
    let dynamic_at = strings_at + strings.len() as u64;
    let sections = dynamic_at + 16 * entries.len() as u64;
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    let half = |out: &mut Vec<u8>, values: &[u16]| {
        values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    };
    let word = |out: &mut Vec<u8>, values: &[u32]| {
        values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    };
    let long = |out: &mut Vec<u8>, values: &[u64]| {
        values.iter().for_each(|v| out.extend(v.to_le_bytes()));
    };
    half(&mut out, &[3, 62]);
    word(&mut out, &[1]);
    long(&mut out, &[0, segments, sections]);
    word(&mut out, &[0]);
    half(&mut out, &[64, 56, u16::from(!loader.is_empty()), 64, 3, 2]);
    // PT_INTERP
    word(&mut out, &[3, 4]);
    let size = loader.len() as u64 + 1;
    long(&mut out, &[strings_at + loader_at, 0, 0, size, size, 1]);
    out.extend(&strings);
    entries.iter().for_each(|&(tag, value)| long(&mut out, &[tag, value]));
    let section = |out: &mut Vec<u8>, kind: u32, at: u64, size: u64, link: u32| {
        word(out, &[0, kind]);
        long(out, &[0, 0, at, size]);
        word(out, &[link, 0]);
        long(out, &[1, if kind == 6 { 16 } else { 0 }]);
    };
    section(&mut out, 0, 0, 0, 0);
    section(&mut out, 6, dynamic_at, 16 * entries.len() as u64, 2);
    section(&mut out, 3, strings_at, strings.len() as u64, 0);
    out
}

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn paths(list: &[&str]) -> BTreeSet<PathBuf> {
    list.iter().map(PathBuf::from).collect()
}

/// A tree as Debian 13 has it: the loader is below `/usr/lib64` alone, versions are behind links.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let lib = "usr/lib/x86_64-linux-gnu";
    write(root, "usr/bin/tool", elf("/lib64/ld-x.so.2", &["liba.so.1", "libc.so.6"], ""));
    write(root, &format!("{lib}/liba.so.1.2"), elf("", &["libb.so"], "$ORIGIN/a:/usr/nowhere"));
    write(root, &format!("{lib}/a/libb.so"), elf("", &["libc.so.6"], ""));
    write(root, &format!("{lib}/libc.so.6"), elf("", &["ld-x.so.2"], ""));
    write(root, &format!("{lib}/ld-x.so.2"), elf("", &[], ""));
    write(root, &format!("{lib}/libgcc_s.so.1"), elf("", &["libc.so.6"], ""));
    write(root, &format!("{lib}/unused.so"), elf("", &[], ""));
    symlink("liba.so.1.2", root.join(lib).join("liba.so.1")).unwrap();
    std::fs::create_dir_all(root.join("usr/lib64")).unwrap();
    symlink("../lib/x86_64-linux-gnu/ld-x.so.2", root.join("usr/lib64/ld-x.so.2")).unwrap();
    dir
}

#[test]
fn a_program_with_its_libraries_links_and_loader() {
    let dir = tree();
    let needed = programs(dir.path(), &["usr/bin/tool"]).unwrap();
    let expected = paths(&[
        "usr/bin/tool",
        "usr/lib/x86_64-linux-gnu/a/libb.so",
        "usr/lib/x86_64-linux-gnu/ld-x.so.2",
        "usr/lib/x86_64-linux-gnu/liba.so.1",
        "usr/lib/x86_64-linux-gnu/liba.so.1.2",
        "usr/lib/x86_64-linux-gnu/libc.so.6",
        "usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
        "usr/lib64/ld-x.so.2",
    ]);
    assert_eq!(needed.files, expected);
    let link = (PathBuf::from("lib64/ld-x.so.2"), PathBuf::from("/usr/lib64/ld-x.so.2"));
    assert_eq!(Vec::from_iter(needed.links.clone()), [link]);
    let mut guest = Initramfs::new();
    needed.add_to(dir.path(), &mut guest).unwrap();
    let archive = guest.archive();
    let has = |name: &[u8]| archive.windows(name.len()).any(|at| at == name);
    assert!(has(b"lib64/ld-x.so.2\0") && has(b"usr/bin/tool\0") && !has(b"unused.so\0"));
}

#[test]
fn a_script_needs_nothing() {
    let dir = tree();
    write(dir.path(), "usr/bin/script", "#!/bin/sh\n");
    let needed = programs(dir.path(), &["usr/bin/script"]).unwrap();
    assert_eq!(needed.files, paths(&["usr/bin/script"]));
}

#[test]
fn what_is_missing_is_said_with_who_needs_it() {
    let dir = tree();
    let absent = programs(dir.path(), &["usr/bin/none"]).unwrap_err().to_string();
    assert_eq!(absent, "the tree: found no usr/bin/none, expected it among the unpacked packages");
    std::fs::remove_file(dir.path().join("usr/lib/x86_64-linux-gnu/a/libb.so")).unwrap();
    let absent = programs(dir.path(), &["usr/bin/tool"]).unwrap_err().to_string();
    assert!(absent.starts_with("usr/lib/x86_64-linux-gnu/liba.so.1.2: found no libb.so,"));
}

#[test]
fn links_in_a_circle_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    symlink("b", dir.path().join("a")).unwrap();
    symlink("a", dir.path().join("b")).unwrap();
    assert_eq!(resolve(dir.path(), Path::new("a/c")), None);
}

#[test]
fn links_cannot_leave_the_tree() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "etc/passwd", "ours");
    symlink("../../../../etc/passwd", dir.path().join("up")).unwrap();
    symlink("/etc/passwd", dir.path().join("absolute")).unwrap();
    for link in ["up", "absolute"] {
        let (file, _) = resolve(dir.path(), Path::new(link)).unwrap();
        assert_eq!(file, Path::new("etc/passwd"));
    }
}

#[test]
fn the_file_by_hand_is_read_whole() {
    let content = elf("/lib/ld.so", &["liba.so", "libb.so"], "/x:/y");
    let about = dynamic(&content).unwrap().unwrap();
    assert_eq!(about.loader.as_deref(), Some("/lib/ld.so"));
    assert_eq!(about.libraries, ["liba.so", "libb.so"]);
    assert_eq!(about.paths, ["/x", "/y"]);
}

proptest! {
    #[test]
    fn cut_files_are_errors(cut in 4usize..300) {
        let content = elf("/lib/ld.so", &["liba.so", "libb.so"], "/x");
        let cut = cut.min(content.len() - 1);
        prop_assert!(dynamic(&content[..cut]).is_err());
    }

    #[test]
    fn damaged_files_do_no_harm(at in 4usize..300, value in any::<u8>(), tail in 0usize..64) {
        let mut content = elf("/lib/ld.so", &["liba.so", "libb.so"], "/x");
        let at = at.min(content.len() - 1);
        content[at] = value;
        content.truncate(content.len() - tail);
        let _ = dynamic(&content);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let content = [b"\x7fELF\x02\x01\x01".as_slice(), &bytes].concat();
        let _ = dynamic(&content);
    }
}

/// Before Debian 13 the C library is below `/lib` and others below `/usr/lib`, where the loader looks too.
#[test]
fn a_tree_of_two_library_directories_needs_no_links() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(root, "usr/bin/tool", elf("/lib64/ld-x.so.2", &["liba.so", "libc.so.6"], ""));
    write(root, "usr/lib/x86_64-linux-gnu/liba.so", elf("", &["libc.so.6"], ""));
    write(root, "lib/x86_64-linux-gnu/libc.so.6", elf("", &[], ""));
    write(root, "lib64/ld-x.so.2", elf("", &[], ""));
    let needed = programs(root, &["usr/bin/tool"]).unwrap();
    assert_eq!(needed.files.len(), 4);
    assert!(needed.links.is_empty());
}

/// As on a computer that also has libraries of another architecture, whose directory comes first by name.
#[test]
fn a_program_from_elsewhere_takes_libraries_of_its_own_architecture() {
    const ARM: u16 = 183;
    let dir = tree();
    let mut other = elf("", &[], "");
    other[18..20].copy_from_slice(&ARM.to_le_bytes());
    for library in ["liba.so.1", "libc.so.6"] {
        write(dir.path(), &format!("usr/lib/aarch64-linux-gnu/{library}"), &other);
    }
    let outside = tempfile::tempdir().unwrap();
    let program = outside.path().join("program");
    std::fs::write(&program, elf("/lib64/ld-x.so.2", &["liba.so.1", "libc.so.6"], "")).unwrap();
    let needed = foreign(dir.path(), &program).unwrap();
    let lib = Path::new("usr/lib/x86_64-linux-gnu");
    assert_eq!(needed.loader, Some(lib.join("ld-x.so.2")));
    let library = |name: &str| needed.libraries[&OsString::from(name)].clone();
    assert_eq!(library("liba.so.1"), lib.join("liba.so.1.2"));
    assert_eq!(library("libc.so.6"), lib.join("libc.so.6"));
    assert_eq!(library("libb.so"), lib.join("a/libb.so"));
    assert_eq!((machine_of(&program), machine_of(Path::new("/nowhere"))), (Some(62), None));
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    let error = foreign(dir.path(), &program).unwrap_err().to_string();
    assert!(error.contains("found no ELF file"), "{error}");
}

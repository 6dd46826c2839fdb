use super::*;
use crate::devicetree::testing::{core, machine};
use crate::model::{Arch, Firmware};
use std::fs;
use std::io::Write;

/// A capture of two steps, as files by path.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        ("c/boot/uname", text("Linux h 6.12.1 #1 SMP ppc64le GNU/Linux\n")),
        ("c/boot/sys/devices/system/cpu/present", text("0-1\n")),
        ("c/boot/sys/devices/system/cpu/online", text("0-1\n")),
        ("c/boot/sys/devices/system/cpu/smt/control", text("on\n")),
        ("c/smt1/uname", text("Linux h 6.12.1 #1 SMP ppc64le GNU/Linux\n")),
        ("c/smt1/sys/devices/system/cpu/present", text("0-1\n")),
        ("c/smt1/sys/devices/system/cpu/online", text("0\n")),
        ("c/fw/fdt", machine(vec![core(&[0, 1])]).blob()),
    ]
}

fn tar() -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, content) in files() {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, path, content.as_slice()).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn archives_of_each_kind_and_directories_agree() {
    let dir = tempfile::tempdir().unwrap();
    for (path, content) in files() {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let mut wanted = read_directory(&dir.path().join("c/smt1")).unwrap();
    wanted.machine.title.clear();
    assert_eq!(wanted.release.as_deref(), Some("6.12.1"));
    assert_eq!(wanted.machine.online.to_string(), "0");
    assert_eq!(wanted.machine.core_cpus(0).to_string(), "0-1");
    assert_eq!(wanted.machine.firmware, Some(Firmware::DeviceTree));

    let plain = tar();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(&plain).unwrap();
    for bytes in [plain, gzip.finish().unwrap(), bzip2.finish().unwrap()] {
        let mut snapshot = read_archive(&bytes, "c.tar", Some("smt1")).unwrap();
        snapshot.machine.title.clear();
        assert_eq!(snapshot, wanted);
        let error = read_archive(&bytes, "c.tar", None).unwrap_err().to_string();
        assert_eq!(error, "c.tar: found snapshots boot, smt1, expected one, as in c.tar:boot");
        let error = read_archive(&bytes, "c.tar", Some("smt2")).unwrap_err().to_string();
        assert_eq!(error, "c.tar: found no snapshot `smt2`, expected one of boot, smt1");
    }
}

#[test]
fn damaged_archives_are_one_error() {
    let plain = tar();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&plain).unwrap();
    let gzip = gzip.finish().unwrap();
    for bytes in [&gzip[..gzip.len() / 2], &plain[..700], b"BZh91AY", b""] {
        let error = read_archive(bytes, "c.tar.gz", None).unwrap_err().to_string();
        assert!(error.starts_with("c.tar.gz: found "), "{error}");
        assert!(error.ends_with("expected a tar archive, plain or packed with gzip or bzip2"));
    }
}

#[test]
fn listings_are_read() {
    let text = "/sys/devices/system/cpu/present:0-1\n\
                /sys/devices/system/cpu/online:0-1\n\
                /sys/devices/system/cpu/cpu0/topology/thread_siblings_list:0-1\n\
                /sys/devices/system/node/node0/cpulist:0-1\n\
                /sys/devices/system/node/node0/distance:10\n\
                /sys/devices/system/node/node0/meminfo:Node 0 MemTotal:       1024 kB\n\
                /sys/devices/system/node/node0/meminfo:Node 0 MemFree: 1 kB\n";
    let snapshot = read_listing(text, "dir/box.txt").unwrap();
    assert_eq!((snapshot.machine.name.as_str(), snapshot.machine.arch), ("box", Arch::Other));
    assert_eq!(snapshot.machine.core_cpus(1).to_string(), "0-1");
    assert_eq!(snapshot.machine.nodes[0].memory_kib, Some(1024));
    let error = read_listing(&format!("{text}what\n"), "box").unwrap_err().to_string();
    assert!(error.starts_with("box: line 8: found `what`, expected PATH:CONTENT"), "{error}");
}

#[test]
fn architecture_is_told_by_what_is_there() {
    let of = |path: &str, text: &str| {
        let content = Some(text.as_bytes().to_vec());
        let cpu = ("sys/devices/system/cpu/present".to_string(), Some(b"0\n".to_vec()));
        let memory = crate::files::Memory::new("m", [(path.to_string(), content), cpu]);
        recorded::arch(&Files::Memory(memory)).unwrap()
    };
    assert_eq!(of("uname", "Linux x86_64 6.1 #1 aarch64 GNU/Linux"), Arch::Arm64);
    assert_eq!(of("proc/hwloc-nofile-info", "OSName: Linux\nArchitecture: ia64\n"), Arch::Other);
    assert_eq!(of("proc/sys/kernel/arch", "x86_64\n"), Arch::X86);
    assert_eq!(of("proc/cpuinfo", "vendor_id\t: A\ncpu family\t: 6\n"), Arch::X86);
    assert_eq!(of("proc/cpuinfo", "CPU architecture: 8\n"), Arch::Arm64);
    assert_eq!(of("proc/cpuinfo", "cpu\t\t: POWER9, altivec supported\n"), Arch::Powerpc);
    assert_eq!(of("proc/cpuinfo", "arch : IA-64\n"), Arch::Other);
}

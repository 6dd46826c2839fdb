use super::*;
use std::fs;

/// A tree whose build system copies: what it says of configurations and images is what the kernel's does.
fn tree(dir: &Path) -> PathBuf {
    let root = dir.join("linux");
    for folder in ["kernel/sched", "arch/x86/include/generated", "include/config"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("kernel/sched/fair.c"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join("kernel/sched/core.c"), "core\n").unwrap();
    fs::write(root.join("arch/x86/Makefile"), "").unwrap();
    fs::write(root.join("include/config/left"), "").unwrap();
    fs::write(root.join(".config"), "").unwrap();
    let makefile = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 9\n\
        allnoconfig: ; grep -v WILD $(KCONFIG_ALLCONFIG) >$(O)/.config\n\
        olddefconfig: ; true\n\
        bzImage: $(O)/fair.o $(O)/core.o\n\
        \tmkdir -p $(O)/arch/x86/boot $(O)/include/config\n\
        \tcat $^ >$(O)/arch/x86/boot/bzImage\n\
        \techo 6.12.9-test >$(O)/include/config/kernel.release\n\
        $(O)/%.o: kernel/sched/%.c ; cp $< $@; echo $* >>$(O)/compiled\n";
    fs::write(root.join("Makefile"), makefile).unwrap();
    root
}

const PATCH: &str = "--- a/kernel/sched/fair.c\n+++ b/kernel/sched/fair.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

fn order<'a>(root: &'a Path, toolchain: &'a Toolchain) -> Order<'a> {
    Order {
        root,
        identity: None,
        patches: vec![],
        config: None,
        options: vec![],
        debug: false,
        target: Target::Amd64,
        toolchain,
    }
}

fn quiet(_: &str) {}

#[test]
fn variants_share_objects_and_each_has_its_own_image() {
    let dir = tempfile::tempdir().unwrap();
    let root = tree(dir.path());
    let (images, tools) = (Images::new(&dir.path().join("images")), Toolchain::installed(""));
    let patch = dir.path().join("p.patch");
    fs::write(&patch, PATCH).unwrap();
    let base = order(&root, &tools);
    let patched = Order { patches: vec![patch], ..base.clone() };
    let text = |order: &Order| {
        let image = images.get(order, &quiet).unwrap();
        (fs::read_to_string(image.image).unwrap(), image.is_new)
    };
    assert_eq!(text(&base), ("one\ntwo\nthree\ncore\n".to_owned(), true));
    assert_eq!(text(&patched), ("one\n2\nthree\ncore\n".to_owned(), true));
    assert_eq!(text(&base), ("one\ntwo\nthree\ncore\n".to_owned(), false));
    // The tree's own file is older than the object of the patched one.
    fs::write(root.join("kernel/sched/core.c"), "edited\n").unwrap();
    assert_eq!(text(&base), ("one\ntwo\nthree\nedited\n".to_owned(), true));
    let builds = fs::read_dir(dir.path().join("images")).unwrap().map(|e| e.unwrap().path());
    let build = builds.into_iter().find(|p| p.to_string_lossy().contains("build-")).unwrap();
    let compiled = fs::read_to_string(build.join("out/compiled")).unwrap();
    // Make runs two at a time: both, the patched one, then its original and the edited one.
    let times = |file: &str| compiled.lines().filter(|line| *line == file).count();
    assert_eq!((times("fair"), times("core")), (3, 2));
    let image = images.get(&base, &quiet).unwrap();
    assert_eq!((image.release.as_str(), image.version), ("6.12.9-test", Version::new(6, 12)));
}

#[test]
fn bad_orders_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = tree(dir.path());
    let (images, tools) = (Images::new(&dir.path().join("images")), Toolchain::installed(""));
    let fails = |order: Order| images.get(&order, &quiet).unwrap_err().to_string();
    let base = order(&root, &tools);
    let arm = fails(Order { target: Target::Arm64, ..base.clone() });
    assert!(
        arm.contains("found no arch/arm64, expected a tree that has what arm64 needs"),
        "{arm}"
    );
    let config = dir.path().join("config");
    fs::write(&config, "CONFIG_SMP=y\nCONFIG_TTY=m\n").unwrap();
    let lacks = fails(Order { config: Some(&config), ..base.clone() });
    assert!(
        lacks.contains("found no CONFIG_BLK_DEV_INITRD, ") && lacks.contains("CONFIG_TTY"),
        "{lacks}"
    );
    assert!(!lacks.contains("CONFIG_SMP"), "{lacks}");
    fs::write(&config, "all:\n").unwrap();
    let other = fails(Order { config: Some(&config), ..base.clone() });
    assert!(other.contains("no option of a kernel"), "{other}");
    let wild = fails(Order { options: vec!["CONFIG_WILD=y".to_owned()], ..base.clone() });
    assert!(wild.contains("found CONFIG_WILD=y"), "{wild}");
    let patch = dir.path().join("p.patch");
    fs::write(&patch, PATCH.replace(" one", " ein")).unwrap();
    let apply = fails(Order { patches: vec![patch], ..base.clone() });
    assert!(apply.contains("kernel/sched/fair.c"), "{apply}");
    let none = Toolchain::installed("no-such-");
    let compiler = fails(Order { toolchain: &none, ..base.clone() });
    assert!(compiler.contains("no-such-gcc"), "{compiler}");
    fs::write(root.join("kernel/sched/fair.c"), "").unwrap();
    fs::remove_file(root.join("kernel/sched/core.c")).unwrap();
    assert!(fails(base).contains("core"), "what make says");
    let left = fs::read_dir(dir.path().join("images")).unwrap();
    let named =
        left.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with("amd64-"));
    assert_eq!(named.count(), 0, "nothing half-built has a final name");
}

#[test]
fn options_that_a_release_does_not_take_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = tree(dir.path());
    let (images, tools) = (Images::new(&dir.path().join("images")), Toolchain::installed(""));
    let makefile = fs::read_to_string(root.join("Makefile")).unwrap();
    fs::write(root.join("Makefile"), makefile.replace("WILD", "SCHEDSTATS")).unwrap();
    let options = vec!["CONFIG_HZ_1000=y".to_owned()];
    let image = images.get(&Order { options, ..order(&root, &tools) }, &quiet).unwrap();
    assert_eq!(image.left_out, ["CONFIG_SCHEDSTATS=y"]);
}

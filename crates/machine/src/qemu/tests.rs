use super::*;
use crate::model::Arch;
use proptest::prelude::*;

fn error(spec: &str) -> String {
    read(spec).unwrap_err().to_string()
}

/// CPUs, and those of CPU 0's core, cluster, die and package.
fn shape(spec: &str) -> (usize, [String; 4]) {
    let m = read(spec).unwrap();
    let cluster = m.cluster_cpus(0).map_or("none".to_string(), |set| set.to_string());
    let set = |set: CpuSet| set.to_string();
    (m.cpus.len(), [set(m.core_cpus(0)), cluster, set(m.die_cpus(0)), set(m.package_cpus(0))])
}

#[test]
fn counts_left_out_follow_qemu_s_rules() {
    let counts = |spec: &str| {
        let options = options::parse(spec).unwrap();
        let c = smp::read(options.smp.as_deref(), &board::read(&options).unwrap()).unwrap().counts;
        [c.packages, c.dies, c.clusters, c.modules, c.cores, c.threads]
    };
    // The table of QEMU's tests/unit/test-smp-parse.c: cores before sockets from 6.2 on.
    for (smp, wanted) in [
        ("", [1, 1, 1, 1, 1, 1]),
        ("-smp 8", [1, 1, 1, 1, 8, 1]),
        ("-smp sockets=2", [2, 1, 1, 1, 1, 1]),
        ("-smp maxcpus=16,cpus=8", [1, 1, 1, 1, 16, 1]),
        ("-smp 8,sockets=2", [2, 1, 1, 1, 4, 1]),
        ("-smp 8,cores=4", [2, 1, 1, 1, 4, 1]),
        ("-smp 8,threads=2", [1, 1, 1, 1, 4, 2]),
        ("-smp 16,sockets=2,cores=4", [2, 1, 1, 1, 4, 2]),
        ("-smp 16,dies=2,threads=2", [1, 2, 1, 1, 4, 2]),
        ("-smp cores=4,threads=2", [1, 1, 1, 1, 4, 2]),
    ] {
        assert_eq!(counts(&format!("-M q35 {smp}")), wanted, "{smp}");
    }
    assert_eq!(counts("-M pc-q35-6.1 -smp 8"), [8, 1, 1, 1, 1, 1]);
    assert_eq!(counts("-M pc-q35-6.2 -smp 8"), [1, 1, 1, 1, 8, 1]);
}

#[test]
fn each_machine_type_shows_its_units() {
    let sets = |a: &str, b: &str, c: &str, d: &str| [a, b, c, d].map(str::to_string);
    let intel = "-M q35 -cpu Skylake-Server -smp 16,sockets=2,dies=2,threads=2";
    assert_eq!(shape(intel), (16, sets("0-1", "0-1", "0-3", "0-7")));
    let amd = "-M q35 -cpu EPYC-Rome -smp 16,sockets=2,dies=2,threads=2";
    assert_eq!(shape(amd), (16, sets("0-1", "none", "0-7", "0-7")));
    let arm = "-M virt -smp 8,clusters=2,cores=4";
    assert_eq!(shape(arm), (8, sets("0", "0-3", "0-7", "0-7")));
    assert_eq!(shape("-M virt -smp 8,cores=8").1[1], "0-7");
    assert_eq!(shape("-M virt -bios efi.fd -smp 8,cores=8").1[1], "none");
    let power = "-M powernv10,big-core=on -smp 32,sockets=2,threads=8";
    assert_eq!(shape(power), (32, sets("0-7", "none", "0-15", "0-15")));
}

#[test]
fn caches_follow_model_accelerator_and_smp_cache() {
    let caches = |spec: &str| -> Vec<(u8, Option<u32>, String)> {
        let m = read(spec).unwrap();
        let of_cpu0 = m.caches.iter().filter(|c| c.cpus.contains(0) && c.level > 1);
        of_cpu0.map(|c| (c.level, c.size_kib, c.cpus.to_string())).collect()
    };
    let rome = "-M q35 -cpu EPYC-Rome -smp 32,dies=2,threads=2";
    let row = |level, kib, cpus: &str| (level, Some(kib), cpus.to_string());
    assert_eq!(caches(rome), [row(2, 512, "0"), row(3, 16384, "0-31")]);
    let kvm = format!("{rome} -enable-kvm");
    assert_eq!(caches(&kvm), [row(2, 512, "0-1"), row(3, 16384, "0-15")]);
    assert_eq!(
        caches(&format!("{kvm} -M smp-cache.0.cache=l3,smp-cache.0.topology=core"))[1].2,
        "0-1"
    );
    assert_eq!(caches("-M q35 -cpu EPYC -smp 16,threads=2")[1], row(3, 8192, "0-7"));
    assert_eq!(caches("-M q35 -cpu Haswell,l3-cache=off -smp 4"), [row(2, 4096, "0")]);
    let own = read("-M q35 -cpu SapphireRapids-v4 -smp 4").unwrap();
    assert!(own.unknown.iter().any(|u| u.starts_with("Cache sizes")));
    assert!(own.caches.iter().all(|c| c.size_kib.is_none()));
    let arm = "-M virt,smp-cache.0.cache=l2,smp-cache.0.topology=cluster -smp 8,clusters=2";
    assert_eq!(caches(arm), [(2, None, "0-3".to_string())]);
}

#[test]
fn nodes_take_the_cpus_memory_and_distances_given() {
    let two = "-M pseries -smp 16,sockets=2,cores=4,threads=2 -m 1G -object \
               memory-backend-ram,id=a,size=768M -numa node,memdev=a -numa node,mem=256M";
    let m = read(two).unwrap();
    assert_eq!(m.nodes[0].cpus.to_string(), "0-7");
    assert_eq!(m.nodes[0].distances, [10, 20]);
    assert_eq!(m.nodes[1].memory_kib, Some(256 << 10));
    let by_core = "-M q35 -smp 4,cores=2,threads=2 -numa node -numa node -numa \
                   cpu,node-id=1,core-id=1 -numa cpu,node-id=0,core-id=0 -numa dist,src=1,dst=0,val=31";
    let m = read(by_core).unwrap();
    assert_eq!((m.nodes[1].cpus.to_string(), &m.nodes[0].distances), ("2-3".into(), &vec![10, 31]));
    assert!(m.unknown.iter().any(|u| u.starts_with("Memory of each node")));
}

#[test]
fn cpus_to_be_plugged_in_are_offline() {
    let m = read("-M q35 -smp 2,maxcpus=4").unwrap();
    assert_eq!((m.arch, m.cpus.len(), m.online.to_string().as_str()), (Arch::X86, 4, "0-1"));
}

#[test]
fn options_without_effect_are_passed_over() {
    let spec = "-M q35,accel=tcg -cpu qemu64,+avx,family=6 -smp 2 -m 512 -nographic -append 'a b' -kernel k";
    assert_eq!(read(spec).unwrap().cpus.len(), 2);
}

#[test]
fn errors_name_the_option() {
    for (spec, wanted) in [
        ("-smp 4", "-machine: found no machine type, expected pc, q35, virt"),
        ("-M s390", "-machine: found `s390`"),
        ("-M q35 -frob 1", "-frob: found an unknown option"),
        ("-M q35 frob", "arguments: found `frob`, expected an option"),
        ("-M q35 -smp", "-smp: found no value"),
        ("-M q35 -append 'a", "arguments: found an open quote"),
        ("-M q35,frob=1", "-machine frob: found an unknown option"),
        ("-M q35 -smp 8,clusters=2", "-smp clusters: found 2, expected 1, as this machine type"),
        ("-M virt -smp 8,dies=2", "-smp dies: found 2"),
        ("-M pseries -smp 8,clusters=2", "-smp clusters: found 2"),
        ("-M q35 -smp 8,books=1", "-smp books: found an unknown parameter"),
        ("-M q35 -smp 0", "-smp cpus: found 0, expected 1 to 8192"),
        ("-M q35 -smp 9,sockets=2,cores=4", "threads (1) = 8, expected maxcpus (9)"),
        ("-M q35 -smp 8,maxcpus=4", "-smp: found 8 of 4 CPUs"),
        ("-M pseries -smp 6,threads=3", "-smp threads: found 3, expected 1, 2, 4 … up to 8"),
        ("-M powernv9 -smp 8,threads=8", "-smp threads: found 8"),
        ("-M q35,big-core=on", "-machine big-core: found a machine type without it"),
        ("-M q35 -cpu host", "-cpu: found `host`, expected a named model"),
        ("-M q35 -cpu Haswell,host-cache-info=on", "-cpu host-cache-info: found a value"),
        ("-M q35 -accel hvf", "-accel: found `hvf`, expected tcg or kvm"),
        ("-M q35 -device qemu64-x86_64-cpu,socket-id=1", "-device: found `qemu64-x86_64-cpu`"),
        ("-M q35,smp-cache.0.cache=l4", "-machine smp-cache.0.cache: found `l4`"),
        (
            "-M q35,smp-cache.0.cache=l3,smp-cache.0.topology=cluster",
            "-machine smp-cache.0.topology: found `cluster`",
        ),
        (
            "-M q35,smp-cache.0.cache=l3,smp-cache.0.topology=core,smp-cache.1.cache=l2,smp-cache.1.topology=die \
             -smp 4",
            "-machine smp-cache: found level 3 shared by 1 CPUs",
        ),
        ("-M q35 -smp 4 -numa node,cpus=0-7", "-numa node cpus: found CPUs 4-7"),
        ("-M q35 -smp 4 -numa node,memdev=x", "-numa node memdev: found `x`"),
        ("-M q35 -smp 4 -numa node,nodeid=1", "-numa node: found nodes [1]"),
        (
            "-M q35 -smp 4 -m 1G -numa node,mem=512M",
            "-numa node: found 524288 KiB, expected as much",
        ),
        (
            "-M q35 -smp 4 -numa node,cpus=0-2 -numa node,cpus=2-3",
            "nodes: found CPUs 2 in two nodes",
        ),
        ("-M q35 -numa node -numa dist,src=0,dst=0,val=20", "-numa dist val: found 20"),
        ("-M q35 -numa node -numa dist,src=0,dst=1,val=20", "-numa dist: found nodes 0 and 1"),
        (
            "-M q35 -smp 3 -numa node -numa node -numa node -numa dist,src=0,dst=1,val=20",
            "-numa dist: found no distance from node 0 to node 2",
        ),
        (
            "-M pseries -smp 4,threads=2,cores=2 -numa node,cpus=0 -numa node,cpus=1-3",
            "-numa node cpus: found CPUs 0-1 on several",
        ),
        ("-M q35 -m 1X", "-m: found `1X`, expected a size"),
    ] {
        let error = error(spec);
        assert!(error.contains(wanted), "{spec}: {error}");
        assert!(error.starts_with(&format!("qemu:{spec}: ")), "{error}");
    }
}

/// Pieces of command lines, so that random ones get beyond the first word.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("-M q35".to_string()),
        Just("-M virt".to_string()),
        Just("-M pseries".to_string()),
        Just("-cpu EPYC".to_string()),
        Just("-cpu Haswell".to_string()),
        "-smp [0-9]{0,4}(,(sockets|dies|clusters|modules|cores|threads|maxcpus)=[0-9]{1,4}){0,4}",
        "-numa node(,cpus=[0-9]{1,2}-[0-9]{1,2})?(,mem=[0-9]{1,20}[KMGT]?)?(,nodeid=[0-9])?",
        "-numa (cpu|dist)(,(node-id|core-id|socket-id|src|dst|val)=[0-9]{1,3}){0,4}",
        "-m [0-9]{1,20}[A-Z]?",
        ".{0,30}",
    ]
}

proptest! {
    #[test]
    fn arbitrary_arguments_never_panic(words in prop::collection::vec(word(), 0..8)) {
        if let Ok(m) = read(&words.join(" ")) {
            let of_nodes: usize = m.nodes.iter().map(|n| n.cpus.len()).sum();
            prop_assert_eq!(of_nodes, m.cpus.len());
            prop_assert!(m.caches.iter().all(|c| c.cpus.is_subset(&m.possible())));
        }
    }
}

use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::hash::DefaultHasher;

#[test]
fn prints_as_the_kernel_does() {
    let set: CpuSet = [0, 1, 2, 3, 8].into_iter().collect();
    assert_eq!(set.to_string(), "0-3,8");
    assert_eq!(set.mask(16), "010f");
    assert_eq!(CpuSet::first_n(34).mask(34), "3,ffffffff");
    assert_eq!(CpuSet::EMPTY.to_string(), "");
    assert_eq!(CpuSet::EMPTY.mask(8), "00");
}

#[test]
fn wraps_from_the_start_cpu() {
    let set: CpuSet = "0-3,70".parse().unwrap();
    assert_eq!(set.iter_wrap(2).collect::<Vec<_>>(), [2, 3, 70, 0, 1]);
    assert_eq!(set.iter_wrap(71).collect::<Vec<_>>(), [0, 1, 2, 3, 70]);
}

#[test]
fn reads_strides_and_refuses_nonsense() {
    assert_eq!("0-7:2/4".parse::<CpuSet>().unwrap().to_string(), "0-1,4-5");
    for bad in ["3-1", "8192", "a", "1,,2", "-1", "0-7:0/4", "0-7:5/4", "+1"] {
        assert!(bad.parse::<CpuSet>().is_err(), "{bad}");
    }
    assert_eq!(CpuSet::from_mask("1,000000f0").unwrap().to_string(), "4-7,32");
    for bad in ["x", "1,", "123456789", "+1", "-1"] {
        assert!(CpuSet::from_mask(bad).is_err(), "{bad}");
    }
    assert!(CpuSet::from_mask(&format!("1{}", ",00000000".repeat(MAX_CPUS / 32))).is_err());
}

proptest! {
    #[test]
    fn list_form_round_trips(cpus in prop::collection::vec(0usize..MAX_CPUS, 0..64)) {
        let set: CpuSet = cpus.iter().copied().collect();
        prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set.clone());
        prop_assert_eq!(set.iter().count(), set.len());
        prop_assert_eq!(set.first(), cpus.iter().copied().min());
        prop_assert_eq!(set.last(), cpus.iter().copied().max());
    }

    #[test]
    fn mask_form_round_trips(
        cpus in prop::collection::vec(0usize..MAX_CPUS, 0..64),
        width in 1usize..=MAX_CPUS,
    ) {
        let set: CpuSet = cpus.iter().copied().filter(|&c| c < width).collect();
        prop_assert_eq!(CpuSet::from_mask(&set.mask(width)).unwrap(), set.clone());
        prop_assert_eq!(CpuSet::from_mask(&format!("00000000,{}", set.mask(MAX_CPUS))).unwrap(), set);
    }

    #[test]
    fn parser_never_panics(text in ".{0,40}") {
        let _ = text.parse::<CpuSet>();
        let _ = CpuSet::from_mask(&text);
    }
}

/// CPU numbers that fall on both sides of the words that lie in the set itself, and of the limit of small machines.
fn numbers() -> impl Strategy<Value = Vec<usize>> {
    let number = prop_oneof![0usize..MAX_CPUS, 250usize..262, 0usize..130];
    prop::collection::vec(number, 0..40)
}

fn of(naive: &BTreeSet<usize>) -> CpuSet {
    naive.iter().copied().collect()
}

fn hash(set: &CpuSet) -> u64 {
    let mut hasher = DefaultHasher::new();
    set.hash(&mut hasher);
    hasher.finish()
}

/// The order by words of 64 CPUs, the lowest first.
fn words(naive: &BTreeSet<usize>) -> Vec<u64> {
    let mut words = vec![0; MAX_CPUS / 64];
    naive.iter().for_each(|cpu| words[cpu / 64] |= 1 << (cpu % 64));
    words
}

#[test]
fn large_machines_have_lists_and_masks() {
    let set: CpuSet = "0-3,1023-1025,4096-8191".parse().unwrap();
    assert_eq!(set.to_string(), "0-3,1023-1025,4096-8191");
    assert_eq!((set.len(), set.last()), (4 + 3 + 4096, Some(8191)));
    let mask = set.mask(8192);
    assert_eq!(mask.split(',').count(), 256);
    assert!(mask.starts_with("ffffffff,") && mask.ends_with(",00000000,0000000f"), "{mask}");
    assert_eq!(CpuSet::from_mask(&mask).unwrap(), set);
    let error = "8192".parse::<CpuSet>().unwrap_err().to_string();
    assert_eq!(error, "found `8192`, expected a CPU list such as 0-3,8 with CPUs below 8192");
}

#[test]
fn clones_of_large_sets_change_alone() {
    let set = CpuSet::single(5000);
    let mut other = set.clone();
    other.insert(6000);
    other.remove(5000);
    assert_eq!((set.to_string().as_str(), other.to_string().as_str()), ("5000", "6000"));
    other.remove(6000);
    assert_eq!(other, CpuSet::EMPTY);
    assert_eq!(hash(&other), hash(&CpuSet::EMPTY));
}

proptest! {
    /// Whatever happens to a set, it holds what a `BTreeSet` holds after the same.
    #[test]
    fn behaves_as_a_naive_set(steps in prop::collection::vec((any::<bool>(), numbers()), 0..6)) {
        let (mut set, mut naive) = (CpuSet::EMPTY, BTreeSet::new());
        for (add, cpus) in steps {
            for cpu in cpus {
                if add {
                    set.insert(cpu);
                    naive.insert(cpu);
                } else {
                    set.remove(cpu);
                    naive.remove(&cpu);
                }
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), naive.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.len(), naive.len());
            prop_assert_eq!(set.is_empty(), naive.is_empty());
            prop_assert_eq!((set.first(), set.last()), (naive.first().copied(), naive.last().copied()));
            prop_assert_eq!(&set, &of(&naive));
            prop_assert_eq!(hash(&set), hash(&of(&naive)));
        }
    }

    #[test]
    fn operators_are_those_of_naive_sets(a in numbers(), b in numbers(), start in 0..MAX_CPUS) {
        let (a, b): (BTreeSet<usize>, BTreeSet<usize>) = (a.into_iter().collect(), b.into_iter().collect());
        let (x, y) = (of(&a), of(&b));
        prop_assert_eq!(&x | &y, of(&(&a | &b)));
        prop_assert_eq!(&x & &y, of(&(&a & &b)));
        prop_assert_eq!(&x - &y, of(&(&a - &b)));
        let mut both = x.clone();
        both |= &y;
        prop_assert_eq!(both, x.clone() | y.clone());
        prop_assert_eq!(x.intersection_len(&y), (&a & &b).len());
        prop_assert_eq!(x.iter_and(&y).collect::<CpuSet>(), &x & &y);
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert!((&x & &y).is_subset(&x) && x.is_subset(&(&x | &y)));
        prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
        prop_assert_eq!(x == y, a == b);
        prop_assert_eq!(x.cmp(&y), words(&a).cmp(&words(&b)));
        prop_assert!((0..MAX_CPUS).all(|cpu| x.contains(cpu) == a.contains(&cpu)));
        prop_assert!(!x.contains(MAX_CPUS) && !x.contains(usize::MAX));
        let wrapped: Vec<usize> = a.range(start..).chain(a.range(..start)).copied().collect();
        prop_assert_eq!(x.iter_wrap(start).collect::<Vec<_>>(), wrapped);
    }
}

use super::*;
use proptest::prelude::*;

#[test]
fn tables_descend() {
    assert_eq!(Table::new(&P).unwrap().khz(), P);
    let message = |khz: &[u64]| Table::new(khz).unwrap_err().to_string();
    assert_eq!(message(&[]), "P-states: found none, expected at least one");
    assert_eq!(message(&[2, 0]), "P1: found 0 kHz, expected more");
    assert_eq!(message(&[2, 2]), "P1: found 2 kHz again, expected less");
    assert_eq!(message(&[3, 1, 2]), "P2: found 2 kHz, expected less than 1 kHz of P1");
    assert_eq!(message(&[1 << 32]), "P0 in kHz: found 4294967296, expected 1 to 4294967295");
}

#[test]
fn relations_round_down_up_or_to_the_closest() {
    let table = Table::new(&P).unwrap();
    let all = |khz| {
        [Relation::Low, Relation::High, Relation::Closest]
            .map(|relation| table.resolve(khz, 0, u64::MAX, relation))
    };
    assert_eq!(all(2_000_000), [2_000_000; 3]);
    assert_eq!(all(2_000_001), [2_250_000, 2_000_000, 2_000_000]);
    // Midway between two the higher one is taken.
    assert_eq!(all(1_750_000), [2_000_000, 1_500_000, 2_000_000]);
    assert_eq!(all(1_749_999), [2_000_000, 1_500_000, 1_500_000]);
    assert_eq!(all(2_125_000), [2_250_000, 2_000_000, 2_250_000]);
    // Beyond the table there is only its end.
    assert_eq!(all(3_400_000), [2_250_000; 3]);
    assert_eq!(all(400_000), [1_500_000; 3]);
}

#[test]
fn limits_bound_the_target() {
    let table = Table::new(&P).unwrap();
    assert_eq!(table.resolve(2_250_000, 1_500_000, 2_000_000, Relation::Low), 2_000_000);
    assert_eq!(table.resolve(1_500_000, 2_000_000, 2_250_000, Relation::High), 2_000_000);
    // A limit between two entries is no entry: the search goes past it.
    assert_eq!(table.resolve(2_250_000, 1_500_000, 1_900_000, Relation::Low), 2_000_000);
}

fn tables() -> impl Strategy<Value = Table> {
    prop::collection::btree_set(1u64..5_000_000, 1..16)
        .prop_map(|set| Table::new(&set.into_iter().rev().collect::<Vec<_>>()).unwrap())
}

const RELATIONS: [Relation; 3] = [Relation::Low, Relation::High, Relation::Closest];

proptest! {
    /// Limits that are entries are kept, and more is never less.
    #[test]
    fn resolves_within_limits_and_in_order(
        table in tables(), a in 0u64..6_000_000, b in 0u64..6_000_000, i: prop::sample::Index, j: prop::sample::Index,
    ) {
        let (i, j) = (table.khz()[i.index(table.khz().len())], table.khz()[j.index(table.khz().len())]);
        let (min, max) = (i.min(j), i.max(j));
        let (a, b) = (a.min(b), a.max(b));
        for relation in RELATIONS {
            let (low, high) = (table.resolve(a, min, max, relation), table.resolve(b, min, max, relation));
            prop_assert!(min <= low && low <= high && high <= max);
            prop_assert!(table.khz().contains(&low));
        }
    }

    /// By the definition: no entry is a better answer than the one given.
    #[test]
    fn no_entry_is_better(table in tables(), target in 0u64..6_000_000) {
        let of = |relation| table.resolve(target, 0, u64::MAX, relation);
        let above = table.khz().iter().copied().filter(|&khz| khz >= target).min();
        let below = table.khz().iter().copied().filter(|&khz| khz <= target).max();
        prop_assert_eq!(of(Relation::Low), above.unwrap_or(table.highest_khz()));
        prop_assert_eq!(of(Relation::High), below.unwrap_or(table.lowest_khz()));
        let least = table.khz().iter().map(|khz| khz.abs_diff(target)).min();
        prop_assert_eq!(Some(of(Relation::Closest).abs_diff(target)), least);
    }
}

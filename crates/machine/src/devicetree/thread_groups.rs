//! `ibm,thread-groups`: how the threads of one core fall into groups.
//!
//! The property (PAPR) is an array of one or more parts; each is the number of what the threads of a group
//! share, the number of groups, the number of threads in a group, then the interrupt-server numbers of the
//! first group's threads, of the second's, and so on.

use crate::error::Fault;
use crate::model::ThreadGroupProperty;

/// Name of the property.
pub(super) const NAME: &str = "ibm,thread-groups";

/// One part of the property; groups hold positions in the core's list of threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) property: ThreadGroupProperty,
    pub(super) groups: Vec<Vec<usize>>,
}

/// Reads the `cells` of the property for a core with `threads` (its interrupt-server numbers, in order).
pub(super) fn parse(cells: &[u32], threads: &[u32]) -> Result<Vec<Part>, Fault> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = cells;
    while !rest.is_empty() || parts.is_empty() {
        let (header, after_header) = Header::read(rest, threads.len())?;
        let property = property(header.property);
        if parts.iter().any(|p| p.property == property) {
            return Err(Fault::new(
                format!("property {} twice", header.property),
                "each property once",
            ));
        }
        let Some((ids, after)) = after_header.split_at_checked(header.threads()) else {
            return Err(Fault::new(
                format!("{} thread ids for property {}", after_header.len(), header.property),
                format!("{} ({} groups of {})", header.threads(), header.groups, header.per_group),
            ));
        };
        parts.push(Part { property, groups: groups(ids, header.per_group, threads)? });
        rest = after;
    }
    Ok(parts)
}

/// The first three cells of a part.
struct Header {
    property: u32,
    groups: usize,
    per_group: usize,
}

impl Header {
    /// Reads a header for a core of `core_threads`; also gives the cells that follow it.
    fn read(cells: &[u32], core_threads: usize) -> Result<(Header, &[u32]), Fault> {
        let Some((&[property, groups, per_group], rest)) = cells.split_first_chunk::<3>() else {
            return Err(Fault::new(
                format!("a part of {} cells", cells.len()),
                "property, number of groups and threads per group",
            ));
        };
        let shape = format!("property {property} with {groups} groups of {per_group} threads");
        if groups == 0 || per_group == 0 {
            return Err(Fault::new(shape, "at least 1 of each"));
        }
        match groups.checked_mul(per_group) {
            None => Err(Fault::new(shape, "a product below 2^32")),
            Some(count) if count as usize > core_threads => {
                Err(Fault::new(shape, format!("at most the core's {core_threads} threads")))
            }
            Some(_) => {
                let (groups, per_group) = (groups as usize, per_group as usize);
                Ok((Header { property, groups, per_group }, rest))
            }
        }
    }

    /// Threads in all groups; at most the core's.
    fn threads(&self) -> usize {
        self.groups * self.per_group
    }
}

fn property(number: u32) -> ThreadGroupProperty {
    match number {
        1 => ThreadGroupProperty::L1,
        2 => ThreadGroupProperty::L2,
        other => ThreadGroupProperty::Other(other),
    }
}

/// Turns ids into positions in the core, and checks that every thread is there once.
fn groups(ids: &[u32], per_group: usize, threads: &[u32]) -> Result<Vec<Vec<usize>>, Fault> {
    let mut seen = vec![false; threads.len()];
    let mut positions = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(position) = threads.iter().position(|t| t == id) else {
            return Err(Fault::new(format!("thread id {id}"), format!("one of {threads:?}")));
        };
        if seen[position] {
            return Err(Fault::new(format!("thread id {id} twice"), "each thread once"));
        }
        seen[position] = true;
        positions.push(position);
    }
    if let Some(missing) = seen.iter().position(|s| !s) {
        return Err(Fault::new(
            format!("no group with thread id {}", threads[missing]),
            format!("a group for each of {threads:?}"),
        ));
    }
    Ok(positions.chunks(per_group).map(<[usize]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devicetree::read;
    use crate::devicetree::testing::{core, machine};
    use proptest::prelude::*;

    const CORE: [u32; 4] = [8, 9, 10, 11];

    /// The error of a machine whose second core carries `cells`.
    fn error(cells: &[u32]) -> String {
        let cores = vec![core(&[0, 1, 2, 3]), core(&CORE).cells(NAME, cells)];
        read(&machine(cores).blob(), "t.dtb").unwrap_err().to_string()
    }

    #[test]
    fn reads_parts_of_several_properties() {
        let cells = [1, 2, 2, 8, 10, 9, 11, 2, 1, 4, 8, 9, 10, 11, 7, 4, 1, 11, 10, 9, 8];
        let parts = parse(&cells, &CORE).unwrap();
        let shape: Vec<_> = parts.iter().map(|p| (p.property, p.groups.clone())).collect();
        assert_eq!(
            shape,
            [
                (ThreadGroupProperty::L1, vec![vec![0, 2], vec![1, 3]]),
                (ThreadGroupProperty::L2, vec![vec![0, 1, 2, 3]]),
                (ThreadGroupProperty::Other(7), vec![vec![3], vec![2], vec![1], vec![0]]),
            ]
        );
    }

    #[test]
    fn names_file_node_and_property() {
        assert_eq!(
            error(&[1, 0, 4]),
            "t.dtb: /cpus/PowerPC,POWER9@8 ibm,thread-groups: \
             found property 1 with 0 groups of 4 threads, expected at least 1 of each"
        );
    }

    #[test]
    fn refuses_every_malformed_array() {
        let whole = [1, 2, 2, 8, 10, 9, 11];
        let twice = [whole, whole].concat();
        for (cells, wanted) in [
            (&[][..], "found a part of 0 cells, expected property, number of groups and threads"),
            (&[1, 2], "found a part of 2 cells"),
            (&[1, 2, 2, 8, 10, 9, 11, 2], "found a part of 1 cells"),
            (
                &[1, 2, 0],
                "found property 1 with 2 groups of 0 threads, expected at least 1 of each",
            ),
            (&[1, 65536, 65536], "65536 groups of 65536 threads, expected a product below 2^32"),
            (&[1, 2, 4, 8, 9, 10, 11, 8, 9, 10, 11], "expected at most the core's 4 threads"),
            (&[1, 2, 2, 8, 10, 9], "found 3 thread ids for property 1, expected 4 (2 groups of 2)"),
            (&[1, 2, 2, 8, 10, 9, 0], "found thread id 0, expected one of [8, 9, 10, 11]"),
            (&[1, 2, 2, 8, 10, 9, 8], "found thread id 8 twice, expected each thread once"),
            (&[1, 1, 2, 8, 10], "found no group with thread id 9, expected a group for each of"),
            (&twice, "found property 1 twice, expected each property once"),
        ] {
            let error = error(cells);
            assert!(error.contains(wanted), "{cells:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn accepted_groups_partition_the_core(
            cells in prop::collection::vec(prop_oneof![4 => 0u32..4, 1 => any::<u32>()], 0..20),
            threads in 1usize..5,
        ) {
            let ids: Vec<u32> = (0..threads as u32).collect();
            if let Ok(parts) = parse(&cells, &ids) {
                for part in parts {
                    let mut all = part.groups.concat();
                    all.sort_unstable();
                    prop_assert_eq!(all, (0..threads).collect::<Vec<_>>());
                }
            }
        }

        #[test]
        fn any_division_of_a_core_reads_back(
            ids in prop::sample::subsequence((0u32..64).collect::<Vec<_>>(), 8).prop_shuffle(),
            order in Just((0usize..8).collect::<Vec<_>>()).prop_shuffle(),
            per_group in prop::sample::select(vec![1u32, 2, 4, 8]),
        ) {
            let mut cells = vec![1, 8 / per_group, per_group];
            cells.extend(order.iter().map(|&p| ids[p]));
            let parts = parse(&cells, &ids).unwrap();
            prop_assert_eq!(parts[0].groups.concat(), order);
            prop_assert!(parts[0].groups.iter().all(|g| g.len() == per_group as usize));
        }
    }
}

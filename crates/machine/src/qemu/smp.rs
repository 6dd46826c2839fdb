//! `-smp`: counts of units and QEMU's rules for those that are left out (`machine_parse_smp_config`).

use super::OptionFault;
use super::board::{Board, Kind};
use super::options::{items, number};
use crate::cpuset::MAX_CPUS;
use crate::error::Fault;
use crate::layout::Counts;

/// What `-smp` comes to.
#[derive(Debug)]
pub(super) struct Smp {
    pub(super) counts: Counts,
    /// CPUs at boot.
    pub(super) cpus: u32,
    /// CPUs that there can be; the product of the counts.
    pub(super) maxcpus: u32,
    /// Whether `clusters` was given, even as 1.
    pub(super) clusters_given: bool,
}

/// Counts by their names in `-smp`; 0 where one is left out.
#[derive(Debug, Default)]
struct Given {
    cpus: u32,
    maxcpus: u32,
    sockets: u32,
    dies: u32,
    clusters: u32,
    modules: u32,
    cores: u32,
    threads: u32,
}

fn fault(field: &str, found: impl Into<String>, expected: impl Into<String>) -> OptionFault {
    let place = if field.is_empty() { "-smp".to_string() } else { format!("-smp {field}") };
    (place, Fault::new(found, expected))
}

pub(super) fn read(text: Option<&str>, board: &Board) -> Result<Smp, OptionFault> {
    let given = given(text.unwrap_or("1"))?;
    let Kind::Pc = board.kind else {
        refuse("dies", given.dies)?;
        refuse("modules", given.modules)?;
        if board.kind != Kind::Virt {
            refuse("clusters", given.clusters)?;
        }
        return complete(given, board.prefers_sockets);
    };
    refuse("clusters", given.clusters)?;
    complete(given, board.prefers_sockets)
}

/// A unit that the machine type does not have may be left out or counted as 1.
fn refuse(field: &str, count: u32) -> Result<(), OptionFault> {
    match count > 1 {
        true => Err(fault(field, count.to_string(), "1, as this machine type has no such unit")),
        false => Ok(()),
    }
}

fn given(text: &str) -> Result<Given, OptionFault> {
    let mut given = Given::default();
    for (i, mut item) in items(text).into_iter().enumerate() {
        if i == 0 && item.value.is_none() {
            item.value = Some(std::mem::replace(&mut item.key, "cpus".to_string()));
        }
        let slot = match item.key.as_str() {
            "cpus" => &mut given.cpus,
            "maxcpus" => &mut given.maxcpus,
            "sockets" => &mut given.sockets,
            "dies" => &mut given.dies,
            "clusters" => &mut given.clusters,
            "modules" => &mut given.modules,
            "cores" => &mut given.cores,
            "threads" => &mut given.threads,
            other => {
                let expected = "cpus, maxcpus, sockets, dies, clusters, modules, cores or threads";
                return Err(fault(other, "an unknown parameter", expected));
            }
        };
        *slot = number("-smp", &item)?;
        if !(1..=MAX_CPUS as u32).contains(slot) {
            return Err(fault(&item.key, slot.to_string(), format!("1 to {MAX_CPUS}")));
        }
    }
    Ok(given)
}

/// Fills in what is left out: cores before sockets since 6.2, sockets before cores until then, threads last.
fn complete(mut given: Given, prefers_sockets: bool) -> Result<Smp, OptionFault> {
    let clusters_given = given.clusters > 0;
    at_least_one([&mut given.dies, &mut given.clusters, &mut given.modules]);
    // Each count is at most MAX_CPUS, so that six of them fit into 64 bits.
    let inner = u64::from(given.dies) * u64::from(given.clusters) * u64::from(given.modules);
    let share = |maxcpus: u32, of: &[u32]| {
        let units = of.iter().fold(inner, |product, &n| product * u64::from(n));
        (u64::from(maxcpus) / units) as u32
    };
    if given.cpus == 0 && given.maxcpus == 0 {
        at_least_one([&mut given.sockets, &mut given.cores, &mut given.threads]);
    } else {
        let maxcpus = if given.maxcpus > 0 { given.maxcpus } else { given.cpus };
        if prefers_sockets && given.sockets == 0 {
            at_least_one([&mut given.cores, &mut given.threads]);
            given.sockets = share(maxcpus, &[given.cores, given.threads]);
        } else if given.cores == 0 {
            at_least_one([&mut given.sockets, &mut given.threads]);
            given.cores = share(maxcpus, &[given.sockets, given.threads]);
        } else if given.sockets == 0 {
            at_least_one([&mut given.threads]);
            given.sockets = share(maxcpus, &[given.cores, given.threads]);
        }
        if given.threads == 0 {
            given.threads = share(maxcpus, &[given.sockets, given.cores]);
        }
    }
    let product = [given.sockets, given.cores, given.threads]
        .iter()
        .fold(inner, |product, &n| product * u64::from(n));
    let or = |count: u32, other: u64| if count > 0 { u64::from(count) } else { other };
    let maxcpus = or(given.maxcpus, or(given.cpus, product));
    let cpus = or(given.cpus, maxcpus);
    if product != maxcpus {
        let found = format!(
            "sockets ({}) * dies ({}) * clusters ({}) * modules ({}) * cores ({}) * threads ({}) = {product}",
            given.sockets, given.dies, given.clusters, given.modules, given.cores, given.threads
        );
        return Err(fault("", found, format!("maxcpus ({maxcpus})")));
    }
    if cpus > maxcpus || maxcpus > MAX_CPUS as u64 {
        let expected = format!("no more than maxcpus, and that no more than {MAX_CPUS}");
        return Err(fault("", format!("{cpus} of {maxcpus} CPUs"), expected));
    }
    Ok(Smp {
        counts: Counts {
            packages: given.sockets,
            dies: given.dies,
            clusters: given.clusters,
            modules: given.modules,
            cores: given.cores,
            threads: given.threads,
        },
        cpus: cpus as u32,
        maxcpus: maxcpus as u32,
        clusters_given,
    })
}

fn at_least_one<const N: usize>(counts: [&mut u32; N]) {
    for count in counts {
        *count = (*count).max(1);
    }
}

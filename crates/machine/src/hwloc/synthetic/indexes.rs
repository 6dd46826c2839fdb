//! The attribute `indexes` of a level: a list, loops as `step*count`, or types whose levels are the loops.

use super::attributes::number;
use super::level::{Description, Level};
use super::types;
use crate::error::Fault;
use crate::hwloc::topology::Kind;

/// A loop: of objects in order, `step` are passed at each of `count` turns.
#[derive(Clone, Copy)]
struct Loop {
    step: usize,
    count: usize,
}

/// The numbers that `text` gives to `total` objects in order.
pub(super) fn read(text: &str, total: usize, description: &Description) -> Result<Vec<u32>, Fault> {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b',') {
        return list(text, total);
    }
    let loops = match text.starts_with(|c: char| c.is_ascii_digit()) {
        true => text.split(':').map(written).collect::<Result<Vec<_>, _>>()?,
        false => by_types(text, total, description)?,
    };
    interleave(text, loops, total)
}

fn list(text: &str, total: usize) -> Result<Vec<u32>, Fault> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match numbers {
        Ok(numbers) if numbers.len() == total => Ok(numbers),
        _ => Err(Fault::new(format!("indexes `{text}`"), format!("{total} numbers below 2^32"))),
    }
}

/// `step*count`.
fn written(text: &str) -> Result<Loop, Fault> {
    let part = |text: &str| number(text).and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    text.split_once('*')
        .and_then(|(step, count)| Some(Loop { step: part(step)?, count: part(count)? }))
        .ok_or_else(|| Fault::new(format!("indexes `{text}`"), "step*count, both from 1"))
}

/// The loops over the levels of types, such as `numa:core`: each counts the level's objects in one of the next level
/// above that is named, too.
fn by_types(text: &str, total: usize, description: &Description) -> Result<Vec<Loop>, Fault> {
    let fault = |what: &str| Fault::new(format!("indexes `{text}`"), what);
    let mut places = Vec::new();
    for name in text.split(':') {
        let (kind, depth) = types::named(name)?;
        let same = |level: &Level| {
            level.kind.is_some_and(|k| k.same_type(kind))
                && (kind != Kind::Group || depth.is_none() || depth == level.group_depth)
        };
        let place = description.levels.iter().position(same);
        let place = place.ok_or_else(|| fault("types that are levels"))?;
        if places.contains(&place) {
            return Err(fault("each type once"));
        }
        places.push(place);
    }
    let width = |place: usize| description.levels.get(place).map_or(1, |level| level.width);
    let of = |place: &usize| {
        let above = places.iter().filter(|other| *other < place).max().copied().unwrap_or(0);
        Loop { step: total / width(*place), count: width(*place) / width(above) }
    };
    let loops: Vec<Loop> = places.iter().map(of).collect();
    match loops.iter().all(|l| l.step > 0 && l.count > 0) {
        true => Ok(loops),
        false => Err(fault("levels that are not wider than the one with indexes")),
    }
}

/// Runs the loops, the first the fastest. A missing last loop over single objects is added.
fn interleave(text: &str, mut loops: Vec<Loop>, total: usize) -> Result<Vec<u32>, Fault> {
    let fault = || {
        let expected = format!("loops that give each number below {total} once");
        Fault::new(format!("indexes `{text}`"), expected)
    };
    let turns = |loops: &[Loop]| loops.iter().try_fold(1usize, |n, l| n.checked_mul(l.count));
    let covered = turns(&loops).filter(|n| total.is_multiple_of(*n)).ok_or_else(fault)?;
    if covered != total {
        let smallest = loops.iter().map(|l| l.step).min();
        if smallest != Some(total / covered) {
            return Err(fault());
        }
        loops.push(Loop { step: 1, count: total / covered });
    }
    let mut numbers = vec![0usize; total];
    let mut unit = 1;
    for l in loops {
        for (place, number) in numbers.iter_mut().enumerate() {
            *number += place / l.step % l.count * unit;
        }
        unit *= l.count;
    }
    let mut seen = vec![false; total];
    for &number in &numbers {
        match seen.get_mut(number) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(fault()),
        }
    }
    Ok(numbers.into_iter().map(|n| n as u32).collect())
}

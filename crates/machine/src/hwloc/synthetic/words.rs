//! A synthetic string to its levels.

use super::attributes;
use super::level::{Attributes, Description, Level};
use super::types;
use crate::cpuset::MAX_CPUS;
use crate::error::{Fault, MachineError};
use crate::hwloc::Source;
use crate::hwloc::topology::Kind;

/// Most levels of a string, as in hwloc.
const MAX_LEVELS: usize = 128;

/// Reads all levels and attached nodes.
pub(super) fn read(spec: &str, source: &Source<'_>) -> Result<Description, MachineError> {
    let mut reader = Reader { spec, rest: spec, levels: Vec::new() };
    reader.read().map_err(|fault| {
        let at = spec.len() - reader.rest.len() + 1;
        source.error(format!("character {at}"), fault)
    })?;
    Ok(Description { levels: reader.levels })
}

struct Reader<'s> {
    spec: &'s str,
    /// What is not read yet.
    rest: &'s str,
    levels: Vec<Level>,
}

impl<'s> Reader<'s> {
    fn read(&mut self) -> Result<(), Fault> {
        let mut machine = Level::new(Some(Kind::Machine), 1);
        if self.spec.starts_with('(') {
            machine.attributes = self.attributes(Some(Kind::Machine))?;
        }
        self.levels.push(machine);
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\n']);
            if self.rest.is_empty() {
                break;
            }
            match self.rest.strip_prefix('[') {
                Some(inside) => self.attached(inside)?,
                None => self.level()?,
            }
        }
        match self.levels.len() {
            1 => Err(Fault::new("no level", "at least a number of PUs")),
            _ => Ok(()),
        }
    }

    /// `type:number(attributes)` or `number(attributes)`.
    fn level(&mut self) -> Result<(), Fault> {
        let mut level = Level::new(None, 0);
        if !self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            let end = self.rest.find([':', ' ', '(', '[', ')']).unwrap_or(self.rest.len());
            let (name, behind) = self.rest.split_at(end);
            let (kind, group_depth) = types::named(name)?;
            if kind == Kind::Machine {
                return Err(Fault::new(format!("`{name}`"), "a level below the machine"));
            }
            let Some(number) = behind.strip_prefix(':') else {
                return Err(Fault::new(format!("`{name}`"), format!("`{name}:` and a number")));
            };
            level.kind = Some(kind);
            level.group_depth = group_depth;
            self.rest = number;
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (text, behind) = self.rest.split_at(end);
        let arity = attributes::number(text)
            .filter(|&n| n > 0)
            .ok_or_else(|| Fault::new(format!("`{text}`"), "a number from 1"))?;
        let above = self.levels.last().map_or(1, |level| level.width);
        let width = usize::try_from(arity).ok().and_then(|n| n.checked_mul(above));
        let Some(width) = width.filter(|&width| width <= MAX_CPUS) else {
            let found = format!("{above} times {arity} objects of a level");
            return Err(Fault::new(found, format!("{MAX_CPUS} at most")));
        };
        level.width = width;
        self.rest = behind;
        if self.rest.starts_with('(') {
            level.attributes = self.attributes(level.kind)?;
        }
        if self.levels.len() >= MAX_LEVELS {
            return Err(Fault::new("another level", format!("{MAX_LEVELS} at most")));
        }
        self.levels.push(level);
        Ok(())
    }

    /// `[numa(attributes)]`; `inside` is what follows the bracket.
    fn attached(&mut self, inside: &'s str) -> Result<(), Fault> {
        let end = inside.find(['(', ']']).unwrap_or(inside.len());
        let (name, behind) = inside.split_at(end);
        if types::named(name.trim())?.0 != Kind::Node {
            return Err(Fault::new(format!("`[{name}`"), "[numa], a NUMA node"));
        }
        self.rest = behind;
        let attributes = match behind.starts_with('(') {
            true => self.attributes(Some(Kind::Node))?,
            false => Attributes::default(),
        };
        let Some(rest) = self.rest.strip_prefix(']') else {
            return Err(Fault::new(format!("`{}`", self.rest), "a closing `]`"));
        };
        self.rest = rest;
        if let Some(level) = self.levels.last_mut() {
            level.attached.push(attributes);
        }
        Ok(())
    }

    /// The parentheses that `rest` starts with.
    fn attributes(&mut self, kind: Option<Kind>) -> Result<Attributes, Fault> {
        let Some((inside, behind)) = self.rest.get(1..).and_then(|text| text.split_once(')'))
        else {
            return Err(Fault::new(format!("`{}`", self.rest), "a closing `)`"));
        };
        let attributes = attributes::read(inside, kind)?;
        self.rest = behind;
        Ok(attributes)
    }
}

//! `memrun` events, and the buffers they share.

use super::RtAppError;
use super::ast::{Access, Action, MemRun, RtApp};
use super::fields::Item;
use std::collections::BTreeMap;

/// rt-app's bytes between pointers where the event does not say.
const STRIDE: u32 = 64;

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write,
    Chase,
}

pub(super) fn read(item: &Item<'_>) -> Result<MemRun, RtAppError> {
    let mut fields = item.fields("an object with `type`, `size` and `count`")?;
    let kinds = [("read", Kind::Read), ("write", Kind::Write), ("chase", Kind::Chase)];
    let missing = |name: &str| item.error(&format!("no `{name}`"), "`type`, `size` and `count`");
    let kind = fields.get("type", |i| i.one_of(&kinds))?.ok_or_else(|| missing("type"))?;
    let size = fields.get("size", |i| i.count(1, "a size of at least 1 byte"))?;
    let count = fields.get("count", |i| i.count(0, "a number of bytes or pointers"))?;
    let shared = fields.get("ref", |i| i.string("the name of a buffer"))?;
    let access = match kind {
        Kind::Read => Access::Read,
        Kind::Write => Access::Write,
        Kind::Chase => {
            let stride = fields.get("stride", |i| i.count(1, "at least 1 byte"))?;
            let pattern =
                fields.get("pattern", |i| i.one_of(&[("random", true), ("sequential", false)]))?;
            Access::Chase { stride: stride.unwrap_or(STRIDE), random: pattern.unwrap_or(true) }
        }
    };
    fields.finish("`type`, `size`, `count`, `ref`, or for a chase `stride` or `pattern`")?;
    Ok(MemRun {
        size: size.ok_or_else(|| missing("size"))?,
        count: count.ok_or_else(|| missing("count"))?,
        access,
        shared,
    })
}

/// Events of one kind that share a buffer have to agree on it: `validate_init_args` of rt-app.
pub(super) fn check_shared(app: &RtApp) -> Result<(), RtAppError> {
    let mut buffers: BTreeMap<(&str, u8), (u32, Access)> = BTreeMap::new();
    for task in &app.tasks {
        for phase in &task.phases {
            for event in &phase.events {
                let Action::MemRun(memrun) = &event.action else { continue };
                let Some(name) = memrun.shared.as_deref() else { continue };
                let kind = match memrun.access {
                    Access::Read => 0,
                    Access::Write => 1,
                    Access::Chase { .. } => 2,
                };
                let layout = (memrun.size, memrun.access);
                if *buffers.entry((name, kind)).or_insert(layout) != layout {
                    return Err(RtAppError::Field {
                        file: app.file.clone(),
                        line: event.line,
                        column: 1,
                        path: app.path(task, phase, event),
                        found: format!("another size, stride or pattern of the buffer {name}"),
                        expected: "the same wherever it is named".to_string(),
                    });
                }
            }
        }
    }
    Ok(())
}

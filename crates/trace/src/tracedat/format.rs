//! Layout of records, which a trace.dat contains in the form of tracefs's `format` files.

/// Bytes of a record before the event's own fields.
const COMMON: [Field; 4] = [
    Field { declaration: "unsigned short common_type", size: 2, signed: false },
    Field { declaration: "unsigned char common_flags", size: 1, signed: false },
    Field { declaration: "unsigned char common_preempt_count", size: 1, signed: false },
    Field { declaration: "int common_pid", size: 4, signed: true },
];

/// Layout of a ring-buffer page (`ring_buffer_print_page_header`) on a 64-bit kernel.
pub(super) const PAGE_HEADER: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
";

/// Layout of a record's header in a page (`ring_buffer_print_entry_header`).
pub(super) const ENTRY_HEADER: &str = "\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
";

/// One field of a record.
#[derive(Debug)]
pub(super) struct Field {
    declaration: &'static str,
    size: usize,
    signed: bool,
}

/// Layout of the records of one event.
#[derive(Debug)]
pub(super) struct Format {
    /// Its number in `common_type`. Every kernel build has its own numbers.
    pub id: u16,
    /// The event's name.
    pub name: &'static str,
    fields: &'static [Field],
    /// Format string of its text, with arguments.
    print: &'static str,
}

const COMM: Field = Field { declaration: "char comm[16]", size: 16, signed: false };
const PID: Field = Field { declaration: "pid_t pid", size: 4, signed: true };
const PRIO: Field = Field { declaration: "int prio", size: 4, signed: true };
/// `sched_wakeup_template` since 6.1.
const WAKEUP: &[Field] =
    &[COMM, PID, PRIO, Field { declaration: "int target_cpu", size: 4, signed: true }];
const WAKEUP_PRINT: &str =
    r#""comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu"#;
/// `cpu` of the power events.
const POWER: &[Field] = &[
    Field { declaration: "u32 state", size: 4, signed: false },
    Field { declaration: "u32 cpu_id", size: 4, signed: false },
];
const POWER_PRINT: &str =
    r#""state=%lu cpu_id=%lu", (unsigned long)REC->state, (unsigned long)REC->cpu_id"#;

/// `sched_switch`.
pub(super) const SWITCH: Format = Format {
    id: 301,
    name: "sched_switch",
    fields: &[
        Field { declaration: "char prev_comm[16]", size: 16, signed: false },
        Field { declaration: "pid_t prev_pid", size: 4, signed: true },
        Field { declaration: "int prev_prio", size: 4, signed: true },
        Field { declaration: "long prev_state", size: 8, signed: true },
        Field { declaration: "char next_comm[16]", size: 16, signed: false },
        Field { declaration: "pid_t next_pid", size: 4, signed: true },
        Field { declaration: "int next_prio", size: 4, signed: true },
    ],
    print: r#""prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x01, "S" }, { 0x02, "D" }, { 0x04, "T" }, { 0x08, "t" }, { 0x10, "X" }, { 0x20, "Z" }, { 0x40, "P" }, { 0x80, "I" }) : "R", REC->prev_state & 0x100 ? "+" : "", REC->next_comm, REC->next_pid, REC->next_prio"#,
};
/// `sched_waking`.
pub(super) const WAKING: Format =
    Format { id: 302, name: "sched_waking", fields: WAKEUP, print: WAKEUP_PRINT };
/// `sched_wakeup`.
pub(super) const WOKEN: Format =
    Format { id: 303, name: "sched_wakeup", fields: WAKEUP, print: WAKEUP_PRINT };
/// `sched_wakeup_new`.
pub(super) const WOKEN_NEW: Format =
    Format { id: 304, name: "sched_wakeup_new", fields: WAKEUP, print: WAKEUP_PRINT };
/// `sched_migrate_task`.
pub(super) const MIGRATE: Format = Format {
    id: 305,
    name: "sched_migrate_task",
    fields: &[
        COMM,
        PID,
        PRIO,
        Field { declaration: "int orig_cpu", size: 4, signed: true },
        Field { declaration: "int dest_cpu", size: 4, signed: true },
    ],
    print: r#""comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu"#,
};
/// `cpu_frequency`.
pub(super) const FREQUENCY: Format =
    Format { id: 311, name: "cpu_frequency", fields: POWER, print: POWER_PRINT };
/// `cpu_idle`.
pub(super) const IDLE: Format =
    Format { id: 312, name: "cpu_idle", fields: POWER, print: POWER_PRINT };

/// Events by subsystem.
pub(super) const SYSTEMS: [(&str, &[&Format]); 2] =
    [("sched", &[&SWITCH, &WAKING, &WOKEN, &WOKEN_NEW, &MIGRATE]), ("power", &[&FREQUENCY, &IDLE])];

impl Format {
    /// Bytes of a record, a multiple of 4.
    pub(super) const fn size(&self) -> usize {
        let mut size = 8;
        let mut at = 0;
        while at < self.fields.len() {
            size += self.fields[at].size;
            at += 1;
        }
        size
    }

    /// The contents of `events/SYSTEM/NAME/format`.
    pub(super) fn text(&self) -> String {
        let mut text = format!("name: {}\nID: {}\nformat:\n", self.name, self.id);
        let mut offset = 0;
        let mut add = |text: &mut String, field: &Field| {
            let Field { declaration, size, signed } = field;
            let signed = u8::from(*signed);
            text.push_str(&format!(
                "\tfield:{declaration};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n"
            ));
            offset += size;
        };
        COMMON.iter().for_each(|f| add(&mut text, f));
        text.push('\n');
        self.fields.iter().for_each(|f| add(&mut text, f));
        text.push_str(&format!("\nprint fmt: {}\n", self.print));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_tracefs() {
        let sizes = [64, 36, 36, 36, 40, 16, 16];
        let of = SYSTEMS.iter().flat_map(|s| s.1).map(|f| f.size());
        assert!(of.eq(sizes));
        let text = SWITCH.text();
        assert!(text.contains("\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"));
        assert!(text.contains("\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"));
    }
}

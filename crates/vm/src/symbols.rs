//! Functions of a kernel and where they are, as a guest says in `/proc/kallsyms`.
//!
//! A kernel that does not move itself at boot (`nokaslr`) has them at the same addresses in each boot, so they are asked for once and
//! kept by the image's checksum.

use crate::VmError;

/// A kernel's functions by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Where each begins, in order.
    functions: Vec<(u64, String)>,
}

/// What lock functions do, by how their names begin; the first that fits.
const LOCK_FUNCTIONS: [(&str, &[&str]); 7] = [
    ("try", &["_raw_spin_trylock"]),
    (
        "spin",
        &[
            "_raw_spin_",
            "__raw_spin_",
            "queued_spin_lock_slowpath",
            "native_queued_spin_lock_slowpath",
            "__pv_queued_spin_",
            "__raw_callee_save___pv_queued_spin_",
            "__raw_callee_save___native_queued_spin_",
            "do_raw_spin_",
        ],
    ),
    (
        "rw",
        &[
            "_raw_read_",
            "_raw_write_",
            "__raw_read_",
            "__raw_write_",
            "queued_read_lock_slowpath",
            "queued_write_lock_slowpath",
        ],
    ),
    ("mutex", &["mutex_lock", "mutex_trylock", "mutex_unlock", "__mutex_lock", "__mutex_unlock"]),
    (
        "helper",
        &[
            "__cond_resched",
            "_cond_resched",
            "dynamic_cond_resched",
            "__SCT__cond_resched",
            "__SCT__might_resched",
            "__SCT__preempt_schedule",
            "rcu_all_qs",
            "__x86_return_thunk",
            "__x86_indirect_thunk_",
            "srso_",
            "retbleed_",
            "preempt_count_",
        ],
    ),
    ("queue", &["raw_spin_rq_lock_nested", "__schedule"]),
    ("rwsem", &["down_read", "down_write", "up_read", "up_write", "rwsem_", "downgrade_write"]),
];
/// The function that a kernel lacks where it inlines spinlocks.
const SPINLOCK: &str = "_raw_spin_lock";

impl Symbols {
    /// Those of `/proc/kallsyms`, without modules'.
    ///
    /// # Errors
    /// The first line that is none of it; a text without functions, as programs see it that may not know addresses.
    pub fn parse(text: &str) -> Result<Symbols, String> {
        let mut functions = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split_whitespace();
            let of = (|| {
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                Some((address, words.next()?, words.next()?, words.next()))
            })();
            let (address, kind, name, module) = of.ok_or_else(|| {
                format!("line {}: found `{line}`, expected address, type and name", at + 1)
            })?;
            if module.is_none() && matches!(kind, "t" | "T" | "w" | "W") && address >> 63 == 1 {
                functions.push((address, name.to_owned()));
            }
        }
        if functions.is_empty() {
            return Err("found no function with an address, expected a kernel's".to_owned());
        }
        // Of several names the same each time.
        functions.sort_unstable();
        functions.dedup_by_key(|(address, _)| *address);
        Ok(Symbols { functions })
    }

    /// The function at `address`, without what a compiler adds to its name (`.isra.0`).
    pub fn function_at(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, _)| *start <= address);
        let (_, name) = self.functions.get(after.checked_sub(1)?)?;
        Some(name.split('.').next().unwrap_or(name))
    }

    /// Where lock functions are, as the plugin reads it (`text.c`).
    pub fn lock_functions(&self) -> String {
        let mut lines = String::new();
        let ends = self.functions.iter().skip(1).map(|(start, _)| *start);
        for ((start, name), end) in self.functions.iter().zip(ends) {
            if let Some(kind) = lock_function(name) {
                lines.push_str(&format!("{kind} {start:x} {end:x}\n"));
            }
        }
        if !self.functions.iter().any(|(_, name)| name == SPINLOCK) {
            lines.push_str("inlined\n");
        }
        lines
    }

    /// The text that [`Symbols::parse`] reads.
    pub fn text(&self) -> String {
        self.functions.iter().map(|(address, name)| format!("{address:016x} t {name}\n")).collect()
    }
}

fn lock_function(name: &str) -> Option<&'static str> {
    let begins = |of: &[&str]| of.iter().any(|prefix| name.starts_with(prefix));
    LOCK_FUNCTIONS.iter().find(|(_, prefixes)| begins(prefixes)).map(|(kind, _)| *kind)
}

impl crate::Cache {
    /// The functions of `kernel`: those that are kept, or what `ask` finds in a guest's `/proc/kallsyms`.
    ///
    /// # Errors
    /// What `ask` says, a text that is none of it, and files that cannot be read or written.
    pub(crate) fn symbols(
        &self,
        kernel: &crate::KernelImage,
        ask: impl FnOnce() -> Result<String, VmError>,
    ) -> Result<Symbols, VmError> {
        let dir = self.dir().join("symbols");
        let image = std::fs::read(&kernel.image).map_err(VmError::io(&kernel.image))?;
        let path = dir.join(crate::compile::checksum([image.as_slice()]));
        let parsed = |text: &str| {
            Symbols::parse(text).map_err(|message| VmError::Failed {
                program: "/proc/kallsyms".to_owned(),
                status: format!("of kernel {}", kernel.release),
                message,
            })
        };
        if path.exists() {
            return parsed(&std::fs::read_to_string(&path).map_err(VmError::io(&path))?);
        }
        let symbols = parsed(&ask()?)?;
        std::fs::create_dir_all(&dir).map_err(VmError::io(&dir))?;
        let file = tempfile::NamedTempFile::new_in(&dir).map_err(VmError::io(&dir))?;
        std::fs::write(file.path(), symbols.text()).map_err(VmError::io(file.path()))?;
        file.persist(&path).map_err(|e| VmError::io(&path)(e.error))?;
        Ok(symbols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0000000000000000 A fixed_percpu_data\n\
        ffffffff81000000 T _text\nffffffff81000100 t __schedule\nffffffff81000300 T _raw_spin_lock\n\
        ffffffff81000340 T _raw_spin_trylock\nffffffff81000380 t pipe_read.isra.0\n\
        ffffffff82000000 D jiffies\nffffffffc0000000 t helper\t[module]\n";

    #[test]
    fn functions_by_address() {
        let symbols = Symbols::parse(TEXT).unwrap();
        for (address, name) in [
            (0xffff_ffff_8100_0100, Some("__schedule")),
            (0xffff_ffff_8100_02ff, Some("__schedule")),
            (0xffff_ffff_8100_0399, Some("pipe_read")),
            (0x1000, None),
        ] {
            assert_eq!(symbols.function_at(address), name);
        }
        assert_eq!(Symbols::parse(&symbols.text()), Ok(symbols));
    }

    #[test]
    fn lock_functions_and_kernels_that_inline_them() {
        let found = Symbols::parse(TEXT).unwrap().lock_functions();
        assert_eq!(
            found,
            "queue ffffffff81000100 ffffffff81000300\nspin ffffffff81000300 ffffffff81000340\n\
             try ffffffff81000340 ffffffff81000380\n"
        );
        let without: String =
            TEXT.lines().filter(|l| !l.ends_with("_lock")).map(|l| format!("{l}\n")).collect();
        assert!(Symbols::parse(&without).unwrap().lock_functions().ends_with("inlined\n"));
    }

    #[test]
    fn rubbish_is_named() {
        for (text, says) in [
            ("ffffffff81000000 T _text\nhello", "line 2: found `hello`"),
            ("0000000000000000 T _text\n", "found no function with an address"),
            ("", "found no function"),
        ] {
            assert!(Symbols::parse(text).unwrap_err().contains(says));
        }
    }
}

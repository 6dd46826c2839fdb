//! What AddressSanitizer reports, in as many lines as a person needs.

use crate::host::below_farm;

/// Frames of each stack that are told.
const FRAMES: usize = 8;

/// The kind of error, what was accessed, and the stacks of the access, of who freed and of who allocated, with files below the
/// tree; none if it is no such report.
pub(crate) fn condensed(report: &str) -> Option<String> {
    let (_, kind) = report.split_once("ERROR: AddressSanitizer: ")?;
    let kind = kind.split([' ', '\n']).next().unwrap_or("");
    let mut text = format!("AddressSanitizer: {kind}\n");
    let mut frames = 0;
    for line in report.lines().take_while(|l| !l.starts_with("SUMMARY:")) {
        let told = line.trim();
        let begins = ["READ of", "WRITE of", "freed by", "previously allocated by", "allocated by"];
        if begins.iter().any(|b| told.starts_with(b)) {
            let of = told.split(" at 0x").next().unwrap_or(told);
            text += &format!("{}\n", of.split(" thread ").next().unwrap_or(of).trim_end());
            frames = 0;
        } else if told.contains(" is located ") {
            let place = told.split_once(" is located ").map_or(told, |(_, place)| place);
            text += &format!("located {}\n", place.split(" [0x").next().unwrap_or(place));
        } else if let Some((name, place)) = frame(told).filter(|_| frames < FRAMES) {
            text += &format!("  {name} {}\n", below_farm(place));
            frames += 1;
        }
    }
    Some(text)
}

/// The function and the place of a frame of the kernel: `#0 0x12 in name /path/file.c:12`.
fn frame(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix('#')?.split_once(" in ")?;
    let (name, place) = rest.split_once(' ')?;
    (place.contains("/farm/") && name != "told").then_some((name, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
=================================================================
==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x61 at pc 0x7f bp 0x7e sp 0x7d
READ of size 8 at 0x61 thread T0
    #0 0x7f11 in select_task_rq_fair /c/t/farm/kernel/sched/fair.c:8123
    #1 0x7f12 in try_to_wake_up /c/t/farm/kernel/sched/core.c:4200
    #2 0x7f13 in main (/bin/x+0x12)

0x61 is located 16 bytes inside of 64-byte region [0x60,0xa0)
freed by thread T0 here:
    #0 0x7f14 in __interceptor_free (/lib/libasan.so.8+0xb6)
    #1 0x7f15 in kfree /c/t/farm/arch/schedscape/kernel/memory.c:39

SUMMARY: AddressSanitizer: heap-use-after-free /c/t/farm/kernel/sched/fair.c:8123
Shadow bytes around the buggy address:
";

    #[test]
    fn a_report_is_told_in_the_trees_lines() {
        let expected = "\
AddressSanitizer: heap-use-after-free
READ of size 8
  select_task_rq_fair kernel/sched/fair.c:8123
  try_to_wake_up kernel/sched/core.c:4200
located 16 bytes inside of 64-byte region
freed by
  kfree arch/schedscape/kernel/memory.c:39
";
        assert_eq!(condensed(REPORT).unwrap(), expected);
        assert_eq!(condensed("BUG: no memory"), None);
    }
}

//! What a machine's constants rest on.

use machine::{Constants, Mark};
use textwrap::WordSplitter;

/// The overridden and the calibrated constants with where they come from, then the names of the others by mark.
pub fn by_mark(machine: &str, constants: &Constants) -> String {
    let mut out = format!("Constants of {machine}:\n");
    for mark in [Mark::Overridden, Mark::Calibrated] {
        for (name, c) in constants.iter().filter(|(_, c)| c.mark == mark) {
            let line = format!("{mark}  {name} = {} {}: {}", c.value, c.unit, c.source);
            let options = textwrap::Options::new(96).subsequent_indent("              ");
            out.push_str(&format!("  {}\n", textwrap::fill(&line, options)));
        }
    }
    for mark in [Mark::Measured, Mark::Published, Mark::Assumed] {
        let names: Vec<&str> =
            constants.iter().filter(|(_, c)| c.mark == mark).map(|(n, _)| n).collect();
        if !names.is_empty() {
            let line = format!("{mark:<10}  {}", names.join(", "));
            let options = textwrap::Options::new(96).subsequent_indent("              ");
            out.push_str(&format!("  {}\n", textwrap::fill(&line, options)));
        }
    }
    out
}

/// The kernels on which costs were counted.
pub fn counted(kernels: &[String]) -> String {
    let list = format!(
        "What kernels do for messages, wake-ups, switches and processes was counted on {}.",
        kernels.join(", ")
    );
    let options = textwrap::Options::new(96).word_splitter(WordSplitter::NoHyphenation);
    match kernels {
        [] => String::new(),
        _ => format!("{}\n", textwrap::fill(&list, options)),
    }
}

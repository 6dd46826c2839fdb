//! Which CPU went offline last before a step of a capture.

use crate::KernelError;
use serde::Deserialize;

const FILE: &str = "config.json";

/// The part of a capture's `config.json` that says what happened between its steps.
#[derive(Deserialize)]
struct Config {
    /// Additions to the kernel's command line.
    append: Option<String>,
}

/// The CPU that went offline last for step `step`, by the capture's `config.json`: the last of its list in
/// `capture_steps=NAME:CPU.CPU…;NAME:…` on the command line in `append`. `None` where no CPU went offline for it, as
/// for the boot.
///
/// # Errors
/// Text that is no such configuration.
pub fn last_offline(config: &str, step: &str) -> Result<Option<usize>, KernelError> {
    let wrong = |place: &str, found: String, expected: &str| KernelError::Recorded {
        file: FILE.to_string(),
        place: place.to_string(),
        found,
        expected: expected.to_string(),
    };
    let config: Config = serde_json::from_str(config).map_err(|e| {
        wrong(&format!("line {}", e.line()), e.to_string(), "a JSON object with `append`")
    })?;
    let Some(append) = config.append else { return Ok(None) };
    let steps = append.split_whitespace().find_map(|word| word.strip_prefix("capture_steps="));
    for text in steps.into_iter().flat_map(|steps| steps.split(';')).filter(|s| !s.is_empty()) {
        let cpus = text.split_once(':').map(|(name, cpus)| (name, parse_cpus(cpus)));
        match cpus {
            Some((name, Some(cpus))) if name == step => return Ok(cpus.last().copied()),
            Some((_, Some(_))) => {}
            _ => {
                let expected = "NAME:CPU.CPU, as smt4:7.6.5.4";
                return Err(wrong("capture_steps", format!("`{text}`"), expected));
            }
        }
    }
    Ok(None)
}

/// `7.6.5` as numbers.
fn parse_cpus(list: &str) -> Option<Vec<usize>> {
    list.split('.').map(|cpu| cpu.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_cpu_of_the_steps_list() {
        let config = r#"{"append": "quiet capture_steps=smt4:7.6.15.12;smt2:3.10", "arch": "x"}"#;
        assert_eq!(last_offline(config, "smt4"), Ok(Some(12)));
        assert_eq!(last_offline(config, "smt2"), Ok(Some(10)));
        assert_eq!(last_offline(config, "boot"), Ok(None));
        assert_eq!(last_offline("{}", "smt4"), Ok(None));
    }

    #[test]
    fn says_what_is_no_configuration() {
        let error = |text: &str| last_offline(text, "smt4").unwrap_err().to_string();
        assert!(error("[").starts_with("config.json: line 1: found EOF"), "{}", error("["));
        assert_eq!(
            error(r#"{"append": "capture_steps=smt4:7.x"}"#),
            "config.json: capture_steps: found `smt4:7.x`, expected NAME:CPU.CPU, as smt4:7.6.5.4"
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,60}", steps in "[a-z0-9:.; ]{0,40}") {
            let _ = last_offline(&text, "smt4");
            let _ = last_offline(&format!(r#"{{"append": "capture_steps={steps}"}}"#), "smt4");
        }
    }
}

//! What a guest sends over its console: files between marks, notes, and the kernel's messages in between.
//!
//! Lines come in one at a time. A file is base64 between two marks, the second of which names its size and SHA-256. A line that is lost, torn
//! or mixed in by the kernel therefore makes the file an error, never a different file. Lines outside of files are the kernel's and are
//! handed on as they are. What a user's script prints comes line by line. Nothing is written here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// Something that a guest said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A line of the console that means nothing to us.
    Console(String),
    /// How far it got.
    Note(String),
    /// A line that a script printed.
    Printed {
        /// Where.
        to: Stream,
        /// The line, without its end.
        line: String,
    },
    /// A whole file.
    File {
        /// Its name.
        name: String,
        /// What it holds.
        content: Vec<u8>,
    },
    /// All is done, the machine turns itself off.
    Done,
}

/// Where a script prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A file that did not arrive as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("file {name} from the guest: found {found}, expected {expected}")]
pub struct Torn {
    /// Its name.
    pub name: String,
    /// What arrived.
    pub found: String,
    /// What was sent.
    pub expected: String,
}

/// The largest file that is taken from a guest, in base64.
const LARGEST: usize = 256 << 20;

/// Reader of a console, line by line.
#[derive(Debug, Default)]
pub struct Frames {
    /// The file that is arriving and its base64 so far.
    file: Option<(String, String)>,
}

impl Frames {
    /// Takes one line, without its end.
    ///
    /// # Errors
    /// A file whose size or checksum is not what the guest said, or that another file cuts short.
    pub fn line(&mut self, line: &str) -> Result<Option<Said>, Torn> {
        let line = line.trim_end_matches('\r');
        if let Some(rest) = line.strip_prefix("@@") {
            return self.mark(rest, line);
        }
        match &mut self.file {
            Some((name, text)) if text.len() + line.len() > LARGEST => {
                let found = format!("more than {LARGEST} bytes of base64");
                Err(Torn { name: name.clone(), found, expected: "less".to_owned() })
            }
            Some((_, text)) => {
                text.push_str(line);
                Ok(None)
            }
            None => Ok(Some(Said::Console(line.to_owned()))),
        }
    }

    fn mark(&mut self, rest: &str, line: &str) -> Result<Option<Said>, Torn> {
        let (kind, about) = rest.split_once(' ').unwrap_or((rest, ""));
        if kind != "end"
            && let Some((name, _)) = &self.file
        {
            let name = name.clone();
            return Err(Torn { name, found: line.to_owned(), expected: "its end".to_owned() });
        }
        match kind {
            "file" => {
                self.file = Some((about.to_owned(), String::new()));
                Ok(None)
            }
            "end" => self.end(about),
            "note" => Ok(Some(Said::Note(about.to_owned()))),
            "out" => Ok(Some(printed(Stream::Out, about))),
            "err" => Ok(Some(printed(Stream::Err, about))),
            "done" => Ok(Some(Said::Done)),
            _ => Ok(Some(Said::Console(line.to_owned()))),
        }
    }

    /// `NAME SIZE SHA256`.
    fn end(&mut self, about: &str) -> Result<Option<Said>, Torn> {
        let Some((name, text)) = self.file.take() else {
            return Ok(Some(Said::Console(format!("@@end {about}"))));
        };
        let content = STANDARD.decode(text.as_bytes());
        let found = match &content {
            Ok(bytes) => format!("{name} {} {}", bytes.len(), checksum(bytes)),
            Err(reason) => reason.to_string(),
        };
        match content {
            Ok(content) if found == about => Ok(Some(Said::File { name, content })),
            _ => Err(Torn { name, found, expected: about.to_owned() }),
        }
    }
}

/// A printed line, whose white space at the end a dot keeps.
fn printed(to: Stream, about: &str) -> Said {
    Said::Printed { to, line: about.strip_suffix('.').unwrap_or(about).to_owned() }
}

/// SHA-256 in hexadecimal.
fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(name: &str, content: &[u8]) -> Vec<String> {
        let text = STANDARD.encode(content);
        let mut lines = vec![format!("@@file {name}")];
        lines.extend(
            text.as_bytes().chunks(76).map(|c| String::from_utf8_lossy(c).into_owned() + "\r"),
        );
        lines.push(format!("@@end {name} {} {}", content.len(), checksum(content)));
        lines
    }

    #[test]
    fn a_conversation() {
        let mut frames = Frames::default();
        let mut said = Vec::new();
        let mut lines = vec!["[    0.0] Linux".to_owned(), "@@note booted 6.12".to_owned()];
        lines.extend(sent("a", b"hello"));
        lines.extend(["@@out  a b  .", "@@err .", "@@done"].map(str::to_owned));
        for line in lines {
            said.extend(frames.line(&line).unwrap());
        }
        let file = Said::File { name: "a".to_owned(), content: b"hello".to_vec() };
        let expected = [
            Said::Console("[    0.0] Linux".to_owned()),
            Said::Note("booted 6.12".to_owned()),
            file,
            Said::Printed { to: Stream::Out, line: " a b  ".to_owned() },
            Said::Printed { to: Stream::Err, line: String::new() },
            Said::Done,
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn a_line_that_is_lost_or_torn_is_seen() {
        for damage in [1, 2] {
            let mut lines = sent("a", &[7; 200]);
            match damage {
                1 => drop(lines.remove(2)),
                _ => lines[1].insert_str(3, "[ 1.0] a message"),
            }
            let mut frames = Frames::default();
            let last = lines.iter().map(|l| frames.line(l)).last().unwrap();
            let torn = last.unwrap_err();
            assert_eq!(torn.name, "a");
            assert!(torn.expected.starts_with("a 200 "), "{torn}");
        }
    }

    #[test]
    fn a_file_that_another_cuts_short_is_an_error() {
        let mut frames = Frames::default();
        frames.line("@@file a").unwrap();
        let torn = frames.line("@@file b").unwrap_err();
        assert_eq!(torn.to_string(), "file a from the guest: found @@file b, expected its end");
    }

    proptest! {
        #[test]
        fn any_lines_do_no_harm(lines in prop::collection::vec("(@@(file|end|note|done)? ?)?[ -~]{0,20}", 0..30)) {
            let mut frames = Frames::default();
            for line in lines {
                let _ = frames.line(&line);
            }
        }

        #[test]
        fn files_arrive(content in prop::collection::vec(any::<u8>(), 0..2000)) {
            let mut frames = Frames::default();
            let said: Vec<_> = sent("x y", &content).iter().filter_map(|l| frames.line(l).unwrap()).collect();
            prop_assert_eq!(said, [Said::File { name: "x y".to_owned(), content }]);
        }
    }
}

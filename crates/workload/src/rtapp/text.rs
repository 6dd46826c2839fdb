//! From text to a JSON tree with positions.

use super::RtAppError;
use jsonc_parser::ast::Value;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, ParseOptions, Scanner, ScannerOptions, parse_to_ast};

/// `JSON_TOKENER_DEFAULT_DEPTH` of json-c.
const MAX_DEPTH: usize = 32;

/// What stands for the value of a key that has none.
const NO_VALUE: &str = ":null";

/// A file's text that the parser takes, and how its places lead back to the file.
pub(super) struct Source<'t> {
    pub(super) file: &'t str,
    text: &'t str,
    /// `text`, with values for the keys that have none.
    filled: String,
    /// Ends of the keys without a value, in `filled`, ascending.
    bare: Vec<usize>,
}

impl<'t> Source<'t> {
    /// Gives every key without a value one.
    pub(super) fn new(text: &'t str, file: &'t str) -> Result<Source<'t>, RtAppError> {
        let mut source = Source { file, text, filled: String::new(), bare: Vec::new() };
        let mut copied = 0;
        for end in source.bare_keys()? {
            source.filled.push_str(text.get(copied..end).unwrap_or(""));
            source.bare.push(source.filled.len());
            source.filled.push_str(NO_VALUE);
            copied = end;
        }
        source.filled.push_str(text.get(copied..).unwrap_or(""));
        Ok(source)
    }

    /// Ends of the keys without a value: strings between `{` or `,` and `,` or `}`, in an object.
    fn bare_keys(&self) -> Result<Vec<usize>, RtAppError> {
        let mut scanner = Scanner::new(self.text, &scanner_options());
        let (mut open, mut found) = (Vec::new(), Vec::new());
        // Whether a key can come next, and the end of the key just seen.
        let (mut key_next, mut key) = (false, None);
        loop {
            let token =
                scanner.scan().map_err(|e| self.error(e.range().start, &e.kind().to_string()))?;
            let Some(token) = token else { break };
            if matches!(token, Token::CommentLine(_) | Token::CommentBlock(_)) {
                continue;
            }
            if matches!(token, Token::Comma | Token::CloseBrace) {
                found.extend(key);
            }
            key = match token {
                Token::String(_) if key_next => Some(scanner.token_end()),
                _ => None,
            };
            match token {
                Token::OpenBrace | Token::OpenBracket => open.push(token == Token::OpenBrace),
                Token::CloseBrace | Token::CloseBracket => _ = open.pop(),
                _ => {}
            }
            key_next = matches!(token, Token::OpenBrace | Token::Comma)
                && open.last().is_some_and(|&is_object| is_object);
            if open.len() > MAX_DEPTH {
                let message = format!("found more than {MAX_DEPTH} levels, expected fewer");
                return Err(self.error(scanner.token_start(), &message));
            }
        }
        Ok(found)
    }

    /// The tree; `None` for a file without a value.
    pub(super) fn parse(&self) -> Result<Option<Value<'_>>, RtAppError> {
        parse_to_ast(&self.filled, &CollectOptions::default(), &parse_options())
            .map(|parsed| parsed.value)
            .map_err(|e| self.error(self.original(e.range().start), &e.kind().to_string()))
    }

    /// Whether the value at `at` of the tree stands for one that the file leaves out.
    pub(super) fn is_left_out(&self, at: usize) -> bool {
        // The value follows the colon.
        at.checked_sub(1).is_some_and(|end| self.bare.binary_search(&end).is_ok())
    }

    /// Line and column in the file, from 1, of a place of the tree.
    pub(super) fn place(&self, at: usize) -> (usize, usize) {
        self.line_and_column(self.original(at))
    }

    fn original(&self, at: usize) -> usize {
        at - NO_VALUE.len() * self.bare.partition_point(|&end| end + NO_VALUE.len() <= at)
    }

    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at.min(self.text.len())).unwrap_or(self.text);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before.get(start..).unwrap_or("").chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    }

    fn error(&self, at: usize, message: &str) -> RtAppError {
        let (line, column) = self.line_and_column(at);
        RtAppError::Syntax {
            file: self.file.to_string(),
            line,
            column,
            message: message.to_string(),
        }
    }

    /// An error about the file as a whole.
    pub(super) fn empty(&self) -> RtAppError {
        self.error(0, "found nothing, expected an object")
    }
}

/// What json-c takes.
fn parse_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_single_quoted_strings: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn scanner_options() -> ScannerOptions {
    ScannerOptions {
        allow_single_quoted_strings: true,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

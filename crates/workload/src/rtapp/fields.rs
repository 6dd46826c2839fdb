//! Objects and values of the tree, with the path and the place that errors name.

use super::text::Source;
use super::{Duplicates, Options, RtAppError, UnknownKeys};
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use std::ops::RangeInclusive;

/// A key and its value.
#[derive(Clone)]
pub(super) struct Item<'d> {
    source: &'d Source<'d>,
    options: Options,
    /// Keys from the root.
    path: String,
    /// The last of them.
    pub(super) key: &'d str,
    key_at: usize,
    value: &'d Value<'d>,
}

/// The items of an object that nothing has been made of yet.
pub(super) struct Fields<'d> {
    of: Item<'d>,
    items: Vec<Item<'d>>,
}

impl<'d> Item<'d> {
    /// The root, which has no key.
    pub(super) fn root(source: &'d Source<'d>, value: &'d Value<'d>, options: Options) -> Item<'d> {
        Item { source, options, path: String::new(), key: "", key_at: value.start(), value }
    }

    /// The value's own error, at its key.
    pub(super) fn error(&self, found: &str, expected: &str) -> RtAppError {
        let (line, column) = self.source.place(self.key_at);
        RtAppError::Field {
            file: self.source.file.to_string(),
            line,
            column,
            path: if self.path.is_empty() { "the file".to_string() } else { self.path.clone() },
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    fn mismatch(&self, expected: &str) -> RtAppError {
        self.error(&self.found(), expected)
    }

    fn found(&self) -> String {
        match self.value {
            Value::StringLit(s) => format!("\"{}\"", s.value),
            Value::NumberLit(n) => n.value.to_string(),
            Value::BooleanLit(b) => b.value.to_string(),
            Value::Object(_) => "an object".to_string(),
            Value::Array(_) => "an array".to_string(),
            Value::NullKeyword(null) if self.source.is_left_out(null.range.start) => {
                "no value".to_string()
            }
            Value::NullKeyword(_) => "null".to_string(),
        }
    }

    /// Line of the key, from 1.
    pub(super) fn line(&self) -> usize {
        self.source.place(self.key_at).0
    }

    /// `null`, which json-c does not tell from a key that is not there.
    fn is_null(&self) -> bool {
        let at = self.value.start();
        matches!(self.value, Value::NullKeyword(_)) && !self.source.is_left_out(at)
    }

    /// The value as a string, if it is one.
    pub(super) fn as_string(&self) -> Option<String> {
        self.value.as_string_lit().map(|s| s.value.to_string())
    }

    pub(super) fn string(&self, expected: &str) -> Result<String, RtAppError> {
        self.as_string().ok_or_else(|| self.mismatch(expected))
    }

    pub(super) fn is_number(&self) -> bool {
        self.value.as_number_lit().is_some()
    }

    pub(super) fn as_boolean(&self) -> Option<bool> {
        self.value.as_boolean_lit().map(|b| b.value)
    }

    pub(super) fn boolean(&self) -> Result<bool, RtAppError> {
        self.as_boolean().ok_or_else(|| self.mismatch("true or false"))
    }

    /// An integer, which json-c keeps in 32 bits.
    pub(super) fn integer(
        &self,
        range: RangeInclusive<i32>,
        expected: &str,
    ) -> Result<i32, RtAppError> {
        integer(self.value, &range).ok_or_else(|| self.mismatch(expected))
    }

    /// An integer from `least`.
    pub(super) fn count(&self, least: i32, expected: &str) -> Result<u32, RtAppError> {
        Ok(self.integer(least..=i32::MAX, expected)?.unsigned_abs())
    }

    /// An array of integers from 0, in their order.
    pub(super) fn counts(&self, expected: &str) -> Result<Vec<u32>, RtAppError> {
        let array = self.value.as_array().ok_or_else(|| self.mismatch(expected))?;
        let item = |value: &'d Value<'d>| Item { value, ..self.clone() };
        array.elements.iter().map(|value| item(value).count(0, expected)).collect()
    }

    /// One of `names`.
    pub(super) fn one_of<T: Copy>(&self, names: &[(&str, T)]) -> Result<T, RtAppError> {
        let list = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let text = self.string(&list())?;
        let found = names.iter().find(|(name, _)| *name == text);
        found.map(|&(_, value)| value).ok_or_else(|| self.mismatch(&list()))
    }

    /// The items of an object.
    pub(super) fn fields(&self, expected: &str) -> Result<Fields<'d>, RtAppError> {
        let Value::Object(object) = self.value else { return Err(self.mismatch(expected)) };
        Ok(Fields { of: self.clone(), items: self.items(object) })
    }

    fn items(&self, object: &'d Object<'d>) -> Vec<Item<'d>> {
        let mut items: Vec<Item<'d>> = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let key = property.name.as_str();
            let path = match self.path.as_str() {
                "" => key.to_string(),
                path => format!("{path}.{key}"),
            };
            let key_at = property.name.start();
            let item = Item { path, key, key_at, value: &property.value, ..self.clone() };
            let first = match self.options.duplicates {
                Duplicates::InOrder => None,
                Duplicates::LastWins => items.iter_mut().find(|other| other.key == key),
            };
            match first {
                Some(first) => *first = item,
                None => items.push(item),
            }
        }
        items
    }
}

fn integer(value: &Value<'_>, range: &RangeInclusive<i32>) -> Option<i32> {
    value.as_number_lit()?.value.parse().ok().filter(|n| range.contains(n))
}

impl<'d> Fields<'d> {
    /// The object's own item.
    pub(super) fn item(&self) -> &Item<'d> {
        &self.of
    }

    /// Takes the items whose keys `wanted` accepts, in their order.
    pub(super) fn take_all(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<Item<'d>> {
        let (taken, rest) =
            std::mem::take(&mut self.items).into_iter().partition(|i| wanted(i.key));
        self.items = rest;
        taken
    }

    /// Takes a property, which can be there once.
    pub(super) fn take(&mut self, key: &str) -> Result<Option<Item<'d>>, RtAppError> {
        let mut taken = self.take_all(|k| k == key).into_iter();
        let first = taken.next();
        if let Some(second) = taken.next() {
            return Err(second.error("a second one", "one"));
        }
        Ok(first.filter(|item| !item.is_null()))
    }

    /// The last item with a key, which stays.
    pub(super) fn last(&self, key: &str) -> Option<&Item<'d>> {
        self.items.iter().rfind(|item| item.key == key)
    }

    /// Takes a property and makes something of it.
    pub(super) fn get<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&Item<'d>) -> Result<T, RtAppError>,
    ) -> Result<Option<T>, RtAppError> {
        self.take(key)?.map(|item| read(&item)).transpose()
    }

    /// What is left is outside the grammar.
    pub(super) fn finish(self, expected: &str) -> Result<(), RtAppError> {
        match (self.items.first(), self.of.options.unknown_keys) {
            (Some(item), UnknownKeys::Refuse) => {
                Err(item.error(&format!("unknown key `{}`", item.key), expected))
            }
            _ => Ok(()),
        }
    }
}

//! tracefs's `format` files, which say where a record has its fields (`kernel/trace/trace_events.c`, `f_show`).

use super::bytes::Endian;
use crate::Comm;

/// How a field holds its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In itself.
    Here,
    /// `__data_loc`: in four bytes, size and offset from the record's beginning.
    Elsewhere,
    /// `__rel_loc`: the same with the offset from the field's end.
    Behind,
}

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    /// From the record's beginning, in bytes.
    pub offset: usize,
    /// In bytes.
    pub size: usize,
    pub signed: bool,
    pub place: Place,
}

impl Field {
    /// Its number, with its sign.
    pub(super) fn number(&self, record: &[u8], endian: Endian) -> Option<i64> {
        let bits = 8 * u32::try_from(self.size).ok().filter(|n| (1..=8).contains(n))?;
        let number = endian.at(record, self.offset, self.size)?;
        let unused = 64 - bits;
        Some(match self.signed {
            true => (number << unused) as i64 >> unused,
            false => number as i64,
        })
    }

    /// The name that it holds.
    pub(super) fn comm(&self, record: &[u8], endian: Endian) -> Option<Comm> {
        let (from, size) = match self.place {
            Place::Here => (self.offset, self.size),
            place => {
                let word = endian.u32(record, self.offset)? as usize;
                let base = if place == Place::Behind { self.offset + self.size } else { 0 };
                (base + (word & 0xffff), word >> 16)
            }
        };
        let bytes = record.get(from..from.checked_add(size)?)?;
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        Some(Comm::from_bytes(bytes.get(..end)?))
    }
}

/// A `format` file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Format {
    /// `common_type` of its records.
    pub id: u16,
    pub name: String,
    fields: Vec<(String, Field)>,
    /// The format string of its text, with arguments.
    pub print: String,
}

impl Format {
    /// Parses a `format` file; `None` if it lacks name or number.
    pub(super) fn parse(text: &str) -> Option<Format> {
        let line = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).map(str::trim);
        Some(Format {
            id: line("ID:")?.parse().ok()?,
            name: line("name:")?.to_string(),
            fields: fields(text),
            print: line("print fmt:").unwrap_or_default().to_string(),
        })
    }

    pub(super) fn field(&self, name: &str) -> Option<Field> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, f)| *f)
    }
}

/// The lines `field:DECLARATION; offset:N; size:N; signed:N;`.
pub(super) fn fields(text: &str) -> Vec<(String, Field)> {
    text.lines().filter_map(|l| field(l.trim().strip_prefix("field:")?)).collect()
}

fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.split(';').map(str::trim);
    let declaration = parts.next()?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for (key, value) in parts.filter_map(|part| part.split_once(':')) {
        match key {
            "offset" => offset = value.parse::<u16>().ok(),
            "size" => size = value.parse::<u16>().ok(),
            "signed" => signed = value == "1",
            _ => {}
        }
    }
    let place = match declaration.split_whitespace().next()? {
        "__data_loc" => Place::Elsewhere,
        "__rel_loc" => Place::Behind,
        _ => Place::Here,
    };
    let name = declaration.split('[').next()?;
    // `__data_loc char[] name` has the brackets at the type.
    let name = if place == Place::Here { name } else { declaration };
    let name = name.split_whitespace().next_back()?.to_string();
    Some((name, Field { offset: offset?.into(), size: size?.into(), signed, place }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_however_they_are_declared() {
        let text = "name: some\nID: 77\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:char old[16];\toffset:12;\tsize:16;\tsigned:1;\n\
            \tfield:long state;\toffset:28;\tsize:4;\tsigned:1;\n\nprint fmt: \"%s\", REC->comm\n";
        let format = Format::parse(text).expect("a format");
        assert_eq!((format.id, format.name.as_str()), (77, "some"));
        assert_eq!(format.print, "\"%s\", REC->comm");
        let mut record = vec![0; 32];
        record[8..12].copy_from_slice(&(4u32 << 16 | 32).to_le_bytes());
        record[12..15].copy_from_slice(b"abc");
        record[28..32].copy_from_slice(&(-2i32).to_le_bytes());
        record.extend_from_slice(b"xyz\0");
        let comm = |name: &str| format.field(name)?.comm(&record, Endian::Little);
        assert_eq!(comm("comm"), Some(Comm::new("xyz")));
        assert_eq!(comm("old"), Some(Comm::new("abc")));
        let state = format.field("state").and_then(|f| f.number(&record, Endian::Little));
        assert_eq!(state, Some(-2));
        assert_eq!(comm("none"), None);
    }

    #[test]
    fn places_outside_of_a_record_hold_nothing() {
        let field = Field { offset: 0, size: 4, signed: false, place: Place::Elsewhere };
        assert_eq!(field.comm(&[0xff; 4], Endian::Big), None);
        assert_eq!(field.number(&[0; 3], Endian::Big), None);
    }
}

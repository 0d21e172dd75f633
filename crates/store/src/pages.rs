//! What a Parquet file may ask for: the places of its column chunks and the sizes of its pages, checked before it is
//! decoded. A file from a stranger may state any number, and the decoder would take memory for it.
//!
//! A page header is a struct in Thrift's compact protocol (parquet.thrift, `PageHeader`): field 2 is the size after
//! decompression, field 3 the size before; the header of its kind (5, 7, 8) begins with the number of values.

use crate::text::MAX_TEXT;
use parquet::basic::Type;
use parquet::file::metadata::ParquetMetaData;

/// Bytes of a page after decompression. Ours have a megabyte, and at most a batch of the longest texts.
const MOST_PAGE: i64 = 32 << 20;
/// Bytes of a page beside its values: how they are coded, and which are null.
const BESIDE: i64 = 64 << 10;
/// Bytes of the longest text with its length, and its share of what stands beside it.
const LONGEST: i64 = MAX_TEXT as i64 + 16;
/// Rows of a part at most.
const MOST_ROWS: i64 = 1 << 24;

/// Whether all that the file states stays within bounds.
pub(crate) fn check(bytes: &[u8], metadata: &ParquetMetaData) -> Result<(), String> {
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        rows = rows.saturating_add(group.num_rows().max(0));
        if rows > MOST_ROWS || group.num_rows() < 0 {
            return Err(format!("it states {rows} rows or more; {MOST_ROWS} are allowed"));
        }
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let size = column.compressed_size();
            let chunk = (|| {
                let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
                bytes.get(start..start.checked_add(size)?)
            })();
            let Some(chunk) = chunk.filter(|chunk| !chunk.is_empty()) else {
                return Err(format!("a column stands at {start} with {size} bytes, outside of the file"));
            };
            if column.num_values() != group.num_rows() {
                let (values, rows) = (column.num_values(), group.num_rows());
                return Err(format!("a column states {values} values for {rows} rows"));
            }
            check_chunk(chunk, column.column_type() == Type::BYTE_ARRAY)?;
        }
    }
    Ok(())
}

fn check_chunk(mut chunk: &[u8], is_text: bool) -> Result<(), String> {
    while !chunk.is_empty() {
        let mut header = Compact { rest: chunk };
        let Page { inflated, stored, values } = header.page_header().ok_or("a page header is damaged")?;
        if !(0..=MOST_PAGE).contains(&inflated) {
            return Err(format!("a page states {inflated} bytes; {MOST_PAGE} are allowed"));
        }
        if is_text && inflated > values.max(0).saturating_mul(LONGEST).saturating_add(BESIDE) {
            return Err(format!(
                "a page states {inflated} bytes for {values} texts; a text has at most {MAX_TEXT}"
            ));
        }
        let stored = usize::try_from(stored).ok();
        chunk =
            stored.and_then(|stored| header.rest.get(stored..)).ok_or("a page ends outside of its column")?;
    }
    Ok(())
}

/// What the header of a page states.
struct Page {
    /// Bytes after decompression.
    inflated: i64,
    /// Bytes before.
    stored: i64,
    /// How many values it has.
    values: i64,
}

/// Reads Thrift's compact protocol (thrift-compact-protocol.md).
struct Compact<'a> {
    rest: &'a [u8],
}

impl Compact<'_> {
    /// Structs in structs at most: a page header has three levels.
    const DEPTH: usize = 8;

    /// What a page states; the header is read to its end.
    fn page_header(&mut self) -> Option<Page> {
        let (mut inflated, mut stored, mut values) = (None, None, 0);
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (2, 5) => inflated = Some(self.zigzag()?),
                (3, 5) => stored = Some(self.zigzag()?),
                // The headers of data, of a dictionary, and of data in the second version begin with it.
                (5 | 7 | 8, 12) => values = self.first_number()?,
                _ => self.skip(kind, Self::DEPTH)?,
            }
        }
        Some(Page { inflated: inflated?, stored: stored?, values })
    }

    /// Field 1 of a struct, which is read to its end; 0 where it has none.
    fn first_number(&mut self) -> Option<i64> {
        let (mut id, mut number) = (0, 0);
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (1, 5) => number = self.zigzag()?,
                _ => self.skip(kind, Self::DEPTH - 1)?,
            }
        }
        Some(number)
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The kind of the next field and, in `id`, its number; the inner `None` is the end of the struct.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        *id = match head >> 4 {
            0 => self.zigzag()?,
            step => id.checked_add(step.into())?,
        };
        Some(Some(head & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // Booleans are their own value.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.rest = self.rest.get(8..)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.rest = self.rest.get(length..)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                // In a list a boolean is a byte.
                let kind = if matches!(head & 0x0f, 1 | 2) { 3 } else { head & 0x0f };
                for _ in 0..count {
                    self.skip(kind, depth)?;
                }
            }
            12 => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

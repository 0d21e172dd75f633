//! The rows of one table, part by part, in the order of their numbers.

use crate::column::{Take, View};
use crate::open_part::{Found, Opened, parts_in};
use crate::tables::{Replay, TableSpec};
use arrow_array::types::Int64Type;
use arrow_array::{Array, PrimitiveArray};
use std::collections::VecDeque;
use std::path::Path;

/// What was wrong with a table, and how much of it was read.
#[derive(Default)]
pub(crate) struct Report {
    /// Why parts were passed over; the first few.
    pub(crate) damaged: Vec<String>,
    /// Parts passed over, wholly or from some row on.
    pub(crate) damaged_parts: u64,
    /// Rows that could not be used: out of order, or without what their event needs.
    pub(crate) rejected: u64,
    /// Rows replayed.
    pub(crate) rows: u64,
    /// Columns that parts did not have.
    pub(crate) missing: Vec<&'static str>,
    /// Bytes of the parts that were read or passed over.
    pub(crate) bytes: u64,
}

/// Reasons kept of a table.
const MOST_TOLD: usize = 3;

/// Where the reading of one table stands.
pub(crate) struct Cursor {
    pub(crate) table: &'static TableSpec,
    /// Its place in the list of tables: of one event, the parts come before the whole.
    pub(crate) rank: usize,
    pub(crate) report: Report,
    parts: VecDeque<Found>,
    open: Option<(String, Opened)>,
    views: Vec<View>,
    at: usize,
    len: usize,
    /// The number of the row at `at`.
    seq: u64,
    /// Rows up to this number were removed, or were in the parts before: a killed recorder may leave them twice.
    floor: u64,
}

impl Cursor {
    /// The table's rows behind number `floor`, or `None` where it has no parts.
    pub(crate) fn open(dir: &Path, table: &'static TableSpec, rank: usize, floor: u64) -> Option<Cursor> {
        let (parts, report): (VecDeque<Found>, Report) = match parts_in(&dir.join(table.name)) {
            Ok(parts) => (parts.into(), Report::default()),
            Err(reason) => {
                let damaged = vec![format!("{}: {reason}", table.name)];
                (VecDeque::new(), Report { damaged, damaged_parts: 1, ..Report::default() })
            }
        };
        (!parts.is_empty() || report.damaged_parts > 0).then(|| Cursor {
            table,
            rank,
            report,
            parts,
            open: None,
            views: Vec::new(),
            at: 0,
            len: 0,
            seq: floor,
            floor,
        })
    }

    /// Bytes of all its parts.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The number of the row that it stands on, from 1.
    #[inline]
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Moves to the first or the next row; false at the end of the table.
    #[inline]
    pub(crate) fn advance(&mut self) -> bool {
        loop {
            self.at += 1;
            if self.at >= self.len {
                if !self.load() {
                    return false;
                }
                self.at = 0;
            }
            let seq = match self.views.first() {
                Some(View::I64(numbers)) => number(numbers, self.at),
                _ => 0,
            };
            if seq > self.floor && seq >= self.seq {
                self.seq = seq;
                return true;
            }
            if seq == 0 || seq > self.floor {
                self.report.rejected += 1;
            }
        }
    }

    /// Decodes the next rows; false at the end of the table.
    fn load(&mut self) -> bool {
        loop {
            let Some((_, open)) = &mut self.open else {
                if !self.open_next() {
                    return false;
                }
                continue;
            };
            match open.next() {
                Some(Ok((views, len))) if len > 0 => {
                    (self.views, self.len) = (views, len);
                    return true;
                }
                Some(Ok(_)) => {}
                Some(Err(reason)) => {
                    let name = self.open.take().map(|(name, _)| name).unwrap_or_default();
                    self.pass_over(&name, &reason);
                }
                None => self.open = None,
            }
        }
    }

    /// Opens the next part that can be; false where there is none.
    fn open_next(&mut self) -> bool {
        while let Some(part) = self.parts.pop_front() {
            self.report.bytes += part.bytes;
            self.floor = self.seq;
            let name = part.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match Opened::open(&part, self.table) {
                Ok(opened) => {
                    for column in &opened.missing {
                        if !self.report.missing.contains(column) {
                            self.report.missing.push(column);
                        }
                    }
                    self.open = Some((name, opened));
                    return true;
                }
                Err(reason) => self.pass_over(&name, &reason),
            }
        }
        false
    }

    fn pass_over(&mut self, name: &str, reason: &str) {
        self.report.damaged_parts += 1;
        if self.report.damaged.len() < MOST_TOLD {
            self.report.damaged.push(format!("{}/{name}: {reason}", self.table.name));
        }
    }

    /// Replays the row it stands on.
    #[inline]
    pub(crate) fn replay(&mut self, to: &mut Replay<'_>) {
        let mut row = Take::new(&self.views, self.at);
        match (self.table.replay)(&mut row, self.seq, to) {
            Some(()) => self.report.rows += 1,
            None => self.report.rejected += 1,
        }
    }
}

/// The number of a row; 0, which none has, where it is damaged.
#[inline]
fn number(numbers: &PrimitiveArray<Int64Type>, at: usize) -> u64 {
    if numbers.is_null(at) { 0 } else { u64::try_from(numbers.value(at)).unwrap_or(0) }
}

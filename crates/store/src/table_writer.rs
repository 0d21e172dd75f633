//! The parts of one table while it is written: encoded as they come, or, while recording, closed every second and
//! joined into larger ones later.

use crate::error::StoreError;
use crate::meta::TableMeta;
use crate::options::WriteOptions;
use crate::part::{self, OpenPart, Part};
use crate::tables::{Keep, TableSpec};
use arrow_array::{Array, ArrayRef};
use arrow_schema::SchemaRef;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use whyslow_model::Timestamp;

/// Rows taken out of the buffers at once.
pub(crate) struct Batch {
    pub(crate) columns: Vec<ArrayRef>,
    /// The number of the last event before it was taken out.
    pub(crate) last_seq: u64,
    /// The time then.
    pub(crate) until: Timestamp,
}

impl Batch {
    fn memory(&self) -> usize {
        self.columns.iter().map(|column| column.get_array_memory_size()).sum()
    }
}

/// A part that has its name.
pub(crate) struct Closed {
    pub(crate) part: Part,
    /// The number of the last event that may be in it.
    pub(crate) last_seq: u64,
    /// The time when it was closed.
    pub(crate) until: Timestamp,
}

/// Rows held to be joined, in memory: a part of as many is worth a file.
const MOST_HELD: usize = 16 << 20;
/// Parts joined into one.
const MOST_RECENT: usize = 60;
/// Bytes of a part at most: a reader holds it in memory.
pub(crate) const MOST_PART_BYTES: u64 = 64 << 20;

/// The parts of one table.
pub(crate) struct TableWriter {
    table: &'static TableSpec,
    folder: PathBuf,
    schema: SchemaRef,
    options: WriteOptions,
    /// The number of the next part.
    number: u32,
    closed: VecDeque<Closed>,
    /// Where a conversion writes.
    open: Option<OpenPart>,
    /// While recording: rows that are in no file yet.
    pending: Vec<Batch>,
    pending_memory: usize,
    /// While recording: rows of the last closed parts, to be joined into one.
    recent: Vec<Batch>,
    recent_memory: usize,
    recent_parts: usize,
    last_seq: u64,
    until: Timestamp,
}

impl TableWriter {
    pub(crate) fn new(dir: &Path, table: &'static TableSpec, options: &WriteOptions) -> TableWriter {
        TableWriter {
            table,
            folder: dir.join(table.name),
            schema: part::schema(table),
            options: *options,
            number: 1,
            closed: VecDeque::new(),
            open: None,
            pending: Vec::new(),
            pending_memory: 0,
            recent: Vec::new(),
            recent_memory: 0,
            recent_parts: 0,
            last_seq: 0,
            until: Timestamp::UNKNOWN,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.table.name
    }

    pub(crate) fn keep(&self) -> Keep {
        self.table.keep
    }

    /// Closed parts.
    pub(crate) fn parts(&self) -> usize {
        self.closed.len()
    }

    /// Bytes of the closed parts.
    pub(crate) fn bytes(&self) -> u64 {
        self.closed.iter().map(|closed| closed.part.bytes).sum()
    }

    pub(crate) fn meta(&self) -> TableMeta {
        TableMeta {
            rows: self.closed.iter().map(|closed| closed.part.rows).sum(),
            parts: self.closed.len() as u64,
            bytes: self.bytes(),
        }
    }

    /// The oldest part that may be removed: never the only one.
    pub(crate) fn oldest(&self) -> Option<&Closed> {
        if self.closed.len() > 1 { self.closed.front() } else { None }
    }

    /// Forgets the oldest part, for its file to be removed.
    pub(crate) fn take_oldest(&mut self) -> Option<Closed> {
        self.oldest()?;
        if self.recent_parts >= self.closed.len() {
            // It is among those to be joined, which then stay as they are.
            self.forget_recent();
        }
        self.closed.pop_front()
    }

    /// Takes rows.
    pub(crate) fn add(&mut self, batch: Batch) -> Result<(), StoreError> {
        (self.last_seq, self.until) = (batch.last_seq, batch.until);
        if self.options.part_time.is_some() {
            self.pending_memory += batch.memory();
            self.pending.push(batch);
            if self.pending_memory >= MOST_HELD {
                self.close()?;
            }
            return Ok(());
        }
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                let open = OpenPart::create(&self.folder, self.table, &self.schema, self.number)?;
                self.number += 1;
                self.open.insert(open)
            }
        };
        open.write(batch.columns)?;
        if open.rows() >= self.options.part_rows || open.bytes() >= MOST_PART_BYTES {
            self.close()?;
        }
        Ok(())
    }

    /// Closes the part; false where there is none.
    pub(crate) fn close(&mut self) -> Result<bool, StoreError> {
        if let Some(open) = self.open.take() {
            let part = open.close()?;
            self.closed.push_back(Closed { part, last_seq: self.last_seq, until: self.until });
            return Ok(true);
        }
        if self.pending.is_empty() {
            return Ok(false);
        }
        let part = self.write_part(self.number, &self.pending)?;
        self.number += 1;
        self.closed.push_back(Closed { part, last_seq: self.last_seq, until: self.until });
        self.recent.append(&mut self.pending);
        self.recent_memory += std::mem::take(&mut self.pending_memory);
        self.recent_parts += 1;
        if self.recent_memory >= MOST_HELD || self.recent_parts >= MOST_RECENT {
            self.join_recent()?;
        }
        Ok(true)
    }

    /// Writes the last parts again, as one. It takes the number of the first; while the files of both are there, a
    /// reader knows the rows that it has seen by their numbers.
    pub(crate) fn join_recent(&mut self) -> Result<(), StoreError> {
        if self.recent_parts > 1 {
            let first = self.closed.len() - self.recent_parts;
            let number = self.closed[first].part.number;
            let part = self.write_part(number, &self.recent)?;
            let joined: Vec<Closed> = self.closed.drain(first..).collect();
            self.closed.push_back(Closed { part, last_seq: self.last_seq, until: self.until });
            for old in joined {
                fs::remove_file(&old.part.path).map_err(|error| StoreError::io(&old.part.path, error))?;
            }
        }
        self.forget_recent();
        Ok(())
    }

    fn forget_recent(&mut self) {
        self.recent.clear();
        (self.recent_memory, self.recent_parts) = (0, 0);
    }

    fn write_part(&self, number: u32, batches: &[Batch]) -> Result<Part, StoreError> {
        let mut open = OpenPart::create(&self.folder, self.table, &self.schema, number)?;
        for batch in batches {
            open.write(batch.columns.clone())?;
        }
        open.close()
    }
}

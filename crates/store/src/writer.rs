//! Writing a recording: events to rows, rows to parts, and `meta.json` beside them.

use crate::column::Rows;
use crate::error::StoreError;
use crate::meta::Meta;
use crate::options::WriteOptions;
use crate::table_writer::{Batch, TableWriter};
use crate::tables::{self, Keep, TABLES};
use std::fs;
use std::path::{Path, PathBuf};
use whyslow_model::{CaptureKind, Event, Sink, SourceInfo, Timestamp};
use whyslow_privacy::files;

/// What was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// The recording.
    pub path: PathBuf,
    /// Events in it.
    pub events: u64,
    /// Bytes of its parts.
    pub bytes: u64,
    /// Its head, with the tables.
    pub meta: Meta,
}

/// Rows buffered of one table before they are encoded: small enough for the cache.
const BATCH: usize = 16 << 10;
/// Sources kept in the head; a conversion may have some thousands.
const MOST_SOURCES: usize = 1000;

/// Writes a recording. Events are given as to any [`Sink`]; an error stops the writing and is kept for
/// [`Writer::check`] and [`Writer::finish`]. Dropped without `finish`, it leaves what a killed recorder leaves.
pub struct Writer {
    dir: PathBuf,
    options: WriteOptions,
    meta: Meta,
    rows: Vec<Rows>,
    tables: Vec<TableWriter>,
    seq: u64,
    /// The latest time seen.
    now: Timestamp,
    /// When the parts were closed last.
    rolled: Timestamp,
    error: Option<StoreError>,
}

impl Writer {
    /// Makes the directory, not those above it, and writes its head.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where something has that name already; [`StoreError::Io`] where it cannot be made.
    pub fn create(dir: impl Into<PathBuf>, meta: Meta, options: WriteOptions) -> Result<Writer, StoreError> {
        let dir = dir.into();
        files::create_folder(&dir).map_err(|error| StoreError::io(&dir, error))?;
        meta.write(&dir)?;
        Ok(Writer {
            rows: TABLES.iter().map(|table| Rows::new(table.columns)).collect(),
            tables: TABLES.iter().map(|table| TableWriter::new(&dir, table, &options)).collect(),
            dir,
            options,
            meta,
            seq: 0,
            now: Timestamp::UNKNOWN,
            rolled: Timestamp::UNKNOWN,
            error: None,
        })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The head, to add what is known only later (the end, the clock's offset then).
    pub fn meta_mut(&mut self) -> &mut Meta {
        &mut self.meta
    }

    /// Tells the time while no events come, so that what came before is put into files in time. To be called a few
    /// times a second while recording.
    pub fn tick(&mut self, now: Timestamp) {
        if now.is_known() && (!self.now.is_known() || now > self.now) {
            self.now = now;
        }
        if self.error.is_none() {
            self.error = self.roll_in_time().err();
        }
    }

    /// Whether all went well so far. After an error nothing more is written; what was written can be read.
    ///
    /// # Errors
    /// Whatever stopped the writing.
    pub fn check(&self) -> Result<(), &StoreError> {
        self.error.as_ref().map_or(Ok(()), Err)
    }

    /// Closes all parts, and marks the recording as complete.
    ///
    /// # Errors
    /// Whatever stopped the writing, now or before.
    pub fn finish(mut self) -> Result<Written, StoreError> {
        if self.error.is_none() {
            self.error = self.complete().err();
        }
        match self.error {
            Some(error) => Err(error),
            None => Ok(Written {
                path: self.dir,
                events: self.seq,
                bytes: self.tables.iter().map(TableWriter::bytes).sum(),
                meta: self.meta,
            }),
        }
    }

    fn complete(&mut self) -> Result<(), StoreError> {
        self.close_parts()?;
        for table in &mut self.tables {
            table.join_recent()?;
        }
        self.keep_within_size()?;
        self.meta.end = self.meta.end.or(self.now.get());
        self.meta.complete = true;
        self.write_meta()
    }

    #[inline]
    fn take(&mut self, event: &Event<'_>) -> Result<(), StoreError> {
        let now = tables::time_of(event);
        if now.is_known() && (!self.now.is_known() || now > self.now) {
            self.now = now;
            self.roll_in_time()?;
        }
        match event {
            Event::Loss(loss) => {
                let sum = self.meta.losses.entry(loss.table.clone()).or_default();
                sum.lost = sum.lost.saturating_add(loss.lost);
                sum.produced = sum.produced.saturating_add(loss.produced);
            }
            Event::Cost(cost) => self.meta.cost = Some(cost.into()),
            Event::Source(info) => self.source(info),
            _ => {}
        }
        let tables = tables::put(event, self.seq + 1, &mut self.rows);
        if tables.is_empty() {
            return Ok(());
        }
        self.seq += 1;
        for &id in tables {
            if self.rows[id as usize].len() >= BATCH {
                self.flush(id as usize)?;
            }
        }
        Ok(())
    }

    /// What the times mean is what they mean in the trace.
    fn source(&mut self, info: &SourceInfo) {
        if matches!(
            info.kind,
            CaptureKind::Strace | CaptureKind::Ltrace | CaptureKind::Sysdig | CaptureKind::Recording
        ) {
            self.meta.clock.kind = info.clock;
        }
        if self.meta.sources.len() < MOST_SOURCES {
            self.meta.sources.push(info.into());
        }
    }

    /// Hands the rows of a table over to be encoded.
    fn flush(&mut self, at: usize) -> Result<(), StoreError> {
        if self.rows[at].len() > 0 {
            let batch = Batch { columns: self.rows[at].take(), last_seq: self.seq, until: self.now };
            self.tables[at].add(batch)?;
        }
        Ok(())
    }

    /// Closes the parts if it is time to.
    #[inline]
    fn roll_in_time(&mut self) -> Result<(), StoreError> {
        let Some(part_time) = self.options.part_time else { return Ok(()) };
        if !self.rolled.is_known() {
            self.rolled = self.now;
            self.meta.start = self.meta.start.or(self.now.get());
        } else if self.now >= self.rolled.plus(part_time) {
            self.rolled = self.now;
            if self.close_parts()? {
                self.keep_within_size()?;
                self.write_meta()?;
            }
        }
        Ok(())
    }

    /// Closes all parts; false where there were none. In the order of the tables, so that what rows refer to is
    /// there before them.
    fn close_parts(&mut self) -> Result<bool, StoreError> {
        let mut any = false;
        for at in 0..self.tables.len() {
            self.flush(at)?;
            any |= self.tables[at].close()?;
        }
        Ok(any)
    }

    fn write_meta(&mut self) -> Result<(), StoreError> {
        let tables = self.tables.iter().filter(|table| table.parts() > 0);
        self.meta.tables = tables.map(|table| (table.name().to_string(), table.meta())).collect();
        self.meta.write(&self.dir)
    }

    /// Removes the oldest parts until the rest is small enough.
    fn keep_within_size(&mut self) -> Result<(), StoreError> {
        let Some(most) = self.options.max_size else { return Ok(()) };
        let mut size: u64 = self.tables.iter().map(TableWriter::bytes).sum();
        let mut old = Vec::new();
        while size > most {
            let oldest = |keep: Keep| {
                let candidates = self.tables.iter().enumerate().filter(|(_, table)| table.keep() == keep);
                let ages = candidates.filter_map(|(at, table)| Some((table.oldest()?.last_seq, at)));
                ages.min().map(|(_, at)| at)
            };
            let Some(at) = oldest(Keep::Newest).or_else(|| oldest(Keep::All)) else { break };
            let table = &mut self.tables[at];
            let Some(closed) = table.take_oldest() else { break };
            size -= closed.part.bytes;
            let removed = self.meta.removed.get_or_insert_default();
            *removed.rows.entry(table.name().to_string()).or_default() += closed.part.rows;
            removed.seq.insert(table.name().to_string(), closed.last_seq);
            if at == tables::Id::Syscalls as usize {
                removed.calls_until = closed.until.get();
            }
            old.push(closed.part.path);
        }
        if !old.is_empty() {
            // First told, then done: a reader never misses what it was not told of.
            self.write_meta()?;
        }
        for path in old {
            fs::remove_file(&path).map_err(|error| StoreError::io(&path, error))?;
        }
        Ok(())
    }
}

impl Sink for Writer {
    #[inline]
    fn push(&mut self, event: Event<'_>) {
        if self.error.is_none() {
            self.error = self.take(&event).err();
        }
    }
}

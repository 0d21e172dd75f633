//! Recordings on disk: events to Parquet tables and back.
//!
//! A recording is a directory `NAME.whyslow`: `meta.json` and a folder for each table, with Parquet parts in it that
//! pandas, DuckDB, polars or Spark open as they are. Each event has a number (`seq`) over all tables, so that a
//! reader gives back the stream that was recorded, whatever the clocks said. docs/RECORDING.md lists the columns.

mod column;
mod copy;
mod cursor;
mod error;
mod guard;
mod meta;
mod notes;
mod open_file;
mod open_part;
mod options;
mod pages;
mod part;
mod reader;
mod scan;
mod sound;
mod table_writer;
mod tables;
mod text;
mod writer;

pub use column::{ColumnSpec, Kind};
pub use copy::{Copied, Edit, TextPlace, copy};
pub use error::StoreError;
pub use meta::{
    ClockOffset, CostMeta, HostInfo, KeptMeta, LossMeta, Meta, Removed, SCHEMA, SourceMeta, TableMeta,
};
pub use options::WriteOptions;
pub use reader::{Outcome, is_recording, read, read_meta};
pub use scan::{CheckedPart, PartFile, PartRows, part_files};
pub use sound::{SoundPart, SoundParts, sound_parts};
pub use tables::{Keep, TABLES, TableSpec, table};
pub use text::{CUT, MAX_TEXT};
pub use writer::{Writer, Written};

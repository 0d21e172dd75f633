//! Parts: what agents write each minute, what is stored of it, and what is asked later.
//!
//! A part is a Parquet file of one table, hour and host. Its path says which minutes of which run of an agent are in it
//! ([`PartName`]), so that a repeated upload changes nothing, and a list of names tells which parts are to be read
//! ([`choose`]): none twice, none left out, whatever has been joined meanwhile. Nothing here knows a network.

mod choose;
mod column;
mod error;
mod file;
mod guard;
mod minutes;
mod name;
mod order;
mod row;
mod table;
mod tables;
mod value;

pub use choose::{Choice, Claims, choose, doubtful};
pub use column::{PartColumn, PartKind};
pub use error::PartError;
pub use file::{MOST_PART_BYTES, PartAbout, PartReader, PartVersion, PartWriter, VERSION, about, encode};
pub use minutes::PartMinutes;
pub use name::{PartHost, PartHour, PartName, escape_host};
pub use order::join_batches;
pub use row::{MinuteRows, Observed, PartRow, rows_of};
pub use table::PartTable;
pub use tables::{
    AccountRow, AgentRow, CallRow, FindingRow, HostRow, PART_TABLES, RequestRow, StackRow, UseRow, part_table,
};
pub use value::UtcTime;

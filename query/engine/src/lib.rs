//! SQL over recordings and captures.
//!
//! [`Database::open`] takes recordings, captures and directories of them. Tables of recordings are read where they lie, in Parquet, after
//! their parts were checked; captures are converted into a temporary recording first. What facts and rules say (the account, requests,
//! waits, findings) is computed when a question first names it. Only questions are answered: nothing is written, and no file is opened
//! because a question names it.

mod answer;
mod captures;
mod catalog;
mod database;
mod derivation;
mod derived;
mod error;
mod facts;
mod functions;
mod infos;
mod macros;
mod options;
mod parts;
mod session;
mod views;

pub use answer::{QueryAnswer, QueryLimits};
pub use database::{Database, answer_on};
pub use error::QueryError;
pub use functions::harmless;
pub use infos::{ColumnInfo, FunctionInfo, MacroInfo, TableInfo, TableKind};
pub use options::DatabaseOptions;

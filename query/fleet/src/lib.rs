//! Questions about many hosts.
//!
//! Agents store parts (crates/parts) in a directory or a bucket. [`Fleet::open`] makes tables of them for DataFusion: a question lists
//! the folders of the hours that it is about and no others, reads the ends of the parts that lie there, and of the rest what its
//! filters leave. What a part says wrongly of itself costs that part, and is told. The questions that have names are SQL on these
//! tables and arithmetic on few rows, so that they run on any engine that is given to [`Fleet::open_on`].

mod error;
mod fleet;
mod footers;
mod hours;
mod listing;
mod questions;
mod rows;
mod small;
mod span;
mod stats;
mod store;
mod table;
mod words;

pub use error::FleetError;
pub use fleet::{Fleet, FleetOptions, FleetStore, FleetUsage};
pub use questions::*;
pub use span::{FleetSpan, parse_duration, parse_time, shown};
pub use store::parts_store;
pub use words::bytes;

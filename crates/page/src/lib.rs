//! A recording or capture as one HTML file: the report, readable without scripts, and the data that its scripts draw: the timeline, who
//! waits for whom, stacks, requests, tables, the host.
//!
//! [`PageReader`] takes the events; what it keeps of the time is bounded, however long that is. [`PageSide`] is a run with its
//! diagnosis, and [`write_page`] writes one or two of them within [`PAGE_LIMIT`]: what matters most is kept, and what is left out is
//! told. [`write_served`] writes the same data for a server of pages, whose pages are [`served_shell`]. The scripts stand in `bundle/`, which `page/` builds.

mod data;
mod grid;
mod host;
mod html;
mod leads;
mod plan;
mod reader;
mod requests;
mod run;
mod served;
mod slices;
mod stacks;
mod tables;
mod texts;
mod threads;
mod time;
mod waits;
mod wakes;

pub use html::{PAGE_LIMIT, write_page};
pub use reader::PageReader;
pub use run::PageSide;
pub use served::{served_policy, served_shell, write_served};

//! Readers for the captures of other tools: bytes in, [`whyslow_model::Event`]s out.
//!
//! A format is one file under `formats/` and one line in [`formats::FORMATS`]. Readers never fail on a
//! damaged line: they count it, quote a few, and use the rest. Memory is bounded whatever the input's size.

mod error;
mod folder;
pub mod formats;
mod input;
mod lines;
mod looks;
mod open;
mod order;
mod source;
mod starts;

pub use error::InputError;
pub use input::{Input, ReadOptions, ReadOutcome, read};
pub use lines::Lines;
pub use open::Progress;
pub use source::Source;

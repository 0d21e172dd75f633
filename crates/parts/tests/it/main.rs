//! What the crate promises, as its users see it.

mod choice;
mod documentation;
mod evolution;
mod round_trip;

//! The tests of recordings on disk: there and back, damage, ends in the middle, other readers.

mod common;
mod copies;
mod damage;
mod documentation;
mod live;
mod python;
mod round_trip;
mod strangers;

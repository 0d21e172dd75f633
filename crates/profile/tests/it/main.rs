//! The tests of the readers of profiles: captures, and damage.

mod captures;
mod common;
mod hostile;

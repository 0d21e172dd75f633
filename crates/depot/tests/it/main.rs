//! Stores as agents and their keepers use them: a directory, and an S3 server with faults between.

mod common;
mod directory;
mod faults;
mod keeping;
mod proxy;
mod server;

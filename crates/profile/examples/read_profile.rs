//! Reads profiles and says how long that took: `cargo run --release -p whyslow-profile --example read_profile FILE…`, for measuring the reader alone.

use std::path::Path;
use std::time::Instant;
use whyslow_profile::formats::{Limits, ProfileData, read_file};

fn main() {
    for name in std::env::args().skip(1) {
        let start = Instant::now();
        let loaded = read_file(Path::new(&name), Limits::default());
        let took = start.elapsed();
        match loaded {
            Ok(loaded) => match &loaded.data {
                ProfileData::Stacks(profile) => println!(
                    "{name}: {}: {} samples, {} stacks, {took:?}",
                    loaded.format,
                    profile.sample_count(),
                    profile.stack_count()
                ),
                ProfileData::Table(table) => {
                    println!("{name}: {}: {} rows, {took:?}", loaded.format, table.rows.len())
                }
            },
            Err(error) => println!("{error}"),
        }
    }
}

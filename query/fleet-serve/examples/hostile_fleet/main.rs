//! Writes a fleet whose names are markup: `hostile_fleet ROOT`. The tests in a browser look at it.

mod fleet;

use std::path::Path;

fn main() {
    match std::env::args_os().nth(1) {
        Some(root) => fleet::hostile_fleet(Path::new(&root)),
        None => eprintln!("usage: hostile_fleet ROOT"),
    }
}

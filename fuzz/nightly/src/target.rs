//! libFuzzer on the target that `FUZZ_TARGET` names: `fuzz/run` sets it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use whyslow_fuzz::{Target, find};

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET=NAME");
        let target = find(&name).unwrap_or_else(|| panic!("FUZZ_TARGET={name}: there is no such target"));
        TARGET.get_or_init(|| target);
    },
    |data: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(data);
        }
    }
);

//! Connections: any bytes in any chunks, of which parts may be missing.
#![no_main]
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| whyslow_fuzz::connections(data));

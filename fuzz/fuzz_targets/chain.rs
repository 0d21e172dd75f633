//! Any bytes through the whole chain: sniffed, read, folded, judged, written.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::whole_chain(data));

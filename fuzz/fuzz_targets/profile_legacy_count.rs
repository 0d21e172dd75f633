//! Any bytes as a profile of the format "Go counts as text".

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_profile_as("Go counts as text", data));

//! Any bytes as a profile of the format "gperftools CPU profile".

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_profile_as("gperftools CPU profile", data));

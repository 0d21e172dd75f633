//! Any bytes as a table of strace -c.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_as(whyslow_model::CaptureKind::StraceCount, data));

//! Any bytes as a log of strace.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_as(whyslow_model::CaptureKind::Strace, data));

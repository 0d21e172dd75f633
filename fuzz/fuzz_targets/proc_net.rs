//! Any bytes as a table of /proc/net.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_as(whyslow_model::CaptureKind::ProcNet, data));

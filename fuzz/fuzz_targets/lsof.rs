//! Any bytes as the table and as the fields of lsof.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_as(whyslow_model::CaptureKind::Lsof, data));

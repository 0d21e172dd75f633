//! Any bytes as a listing of /proc/PID/fd.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| whyslow_fuzz::read_as(whyslow_model::CaptureKind::ProcFd, data));

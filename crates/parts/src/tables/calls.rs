//! Table `calls`: system calls and their durations.

part_table! {
    "calls": "The calls of one kind on one object in a minute, and their durations.",
    CallRow, sorted by ["host", "service", "start"], over hosts: false;
    service: String, Word, "As in `accounts`.";
    version: Option<String>, Word, "As in `accounts`.";
    process: String, Word, "The process's name.";
    role: String, Word, "The threads' role.";
    call: String, Word, "The call.";
    object: Option<String>, Word, "Not told: see `uses`.";
    calls: u64, U64, "How many.";
    errors: Option<u64>, U64, "How many of them failed.";
    ns: Option<u64>, U64 "ns", "Their durations together.";
    longest_ns: Option<u64>, U64 "ns", "The longest.";
    buckets: Option<Vec<u64>>, Histogram, "How many took from 2^i to below 2^(i+1) ns, by i from 0.";
}

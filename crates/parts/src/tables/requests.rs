//! Table `requests`: requests served and made.

part_table! {
    "requests": "The requests to one endpoint in a minute, served or made, and their durations.",
    RequestRow, sorted by ["host", "service", "start"], over hosts: false;
    service: String, Word, "As in `accounts`.";
    version: Option<String>, Word, "As in `accounts`.";
    side: String, Word, "`served` or `made`.";
    protocol: String, Word, "The protocol.";
    endpoint: String, Word, "The endpoint, without what differs from request to request.";
    peer: Option<String>, Word, "The other side.";
    requests: u64, U64, "How many.";
    failed: Option<u64>, U64, "How many of them failed.";
    ns: Option<u64>, U64 "ns", "Their durations together.";
    p50_ns: Option<u64>, U64 "ns", "Half of them took no longer.";
    p90_ns: Option<u64>, U64 "ns", "Nine tenths of them took no longer.";
    p99_ns: Option<u64>, U64 "ns", "99 of 100 took no longer.";
    longest_ns: Option<u64>, U64 "ns", "The longest.";
    buckets: Option<Vec<u64>>, Histogram, "How many took from 2^i to below 2^(i+1) ns, by i from 0.";
}

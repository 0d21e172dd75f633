//! Table `uses`: what was done with files and services.

part_table! {
    "uses": "What was done in a minute with the files of one pattern, or over all connections to one service. Calls in `calls` are those of all objects; these are the same calls, by what they were about.",
    UseRow, sorted by ["host", "service", "start"], over hosts: false;
    service: String, Word, "As in `accounts`.";
    version: Option<String>, Word, "As in `accounts`.";
    process: String, Word, "The process's name.";
    kind: String, Word, "What the object is: file, directory, device, tcp, udp, unix and others.";
    side: Option<String>, Word, "Of a service: `asked`, where the process connected to it, or `served`, where it accepted.";
    object: String, Word, "The pattern of the files, or the service's address.";
    reads: u64, U64, "Reads.";
    read_bytes: u64, U64, "Bytes that they brought.";
    writes: u64, U64, "Writes.";
    written_bytes: u64, U64, "Bytes that they took.";
    syncs: u64, U64, "Calls of fsync and fdatasync.";
    opened: u64, U64, "Opens that succeeded.";
    failed: u64, U64, "Calls that failed.";
    ns: Option<u64>, U64 "ns", "The durations of all of them together.";
    longest_ns: Option<u64>, U64 "ns", "The longest.";
}

//! Table `agents`: what the agents say of themselves.

part_table! {
    "agents": "An agent in a minute: what it took, and what it lost.",
    AgentRow, sorted by ["host", "start"], over hosts: true;
    version: String, Word, "The agent's version.";
    kernel: String, Word, "The kernel's release.";
    mode: String, Word, "How it recorded.";
    cpu_share: Option<f64>, F64, "What it took of one CPU: 0 to 1.";
    memory_bytes: Option<u64>, U64 "bytes", "Its resident memory.";
    events: Option<u64>, U64, "Events taken in.";
    lost: Option<u64>, U64, "Events lost.";
    shed: Option<String>, Word, "The detail that it gave up to stay within its budget; unknown where none.";
    clock_skew_ns: Option<i64>, I64 "ns", "How far its clock is ahead of that of the store's server.";
    parts_waiting: Option<u64>, U64, "Parts that wait to be uploaded.";
}

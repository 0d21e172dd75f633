//! Schemas of the tables: which keys a row of each view may have, what they mean, in which unit. A test of the binary holds the
//! tables of all captures against them.

use serde_json::{Map, Value, json};

/// What a cell holds where it is known.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Count,
    /// A duration.
    Ns,
    Bytes,
    /// A part of a whole.
    Share,
    PerSecond,
    BytesPerSecond,
    Number,
    Counts,
}
use Holds::{Bytes, BytesPerSecond, Count, Counts, Ns, Number, PerSecond, Share, Text};

/// A key of a row.
type Key = (&'static str, Holds, &'static str);

/// The keys of each view.
const TABLES: &[(&str, &[Key])] = &[
    ("account", ACCOUNT),
    ("summary", SUMMARY),
    ("host", HOST),
    ("disks", DISKS),
    ("files", FILES),
    ("fds", FDS),
    ("peers", PEERS),
    ("requests", REQUESTS),
    ("locks", LOCKS),
    ("path", PATH),
    ("threads", THREADS),
    ("formats", FORMATS),
];

const ACCOUNT: &[Key] = &[
    ("who", Text, "Who spends it: threads of one role of a process."),
    ("state", Text, "Running, or what it waits for: user, run-queue, file, peer, lock and others."),
    ("call", Text, "In which call; null outside of calls."),
    ("object", Text, "On what: a path, an address, a lock; of time on a CPU the function that takes most."),
    ("goroutines", Text, "Where goroutines of the process wait meanwhile."),
    ("device", Text, "The device behind the file that is waited for, with the mean time of a request."),
    (
        "works_on",
        Text,
        "What the threads read just before they compute, again and again: how much of the time, how often, how much each.",
    ),
    ("time", Ns, "How much."),
    ("share", Share, "The part of the account."),
    (
        "known",
        Text,
        "How well it is known where it was not measured whole: at-least, in-proportion, at-most.",
    ),
    ("count", Count, "How many calls, or requests that spend it; null where it is one sum."),
    ("mean", Ns, "Of those the mean."),
    ("p99", Ns, "Of those the 99th percentile."),
    ("longest", Ns, "Of those the longest."),
    ("evidence", Text, "Where the longest is seen."),
];

const SUMMARY: &[Key] = &[
    ("time_share", Share, "The part of the time in calls."),
    ("total", Ns, "Time in the calls."),
    ("mean", Ns, "The mean of one."),
    ("calls", Count, "How many."),
    ("errors", Count, "How many of them failed."),
    ("min", Ns, "The shortest."),
    ("max", Ns, "The longest."),
    ("p50", Ns, "The median."),
    ("p90", Ns, "The 90th percentile."),
    ("p99", Ns, "The 99th percentile."),
    ("work_share", Share, "The part of the time in calls that work, without those that wait."),
    ("nature", Text, "Whether it waits or works."),
    ("cost", Text, "Whose time it mostly is: the call's or the tracer's."),
    ("process", Text, "The process."),
    ("thread", Text, "The thread."),
    ("cgroup", Text, "The control group."),
    ("container", Text, "The container."),
    ("errno", Text, "The error."),
    ("path", Text, "The file."),
    ("pattern", Text, "The pattern of files."),
    ("fd", Text, "The descriptor."),
    ("peer", Text, "The other end."),
    ("function", Text, "The function of the kernel."),
    ("syscall", Text, "The system call."),
];

const HOST: &[Key] = &[
    ("kind", Text, "resource, process, thread, call and others."),
    ("name", Text, "Its name."),
    ("state", Text, "Of a resource saturated, not saturated or unknown; of a taker whose victim it is."),
    ("takes", Text, "Of a resource why; of others what they take."),
    ("waits", Text, "What it waits for."),
    ("supply", Text, "The command that tells more, where something is missing."),
];

const DISKS: &[Key] = &[
    ("device", Text, "The device."),
    ("place", Text, "Its volume, and where it is mounted."),
    ("op", Text, "read, write, flush, discard."),
    ("process", Text, "The process."),
    ("requests", Count, "Requests."),
    ("per_s", PerSecond, "Requests a second."),
    ("bytes", Bytes, "Their bytes."),
    ("bytes_per_s", BytesPerSecond, "Their bytes a second."),
    ("size", Bytes, "The mean size of one."),
    ("usual_size", Bytes, "The most frequent size."),
    ("in_order", Share, "Requests that begin where the one before ended."),
    ("in_flight", Number, "Requests at the device, on average."),
    ("busy", Share, "Time in which a request was at the device."),
    ("queued_p50", Ns, "Median of the time before the device got it."),
    ("queued_p99", Ns, "99th percentile of the time before the device got it."),
    ("mean", Ns, "The mean latency."),
    ("p50", Ns, "The median latency."),
    ("p99", Ns, "The 99th percentile of the latency."),
    ("max", Ns, "The largest latency."),
    ("from", Ns, "Of a histogram: latencies from here on."),
    ("to", Ns, "Of a histogram: latencies below."),
    ("share", Share, "Of a histogram: the part of the requests."),
    ("distribution", Text, "Of a histogram: a bar of stars."),
    ("over_time", Counts, "Requests in equal slots of time."),
];

const FILES: &[Key] = &[
    ("total", Ns, "Time in calls on it."),
    ("max", Ns, "The longest call."),
    ("calls", Count, "Calls."),
    ("files", Count, "Files in the row."),
    ("stats", Count, "Calls that ask about it."),
    ("missing", Count, "Calls that failed because it is not there."),
    ("opens", Count, "Opens."),
    ("reads", Count, "Reads."),
    ("bytes_read", Bytes, "Read."),
    ("writes", Count, "Writes."),
    ("bytes_written", Bytes, "Written."),
    ("syncs", Count, "Calls of fsync and fdatasync."),
    ("to_disk", Bytes, "Written to a disk for it."),
    ("size", Bytes, "Its size."),
    ("life", Text, "Created, removed, renamed meanwhile."),
    ("tool", Text, "What kind of file, or whose: a log, a database."),
    ("container", Text, "The container."),
    ("process", Text, "The process, or the one that uses it most."),
    ("thread", Text, "The thread, or the one that uses it most."),
    ("path", Text, "The file, or by what rows are grouped."),
];

const FDS: &[Key] = &[
    ("process", Text, "The process."),
    ("fd", Count, "The descriptor."),
    ("kind", Text, "A file, a socket, a pipe and others."),
    ("state", Text, "A TCP state, open or closed."),
    ("opened", Text, "When it was opened, time of day."),
    ("closed", Text, "When it was closed, time of day."),
    ("reads", Count, "Reads."),
    ("bytes_read", Bytes, "Read."),
    ("writes", Count, "Writes."),
    ("bytes_written", Bytes, "Written."),
    ("total", Ns, "Time in calls on it."),
    ("local", Text, "The own end of a socket."),
    ("target", Text, "The file, or the other end."),
    ("role", Text, "What it is for: clients, servers asked, logs."),
    ("address", Text, "The address of all of a group."),
    ("descriptors", Count, "Descriptors of the group."),
    ("open", Count, "Of these open at the end."),
    ("hosts", Count, "Hosts at the other ends."),
];

const PEERS: &[Key] = &[
    ("process", Text, "The process."),
    ("role", Text, "What the process has it as: a client, a server, a listener."),
    ("protocol", Text, "The protocol."),
    ("requests", Count, "Requests; null of a stream."),
    ("errors", Count, "Failed ones."),
    ("p50", Ns, "The median answer."),
    ("p99", Ns, "The 99th percentile."),
    ("max", Ns, "The slowest answer."),
    ("unanswered", Count, "Requests without an answer."),
    ("waited", Ns, "Time in calls that waited for it."),
    ("connections", Count, "Connections opened."),
    ("failed_connects", Count, "Connects that failed."),
    (
        "calls",
        Count,
        "Of a service whose calls were only counted: all reads and writes on the connections to it.",
    ),
    ("time", Ns, "How long these took."),
    ("error", Text, "Why most of them failed."),
    ("sent", Bytes, "Sent to it."),
    ("received", Bytes, "Received from it."),
    ("peer", Text, "Its address, with its name where that is known."),
    ("peer_process", Text, "The process at the other end, where it is of the same host."),
];

const REQUESTS: &[Key] = &[
    ("side", Text, "server: served; client: made."),
    ("protocol", Text, "The protocol."),
    ("requests", Count, "Answered requests."),
    ("errors", Count, "Failed ones."),
    ("open", Count, "Not answered when the capture ended."),
    ("rate", PerSecond, "Requests a second."),
    ("total", Ns, "Their time together."),
    ("p50", Ns, "The median."),
    ("p90", Ns, "The 90th percentile."),
    ("p99", Ns, "The 99th percentile."),
    ("p999", Ns, "99.9 of 100 take at most so long."),
    ("max", Ns, "The longest."),
    ("received", Bytes, "Received."),
    ("sent", Bytes, "Sent."),
    ("waiting", Share, "The part of the time in calls that wait."),
    ("working", Share, "The part in calls that work."),
    ("between", Share, "The part outside of calls."),
    ("downstream", Text, "What most of the time is for: requests to others."),
    ("endpoint", Text, "What is asked for, without what differs from request to request."),
    ("peer", Text, "The other end."),
    ("process", Text, "The process."),
    ("thread", Text, "The thread."),
    ("number", Count, "Its number, as `whyslow path --request` takes it."),
    ("at", Text, "When it began, time of day."),
    ("time", Ns, "From its first byte to the last of the answer."),
    ("first_byte", Ns, "To the first byte of the answer."),
    ("status", Text, "How it was answered."),
    ("waits", Text, "What took most of its time."),
    ("where", Text, "The line at which its thread is mostly."),
    ("answered_by", Text, "The thread that answered, where it is another one."),
    ("parent", Count, "The request in which it was made."),
    ("fd", Count, "The descriptor."),
    ("request", Text, "What was asked, as it was asked."),
    ("host", Text, "The host that was asked for."),
    ("trace_id", Text, "Its trace id."),
    ("line", Text, "Where it is seen."),
];

const LOCKS: &[Key] = &[
    ("process", Text, "The process."),
    ("lock", Text, "Its address, or the file that is locked."),
    ("kind", Text, "mutex, other, or the kind of a lock on a file."),
    ("waits", Count, "Waits for it."),
    ("total", Ns, "Time waited."),
    ("mean", Ns, "The mean wait."),
    ("longest", Ns, "The longest wait."),
    ("waiters", Count, "Threads that waited."),
    ("verdict", Text, "Whether it is held long or wanted often."),
    ("waits_at", Text, "The line at which threads wait for it."),
    ("holder", Text, "Who ended most of the waiting."),
    ("held_at", Text, "The line at which the holder spends most of its other time."),
    ("meanwhile", Text, "What the longest wait goes back to."),
    ("code", Text, "Frames of the holder."),
    ("timed_out", Count, "Waits that ended by their time limit."),
    ("changed_first", Count, "Waits that did not begin: its value had changed."),
    ("waker", Text, "The thread that woke most."),
    ("held_for", Text, "The slow call in which the waker was while others slept."),
];

const PATH: &[Key] = &[
    ("who", Text, "Who spends it, indented by who waits for whom."),
    ("what", Text, "What it does or waits for."),
    ("kind", Text, "The kind of cost: lock, disk, peer, run-queue and others."),
    ("time", Ns, "How much."),
    ("share", Share, "The part of the whole."),
    ("times", Count, "How often."),
    ("elsewhere", Ns, "How long it blocked others beside."),
    ("intervals", Count, "In how many of the requests or threads."),
    ("evidence", Text, "Where it is seen."),
];

const THREADS: &[Key] = &[
    ("process", Text, "The process."),
    ("thread", Text, "The thread, or the name that several share."),
    ("threads", Count, "Threads in the row."),
    ("mostly", Text, "What it does most, and the part of its time."),
    ("calls", Count, "Calls."),
    ("calls_per_s", PerSecond, "Calls a second."),
    ("wall", Ns, "From its first to its last event."),
    ("working", Ns, "In calls that work."),
    ("waiting", Ns, "In calls that wait."),
    ("between", Ns, "Outside of calls."),
    ("on_cpu", Ns, "On a CPU, by the scheduler."),
    ("runnable", Ns, "Able to run, without a CPU."),
    ("blocked", Ns, "Asleep."),
    ("run_queue_p99", Ns, "99th percentile of the waits for a CPU."),
    ("woken_by", Text, "Who wakes it most."),
    ("lock", Ns, "Waited for locks."),
    ("network", Ns, "Waited for the network."),
    ("pipe", Ns, "Waited for pipes."),
    ("timer", Ns, "Waited for times."),
    ("child", Ns, "Waited for children."),
    ("poll", Ns, "Waited for any of several descriptors."),
    ("accept", Ns, "Waited for new clients."),
    ("other", Ns, "Waited for something else."),
    ("longest_wait", Ns, "The longest wait."),
    ("longest_for", Text, "For what that was."),
    ("over_time", Text, "Calls over time, drawn."),
];

const FORMATS: &[Key] = &[
    ("format", Text, "Its name, as `whyslow export --to` takes it."),
    ("about", Text, "What is in it."),
    ("opened_by", Text, "What opens it."),
];

/// The schema of a view.
pub(super) fn of_view(view: &str) -> Value {
    let keys = TABLES.iter().find(|(name, _)| *name == view).map_or(&[][..], |(_, keys)| keys);
    let properties: Map<String, Value> =
        keys.iter().map(|(key, holds, about)| (key.to_string(), cell(*holds, about))).collect();
    json!({
        "description": "A table. All rows have the same keys; which, depends on how they are grouped. What is unknown is null.",
        "type": "object",
        "properties": {
            "view": { "description": "Which table.", "const": view },
            "question": { "description": "What it answers.", "type": "string" },
            "rows": { "description": "The rows.", "type": "array", "items": { "$ref": "#/$defs/Row" } },
            "total": { "description": "A row of totals; null where they make no sense.", "anyOf": [{ "$ref": "#/$defs/Row" }, { "type": "null" }] },
            "notes": { "description": "What the figures mean, and what is not in them.", "type": "array", "items": { "type": "string" } },
        },
        "required": ["view", "question", "rows", "total", "notes"],
        "$defs": { "Row": {
            "description": "One row.",
            "type": "object",
            "properties": properties,
            "minProperties": 1,
        } },
    })
}

fn cell(holds: Holds, about: &str) -> Value {
    let figure = |kind: &str, unit: &str| json!({ "description": about, "type": [kind, "null"], "minimum": 0, "x-unit": unit });
    match holds {
        Text => json!({ "description": about, "type": ["string", "null"] }),
        Count => figure("integer", "count"),
        Ns => figure("integer", "ns"),
        Bytes => figure("integer", "bytes"),
        Share => figure("number", "share"),
        PerSecond => figure("number", "per_second"),
        BytesPerSecond => figure("number", "bytes_per_second"),
        Number => figure("number", "count"),
        Counts => {
            json!({ "description": about, "type": ["array", "null"], "items": { "type": "integer", "minimum": 0 } })
        }
    }
}

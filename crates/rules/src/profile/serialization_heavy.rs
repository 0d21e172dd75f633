//! # serialization-heavy
//!
//! ## What it is
//! Of the time on a CPU, 20 % and more is in calls that encode or decode JSON, XML, protobuf and their like, with
//! the memory that they take.
//!
//! ## Why it is slow
//! The whole document is walked, often by reflection, and often for a few of its fields.
//!
//! ## Example
//! ```text
//! api: encoding/json.Unmarshal 41 % of CPU in handleEvent
//! ```
//!
//! ## What to do instead
//! Send and decode less (fields that are used, pages instead of all), once instead of on each way; a faster codec
//! (generated code instead of reflection, a binary format).
//!
//! ## When it is wrong
//! A gateway translates by nature: then a faster codec is all there is to win.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::{CostKind, Runtime};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "serialization-heavy",
    group: "profile",
    summary: "turning data into JSON, XML or protobuf and back takes a good part of the CPU time",
    source: include_str!("serialization_heavy.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: a faster codec halves it at best. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.20;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Serialization],
    asked: true,
    made_by: None,
    what: "serialization",
    why: "Data is turned into a format and back more than it is worked with.",
    fixes: &[
        "send and decode less: only the fields that are used; keep the decoded form instead of decoding again",
        "take a binary format between programs of your own (protobuf, MessagePack, CBOR)",
    ],
    of_runtime: &[
        (
            Some(Runtime::Go),
            "Go: generated code or a faster codec: easyjson, sonic; json.Decoder on the stream instead of Unmarshal of all",
        ),
        (
            Some(Runtime::Java),
            "Java: one ObjectMapper for all (it is slow to make); Jackson's afterburner or blackbird module; the streaming API for large documents",
        ),
        (Some(Runtime::Python), "Python: orjson or msgspec instead of json"),
        (
            Some(Runtime::Node),
            "Node.js: keep the parsed object; send what is large as a stream; JSON.parse of megabytes belongs in a worker thread; fast-json-stringify for answers of one shape",
        ),
        (None, "C and C++: simdjson or RapidJSON in place; Rust: serde with borrowed strings, simd-json"),
    ],
    verify: "whyslow diff before.pprof after.pprof --per requests=N,M   (serialization a request falls)",
    beside: Beside::Moved,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: false,
};

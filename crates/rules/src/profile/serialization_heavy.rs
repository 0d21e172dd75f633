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
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "serialization-heavy",
    group: "profile",
    summary: "turning data into JSON, XML or protobuf and back takes a good part of the CPU time",
    source: include_str!("serialization_heavy.rs"),
    needs: &[Need::Profile],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: a faster codec halves it at best. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.20;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Serialization],
    touched: true,
    what: "serialization",
    why: "Data is turned into a format and back more than it is worked with.",
    fixes: &[
        "send and decode less: only the fields that are used; keep the decoded form instead of decoding again",
        "use generated code or a faster codec (jsoniter, sonic, simdjson, orjson; serde instead of reflection), or a binary format",
    ],
    of_runtime: &[],
    verify: "whyslow diff before.pprof after.pprof --per requests=N,M   (serialization a request falls)",
    beside: Beside::Moved,
    at_most: Severity::Warning,
};

//! # text-parsing
//!
//! ## What it is
//! Of the time on a CPU, 15 % and more is in calls that split, scan or convert text, with the memory that they
//! take.
//!
//! ## Why it is slow
//! Text is made by one program for people and taken apart by another, a field at a time. A binary interface, or
//! reading only the columns that are needed, costs a fraction.
//!
//! ## Example
//! ```text
//! cpu.pprof: 48 % of CPU is nux.readTcp: strings.Fields on each line of /proc/net/tcp, for two of its columns
//! ```
//!
//! ## What to do instead
//! Ask for the data in binary form (sock_diag instead of /proc/net/tcp, perf or bpf instead of a log). Else parse
//! bytes by position, without a list of all fields.
//!
//! ## When it is wrong
//! A job that is there to parse text (an import, a log shipper) does its honest work: then it is worth a faster
//! parser at most. Where the file is known (a trace of the same process), it says more.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "text-parsing",
    group: "profile",
    summary: "splitting and converting text takes a good part of the CPU time",
    source: include_str!("text_parsing.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.15;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::TextParsing],
    asked: true,
    made_by: None,
    what: "text parsing",
    why: "Text is split into fields and converted over and over; what of it is used, a profile does not show.",
    fixes: &[
        "ask for less text, or for the same data in a binary form",
        "parse bytes by position and only the columns that are used; no split into all fields, no string for each",
        "parse what changed only, or less often",
    ],
    of_runtime: &[],
    verify: "whyslow diff before.pprof after.pprof --per lines=N,M   (text parsing a line falls)",
    beside: Beside::Read,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: false,
};

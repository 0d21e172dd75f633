//! # regex-backtracking
//!
//! ## What it is
//! Of the time on a CPU, 20 % and more is in a regular expression engine.
//!
//! ## Why it is slow
//! An engine that backtracks (Java, Python, PCRE, JavaScript, std::regex) can need time that grows with the square
//! or the power of the text's length; also a fast engine is slow where the expression is compiled for each text.
//!
//! ## Example
//! ```text
//! Pattern$Loop.match 64 % of CPU below UserFilter.check
//! ```
//!
//! ## What to do instead
//! Anchor the expression, take nested repetitions out of it ((a+)+), compile it once; or use an engine without
//! backtracking (RE2, Rust's regex, Go's), or a plain search.
//!
//! ## When it is wrong
//! A program that is there to match (grep, a log filter) does its honest work. The profile shows that matching is
//! what costs, not that it backtracks: a match whose time grows faster than its text shows that. Where taking text apart costs half as much and
//! more beside, the expressions are a step of it (`text-parsing`), and this is a notice.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::{CostKind, Runtime};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "regex-backtracking",
    group: "profile",
    summary: "matching regular expressions takes a good part of the CPU time",
    source: include_str!("regex_backtracking.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.20;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Regex],
    asked: true,
    made_by: None,
    what: "regular expressions",
    why: "Most likely an expression is tried at many places again and again, or compiled for each text.",
    fixes: &[
        "compile each expression once, outside the loop",
        "anchor it, replace .* by what may really stand there, take nested repetitions ((a+)+) apart",
        "use a plain search or a prefix test before it",
    ],
    of_runtime: &[
        (
            Some(Runtime::Go),
            "Go: its engine does not backtrack: strings.Contains, strings.Cut or strings.HasPrefix where they will do",
        ),
        (
            Some(Runtime::Java),
            "Java: com.google.re2j does not backtrack; Pattern.compile once, not String.matches or replaceAll in a loop",
        ),
        (
            Some(Runtime::Python),
            "Python: google-re2 does not backtrack; re.compile once, possessive quantifiers from 3.11 on",
        ),
        (
            Some(Runtime::Node),
            "Node.js: the package re2 does not backtrack; or node --enable-experimental-regexp-engine-on-excessive-backtracks",
        ),
        (None, "an engine without backtracking: RE2, Rust's regex, PCRE2 with JIT and a match limit"),
    ],
    verify: "time one match of the longest text, then of one twice as long   (the time doubles, no more)",
    beside: Beside::Read,
    at_most: Severity::Warning,
    step_of: Some(CostKind::TextParsing),
    is_often_meant: false,
};

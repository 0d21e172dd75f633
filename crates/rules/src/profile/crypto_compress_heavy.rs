//! # crypto-compress-heavy
//!
//! ## What it is
//! Of the time on a CPU, 20 % and more is in ciphers, key exchange, digests or compression.
//!
//! ## Why it is slow
//! Both are work by the byte, and a handshake costs as much as encrypting megabytes.
//!
//! ## Example
//! ```text
//! libcrypto.so.3 38 % of CPU: a new TLS connection for each request
//! ```
//!
//! ## What to do instead
//! Keep connections (a handshake once), use the CPU's instructions (AES-NI, an OpenSSL built for them), a lower
//! compression level or zstd, compress once and keep it.
//!
//! ## When it is wrong
//! A CDN, a backup and gzip itself are there for that: it is a notice, unless it keeps four fifths of a CPU busy, so that whoever
//! waits for the program waits for that.

use super::beside::Beside;
use super::heavy::{self, Heavy};
use crate::engine::{Need, Rule};
use whyslow_model::Severity;
use whyslow_profile::kinds::CostKind;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "crypto-compress-heavy",
    group: "profile",
    summary: "encrypting, hashing or compressing takes a good part of the CPU time",
    source: include_str!("crypto_compress_heavy.rs"),
    needs: &[Need::SampledTime],
    check: |facts, out| heavy::check(&HEAVY, SHARE, facts, out),
};

/// Of the CPU time: below, a faster cipher or level brings less than a tenth. A proposal, of no population: see docs/THRESHOLDS.md.
const SHARE: f64 = 0.20;

static HEAVY: Heavy = Heavy {
    kinds: &[CostKind::Crypto, CostKind::Compression],
    asked: true,
    made_by: None,
    what: "cryptography and compression",
    why: "Bytes are encrypted, hashed or compressed.",
    fixes: &[
        "keep connections open, resume TLS sessions: no handshake for each request",
        "a lower level, zstd or lz4 instead of zlib; do not compress what is compressed",
        "check that the CPU's instructions are used: openssl speed -evp aes-128-gcm",
    ],
    of_runtime: &[],
    verify: "perf top -p PID --sort dso   (libcrypto, libz fall)",
    beside: Beside::Moved,
    at_most: Severity::Warning,
    step_of: None,
    is_often_meant: true,
};

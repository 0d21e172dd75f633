//! # profile-empty
//!
//! ## What it is
//! A profile among the inputs holds nothing: the file has no bytes, it ends in the middle, or it is whole and has no
//! samples.
//!
//! ## Why it is slow
//! It is not: but what it should show is not there. A profile is written when it is stopped, and what is still in
//! memory when the program is killed is lost.
//!
//! ## Example
//! ```text
//! $ ls -l cpu.pprof
//! -rw-r--r-- 1 app app 0 Nov  4 11:02 cpu.pprof
//! ```
//!
//! ## What to do instead
//! Go: stop the profile on SIGINT and SIGTERM too, since `defer pprof.StopCPUProfile()` runs neither after `os.Exit` and
//! `log.Fatal` nor when the program is killed (github.com/pkg/profile issues 48 and 57). Better, ask a running program
//! for it, with a limit of time (`whyslow profile http://HOST:PORT --seconds 30`), or sample from outside
//! (`whyslow profile -p PID`): nothing in the program has to end well for that.
//!
//! ## When it is wrong
//! A program that computed for less than a few milliseconds has no samples, and a mutex or block profile is empty where nobody
//! waited, or where `SetMutexProfileFraction` or `SetBlockProfileRate` was never called: then nothing is broken.

use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::{EmptyProfile, Facts};
use whyslow_model::profile::ProfileDamage;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "profile-empty",
    group: "capture",
    summary: "a profile holds nothing, or is cut",
    source: include_str!("profile_empty.rs"),
    needs: &[],
    check,
};

/// Profiles listed.
const MOST: usize = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let broken = facts.profiles.empty();
    let Some(first) = broken.first() else { return };
    let title = match broken.len() {
        1 => format!("{} {}", first.name, what(first.damage)),
        count => format!(
            "{} tell nothing: {} {}",
            words::plural(count as u64, "profile"),
            first.name,
            what(first.damage)
        ),
    };
    let mut found = out.capture(title).cause(why(first.damage));
    for EmptyProfile { name, what, .. } in broken.iter().take(MOST) {
        found = found.evidence_line(name.clone(), what.clone());
    }
    if matches!(first.damage, ProfileDamage::NoSamples) {
        found = found
            .fix("profile while it works, and for longer: 30 s at 100 samples per second make 3,000 samples of a busy CPU")
            .fix("Go: runtime.SetMutexProfileFraction or SetBlockProfileRate before a mutex or block profile");
    } else {
        found = found
            .fix("stop the profile on SIGINT and SIGTERM too; defer runs neither after os.Exit nor when the program is killed")
            .fix("ask the running program, with a limit of time: whyslow profile http://HOST:PORT --seconds 30 -o cpu.pprof");
    }
    found
        .fix("or sample from outside, without a change to the program: whyslow profile -p PID --seconds 30")
        .verify("gzip -t cpu.pprof; go tool pprof -raw cpu.pprof | head")
        .file();
}

fn what(damage: ProfileDamage) -> &'static str {
    match damage {
        ProfileDamage::Empty => "has no bytes: the profile was never written",
        ProfileDamage::CutCompressed { .. } | ProfileDamage::Cut { .. } => "ends in the middle",
        ProfileDamage::NoSamples => "has no samples",
        ProfileDamage::TooLarge => "is larger than the limit",
        ProfileDamage::Malformed => "breaks the rules of its format",
        ProfileDamage::Unrecognized => "is of no known format",
        ProfileDamage::Unreadable => "could not be read",
    }
}

fn why(damage: ProfileDamage) -> &'static str {
    match damage {
        ProfileDamage::Empty | ProfileDamage::CutCompressed { .. } | ProfileDamage::Cut { .. } => {
            "A profile is written when it is stopped (StopCPUProfile in Go). The program ended before that: it was killed, it left by \
             os.Exit or a panic; or the copy was cut."
        }
        ProfileDamage::NoSamples => {
            "It was written as a whole, and nothing was sampled: the program was idle, or what is sampled was not switched on."
        }
        ProfileDamage::TooLarge
        | ProfileDamage::Malformed
        | ProfileDamage::Unrecognized
        | ProfileDamage::Unreadable => "It is not used: figures of a damaged profile would be wrong.",
    }
}

//! Asks each rule of each recorded draw with each of its thresholds at half and at double: LIST is JSON, an array of
//! `{"inputs": [PATH…], "right": [ID…]}`; of a program that is well `right` is empty. Prints a table.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use whyslow_facts::Facts;
use whyslow_model::{Severity, SourceId};
use whyslow_read::{Input, Options};
use whyslow_rules::{Findings, RULES, Rule, sweep};

const FACTORS: [f64; 2] = [0.5, 2.0];

/// What a rule said of one draw: a warning, anything at all.
#[derive(Clone, Copy, PartialEq, Default)]
struct Said {
    warned: bool,
    found: bool,
}

/// Over all draws: warnings that are right, all warnings, programs with the cause where it is found, all of those.
#[derive(Clone, Copy, Default)]
struct Counts {
    right: i64,
    warned: i64,
    found: i64,
    present: i64,
}

impl Counts {
    fn add(&mut self, said: Said, is_right: bool, times: i64) {
        self.warned += times * i64::from(said.warned);
        self.right += times * i64::from(said.warned && is_right);
        self.found += times * i64::from(said.found && is_right);
    }
}

fn main() -> anyhow::Result<()> {
    let list = std::env::args().nth(1).unwrap_or_default();
    let draws: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(&list)?)?;
    let mut same: BTreeMap<&str, Counts> = BTreeMap::new();
    // How a scaled threshold differs from that.
    let mut apart: BTreeMap<(&str, usize, usize), Counts> = BTreeMap::new();
    for draw in &draws {
        let texts = |key: &str| -> Vec<String> {
            draw[key].as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_string())).collect()
        };
        let facts = read(&texts("inputs"));
        let right: BTreeSet<String> = texts("right").into_iter().collect();
        for rule in RULES {
            let is_right = right.contains(rule.id);
            sweep::scale(usize::MAX, 1.0);
            sweep::asked();
            let base = said(rule, &facts);
            let counts = same.entry(rule.id).or_default();
            counts.add(base, is_right, 1);
            counts.present += i64::from(is_right);
            for threshold in sweep::asked() {
                for (place, factor) in FACTORS.into_iter().enumerate() {
                    sweep::scale(threshold, factor);
                    let scaled = said(rule, &facts);
                    let counts = apart.entry((rule.id, threshold, place)).or_default();
                    counts.add(scaled, is_right, 1);
                    counts.add(base, is_right, -1);
                }
            }
        }
    }
    println!("rule\tthreshold\tfactor\tright\tfired\tfound\tpresent");
    for (&(rule, threshold, place), counts) in &apart {
        let base = same[rule];
        let path = sweep::PATHS[threshold];
        let line = |factor: &str, counts: Counts| {
            println!("{rule}\t{path}\t{factor}\t{}\t{}\t{}\t{}", counts.right, counts.warned, counts.found, base.present);
        };
        if place == 0 {
            line("1", base);
        }
        let all = Counts {
            right: base.right + counts.right,
            warned: base.warned + counts.warned,
            found: base.found + counts.found,
            present: base.present,
        };
        line(["0.5", "2"][place], all);
    }
    Ok(())
}

fn said(rule: &'static Rule, facts: &Facts) -> Said {
    let found = catch_unwind(AssertUnwindSafe(|| Findings::of(rule, facts).0)).unwrap_or_default();
    Said { warned: found.iter().any(|finding| finding.severity >= Severity::Warning), found: !found.is_empty() }
}

/// What the inputs say; what cannot be read is left out.
fn read(inputs: &[String]) -> Facts {
    let mut facts = Facts::default();
    let (recordings, captures): (Vec<PathBuf>, Vec<PathBuf>) =
        inputs.iter().map(PathBuf::from).partition(|path| whyslow_store::is_recording(path));
    let captures: Vec<Input> = captures.into_iter().map(Input::File).collect();
    if !captures.is_empty() {
        let _ = whyslow_read::read(&captures, &Options::default(), &(), &mut facts);
    }
    for (number, path) in recordings.iter().enumerate() {
        let source = SourceId(u16::MAX - 1 - number as u16);
        let _ = whyslow_store::read(Path::new(path), source, &mut facts, &mut |_, _| {});
    }
    facts.finish();
    facts
}

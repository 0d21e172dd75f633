//! Why a rule has no finding: each rule gives an answer on captures where it is quiet, and what it says is true.

use crate::captures::OWN;
use whyslow_diagnose::WhyNot;
use whyslow_facts::Facts;
use whyslow_read::{Input, ReadOptions, read};
use whyslow_rules::gate::Compared;
use whyslow_rules::{RULES, find};

fn facts_of(name: &str) -> Facts {
    let mut facts = Facts::of_target();
    let input = Input::File(format!("{OWN}/{name}").into());
    read(&[input], &ReadOptions::default(), &(), &mut facts).expect("the capture is read");
    facts.finish();
    facts
}

/// Captures of programs that are well, of several kinds.
const HEALTHY: [&str; 3] = ["strace/threads.log", "strace/redis-names.log", "strace/pipeline.log"];

fn is_true(compared: &Compared) -> bool {
    let Some((value, threshold)) = compared.value.zip(compared.threshold_value) else { return true };
    let holds = match compared.mark {
        "<" => value < threshold,
        "<=" => value <= threshold,
        ">" => value > threshold,
        _ => value >= threshold,
    };
    holds == compared.holds
}

#[test]
fn every_rule_answers() {
    let (mut with_figures, mut silent) = (0, Vec::new());
    for name in HEALTHY {
        let facts = facts_of(name);
        for rule in RULES {
            let answer = WhyNot::of(&facts, rule);
            let says = answer.fired()
                || !answer.found.is_empty()
                || !answer.not_judged.is_empty()
                || !answer.stops.is_empty();
            if !says {
                silent.push(format!("{name}: {}", rule.id));
            }
            for compared in answer.stops.iter().flat_map(|stop| &stop.compared) {
                assert!(is_true(compared), "{name}: {}: {compared:?}", rule.id);
                with_figures += 1;
            }
        }
    }
    assert!(silent.is_empty(), "they say nothing: {silent:#?}");
    assert!(with_figures >= 30, "{with_figures}");
}

/// What is code and no word.
const CODE: [&str; 14] =
    ["self.", "::", "()", "is_some", "is_none", "&&", "||", "==", "!=", ">=", "<=", "|", "_", ".iter"];

#[test]
fn every_rule_says_why_in_plain_words() {
    let mut wrong = Vec::new();
    for name in HEALTHY {
        let facts = facts_of(name);
        for rule in RULES {
            let answer = WhyNot::of(&facts, rule);
            let sentences = answer.stops.iter().flat_map(|stop| {
                std::iter::once(stop.sentence()).chain(stop.compared.iter().map(Compared::sentence))
            });
            for sentence in sentences {
                // A text of the rule's own is quoted as it is.
                let words: String = sentence.split('"').step_by(2).collect();
                if let Some(code) = CODE.iter().find(|code| words.contains(**code)) {
                    wrong.push(format!("{}: {code} in: {sentence}", rule.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_figure_stands_beside_the_threshold_of_the_guard_that_failed() {
    let mut text = String::new();
    for i in 0..7 {
        text += &format!("4711 10:00:0{i}.000000 write(3</var/log/a>, \"one\\n\", 4) = 4 <0.000020>\n");
        text += &format!("4711 10:00:0{i}.000100 fdatasync(3</var/log/a>) = 0 <0.005000>\n");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("few.st");
    std::fs::write(&path, text).unwrap();
    let mut facts = Facts::of_target();
    read(&[Input::File(path)], &ReadOptions::default(), &(), &mut facts).unwrap();
    facts.finish();
    let answer = WhyNot::of(&facts, find("fsync-per-write").unwrap());
    let compared: Vec<&Compared> = answer.stops.iter().flat_map(|stop| &stop.compared).collect();
    let syncs = compared.iter().find(|one| one.threshold == "MIN_SYNCS").expect("the guard is told");
    assert_eq!((syncs.value, syncs.threshold_value, syncs.holds), (Some(7.0), Some(20.0), false));
    assert_eq!(syncs.reason, "Fewer are a save, an installation, a shutdown.");
    assert!(syncs.place.starts_with("io/fsync_per_write.rs:"), "{}", syncs.place);
}

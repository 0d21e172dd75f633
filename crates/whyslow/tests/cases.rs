//! Runs the cases under `cases/`: one document a rule, with captures on which it fires, stays quiet, and
//! cannot judge. `UPDATE_CASES=1 cargo test -p whyslow --test cases` rewrites the expected reports.
//!
//! A section begins with `## fires: NAME`, `## notice: NAME` (it fires, but warns of nothing), `## quiet: NAME` or
//! `## not-judged: NAME`. Its ```` ```capture FILE ````
//! blocks are the input, or one ```` ```events NAME ```` block with what a recorder saw (see `events`); its
//! ```` ```report ```` block is what the rule says. Inside either
//! `@repeat N every DUR` … `@end` repeats lines, `@skip DUR` lets time pass; `{time}` is the running clock
//! (10:00:00 at first, a millisecond a line outside of repeats), `{seconds}` the same as perf writes it, `{i}` counts the
//! repeats.

mod events;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use whyslow_diagnose::rules::RULES;
use whyslow_diagnose::{Facts, diagnose};
use whyslow_model::{Call, CaptureKind, Diagnosis, Event, Finding, Severity, Signal, Sink};

#[derive(Debug, PartialEq, Clone, Copy)]
enum Answer {
    Fires,
    Notice,
    Quiet,
    NotJudged,
}

struct Section {
    answer: Answer,
    name: String,
    captures: Vec<(String, String)>,
    /// What a recorder saw: name and text.
    recording: Option<(String, String)>,
    report: Option<String>,
    /// Line of the document (from 0) at which the report block stands, or the section ends.
    report_at: usize,
    report_lines: usize,
}

#[test]
fn cases_say_what_they_expect() {
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let only = std::env::var("CASE").ok();
    let mut failures = Vec::new();
    let mut run = 0;
    for rule in RULES {
        if only.as_deref().is_some_and(|only| only != rule.id) {
            continue;
        }
        let path = case_path(rule.group, rule.id);
        let document = match std::fs::read_to_string(&path) {
            Ok(document) => document,
            Err(error) => {
                failures.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let sections = parse(&document);
        for answer in [Answer::Fires, Answer::Quiet, Answer::NotJudged] {
            let exempt = answer == Answer::NotJudged && rule.needs.is_empty();
            if !exempt && !sections.iter().any(|section| section.answer == answer) {
                failures.push(format!("{}: has no section that shows {answer:?}", path.display()));
            }
        }
        let mut lines: Vec<String> = document.lines().map(str::to_string).collect();
        for section in sections.iter().rev() {
            run += 1;
            let diagnosis = diagnosis_of(section);
            let fired: Vec<&Finding> =
                diagnosis.findings.iter().filter(|finding| finding.id == rule.id).collect();
            let unjudged = diagnosis.not_judged.iter().find(|unjudged| unjudged.id == rule.id);
            let got = match (fired.is_empty(), unjudged) {
                (false, _) if fired.iter().all(|finding| finding.severity <= Severity::Notice) => {
                    Answer::Notice
                }
                (false, _) => Answer::Fires,
                (true, Some(_)) => Answer::NotJudged,
                (true, None) => Answer::Quiet,
            };
            let place = format!("{}: {:?}: {}", path.display(), section.answer, section.name);
            // `fires` takes any severity; `notice` is the promise that it is no more than that.
            let as_expected =
                got == section.answer || (section.answer == Answer::Fires && got == Answer::Notice);
            if !as_expected {
                failures.push(format!("{place}: got {got:?}\n{}{unjudged:?}", render(&fired)));
                continue;
            }
            let report = match unjudged {
                Some(unjudged) if fired.is_empty() => {
                    format!("missing: {}\nsupply: {}\n", unjudged.missing, unjudged.supply)
                }
                _ => render(&fired),
            };
            if got == Answer::Quiet || section.report.as_deref() == Some(report.as_str()) {
                continue;
            }
            if update {
                let block = format!("```report\n{report}```");
                lines.splice(
                    section.report_at..section.report_at + section.report_lines,
                    block.lines().map(str::to_string),
                );
            } else {
                let expected = section.report.as_deref().unwrap_or("(no report block)\n");
                failures.push(format!("{place}: the report differs (UPDATE_CASES=1 rewrites it)\nexpected:\n{expected}got:\n{report}"));
            }
        }
        if update {
            std::fs::write(&path, lines.join("\n") + "\n").expect("the case can be written");
        }
    }
    println!("{run} case sections run");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
}

#[test]
fn no_case_without_a_rule() {
    for group in
        std::fs::read_dir(cases_root()).expect("cases/").flatten().filter(|entry| entry.path().is_dir())
    {
        let group_name = group.file_name().to_string_lossy().into_owned();
        if ["live", "stock-kernel"].contains(&group_name.as_str()) {
            continue;
        }
        for case in std::fs::read_dir(group.path()).expect("a group").flatten() {
            let id = case.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            assert!(
                RULES.iter().any(|rule| rule.id == id && rule.group == group_name),
                "{}: no rule of that name and group",
                case.path().display()
            );
        }
    }
}

#[test]
fn rules_keep_the_rules() {
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    for rule in RULES {
        let kebab =
            rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        assert!(kebab, "{}: an id is in kebab case", rule.id);
        let first = rule.summary.chars().next().unwrap_or('A');
        assert!(
            !first.is_uppercase() && !rule.summary.ends_with('.'),
            "{}: a summary is one lower-case line without a full stop",
            rule.id
        );
        let essay = rule.essay();
        assert!(essay.starts_with(&format!("# {}\n", rule.id)), "{}: the essay's heading is the id", rule.id);
        for heading in [
            "## What it is",
            "## Why it is slow",
            "## Example",
            "## What to do instead",
            "## When it is wrong",
        ] {
            assert!(essay.contains(heading), "{}: the essay lacks `{heading}`", rule.id);
        }
        assert!(rule.source.lines().count() <= 250, "{}: a rule has at most 250 lines", rule.id);
    }
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(all, ids.len(), "an id stands twice");
}

fn render(findings: &[&Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let _ = writeln!(out, "[{}] {}", finding.severity.word(), finding.title);
        if let Some(share) = finding.share {
            let _ = writeln!(out, "share: {:.1} % of {}", share * 100.0, finding.share_of);
        }
        let _ = writeln!(out, "confidence: {:.2}", finding.confidence);
        for evidence in &finding.evidence {
            let _ = writeln!(out, "evidence: {}  {}", evidence.source, evidence.text);
        }
        for link in &finding.chain {
            let _ = writeln!(out, "chain: {} waits for {} ({})", link.who, link.waits_for, link.ns);
        }
    }
    out
}

/// The same calls from a recorder, which hands over no text, are judged the same: only where a line stands and what is
/// said of the capture itself differ.
#[test]
fn a_recording_is_judged_as_a_capture_is() {
    let mut failures = Vec::new();
    let mut run = 0;
    for rule in RULES.iter().filter(|rule| !matches!(rule.group, "capture" | "contradictions")) {
        let Ok(document) = std::fs::read_to_string(case_path(rule.group, rule.id)) else { continue };
        let all = parse(&document);
        let traces = all.iter().filter(|section| section.recording.is_none());
        for section in traces.filter(|section| section.answer != Answer::NotJudged) {
            let titles = |diagnosis: Diagnosis| -> Vec<String> {
                let found = diagnosis.findings.into_iter().filter(|finding| finding.id == rule.id);
                found.map(|finding| format!("{:?} {}", finding.severity, finding.title)).collect()
            };
            let recorded = facts_of(&section.captures, true);
            // Tables and lists of descriptors stay captures of their tools.
            if !recorded.capture.is_recording() {
                continue;
            }
            run += 1;
            let recorded = diagnose(&recorded);
            for line in recorded.findings.iter().flat_map(|finding| &finding.evidence) {
                if line.text.trim().is_empty() {
                    failures.push(format!("{}: {}: an empty line of evidence", rule.id, section.name));
                }
            }
            let (as_capture, as_recording) = (titles(diagnosis_of(section)), titles(recorded));
            if as_capture != as_recording {
                failures.push(format!("{}: {}:\n{as_capture:?}\n{as_recording:?}", rule.id, section.name));
            }
        }
    }
    println!("{run} case sections compared");
    assert!(run > 50 && failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n---\n"));
}

fn diagnosis_of(section: &Section) -> Diagnosis {
    let Some((name, text)) = &section.recording else {
        return diagnose(&facts_of(&section.captures, false));
    };
    let mut facts = Facts::default();
    events::push(text, name, &mut facts);
    facts.finish();
    diagnose(&facts)
}

/// Hands events on as a recorder would: no text, no first halves of calls.
struct AsRecorded(Facts);

impl Sink for AsRecorded {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => self.0.push(Event::Call(&Call { raw: b"", raw_end: b"", ..*call })),
            Event::Signal(signal) => self.0.push(Event::Signal(Signal { raw: b"", ..signal })),
            Event::Enter(_) => {}
            Event::Source(mut info) => {
                if info.kind == CaptureKind::Strace {
                    info.kind = CaptureKind::Recording;
                }
                self.0.push(Event::Source(info));
            }
            event => self.0.push(event),
        }
    }
}

fn facts_of(captures: &[(String, String)], recorded: bool) -> Facts {
    let inputs: Vec<whyslow_read::Input> = captures
        .iter()
        .map(|(name, data)| whyslow_read::Input::Bytes {
            name: name.clone(),
            data: data.clone().into_bytes(),
        })
        .collect();
    let mut sink = AsRecorded(Facts::default());
    let options = whyslow_read::Options::default();
    let to: &mut (dyn Sink + Send) = if recorded { &mut sink } else { &mut sink.0 };
    whyslow_read::read(&inputs, &options, &(), to).expect("a case's captures can be read");
    sink.0.finish();
    sink.0
}

fn parse(document: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut block: Option<(String, String, usize)> = None;
    for (number, line) in document.lines().enumerate() {
        if let Some((info, text, start)) = &mut block {
            if line != "```" {
                text.push_str(line);
                text.push('\n');
                continue;
            }
            if let Some(section) = sections.last_mut() {
                if let Some(file) = info.strip_prefix("capture ") {
                    section.captures.push((file.trim().to_string(), expand(text)));
                    section.report_at = number + 1;
                } else if let Some(name) = info.strip_prefix("events ") {
                    section.recording = Some((name.trim().to_string(), expand(text)));
                    section.report_at = number + 1;
                } else if info == "report" {
                    section.report = Some(text.clone());
                    section.report_at = *start;
                    section.report_lines = number + 1 - *start;
                }
            }
            block = None;
        } else if let Some(info) = line.strip_prefix("```") {
            block = Some((info.to_string(), String::new(), number));
        } else if let Some(heading) = line.strip_prefix("## ") {
            let (kind, name) = heading.split_once(':').unwrap_or((heading, ""));
            let answer = match kind.trim() {
                "fires" => Answer::Fires,
                "notice" => Answer::Notice,
                "quiet" => Answer::Quiet,
                "not-judged" => Answer::NotJudged,
                other => panic!("unknown section `{other}`"),
            };
            sections.push(Section {
                answer,
                name: name.trim().to_string(),
                captures: Vec::new(),
                recording: None,
                report: None,
                report_at: number + 1,
                report_lines: 0,
            });
        }
    }
    sections
}

/// Carries out the directives of a capture block.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut clock_us: u64 = 10 * 3600 * 1_000_000;
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if let Some(by) = line.strip_prefix("@skip ") {
            clock_us += micros(by);
        } else if let Some(repeat) = line.strip_prefix("@repeat ") {
            let (times, every) = repeat.split_once(" every ").expect("`@repeat N every DUR`");
            let (times, every): (u64, u64) =
                (times.trim().parse().expect("a number of repeats"), micros(every));
            let end = at + lines[at..].iter().position(|line| *line == "@end").expect("`@end`");
            for i in 0..times {
                for line in &lines[at..end] {
                    out.push_str(&fill(line, clock_us, i));
                    clock_us += every;
                }
            }
            at = end + 1;
        } else {
            out.push_str(&fill(line, clock_us, 0));
            clock_us += 1000;
        }
    }
    out
}

fn fill(line: &str, clock_us: u64, i: u64) -> String {
    let seconds = clock_us / 1_000_000;
    let time = format!(
        "{:02}:{:02}:{:02}.{:06}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        clock_us % 1_000_000
    );
    let seconds = format!("{seconds}.{:06}", clock_us % 1_000_000);
    line.replace("{time}", &time).replace("{seconds}", &seconds).replace("{i}", &i.to_string()) + "\n"
}

fn micros(text: &str) -> u64 {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).expect("a duration with its unit: 5ms");
    let value: u64 = text[..split].parse().expect("a number");
    match &text[split..] {
        "us" => value,
        "ms" => value * 1_000,
        "s" => value * 1_000_000,
        unit => panic!("unknown unit `{unit}`"),
    }
}

fn cases_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

fn case_path(group: &str, id: &str) -> PathBuf {
    cases_root().join(group).join(format!("{id}.md"))
}

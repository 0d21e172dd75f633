//! The cases under `cases/`: one document a rule, with captures on which it fires, stays quiet, and cannot judge. Each section is a
//! test: `cargo test -p whyslow --test cases -- files/stat-per-entry` runs those of a rule, `CASE=stat-per-entry` does so too, and
//! `UPDATE_CASES=1` rewrites the expected reports.
//!
//! A section begins with `## fires: NAME`, `## notice: NAME` (it fires, but warns of nothing), `## quiet: NAME` or
//! `## not-judged: NAME`. Its ```` ```capture FILE ````
//! blocks are the input, or one ```` ```events NAME ```` block with what a recorder saw (see `events`); its
//! ```` ```report ```` block is what the rule says. Inside either
//! `@repeat N every DUR` … `@end` repeats lines, `@skip DUR` lets time pass; `{time}` is the running clock
//! (10:00:00 at first, a millisecond a line outside of repeats), `{seconds}` the same as perf writes it, `{i}` counts the
//! repeats, `{i%N}` starts anew after N of them.

#[path = "../common/contradicts.rs"]
mod contradicts;
mod document;
mod events;
mod figures;
mod registry;
// All groupings of tables are held against theirs in `it`, of captures.
#[allow(dead_code)]
#[path = "../common/schemas.rs"]
mod schemas;

use document::{Answer, Block, Section, parse, path};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::process::ExitCode;
use whyslow_diagnose::diagnose;
use whyslow_facts::Facts;
use whyslow_model::{
    AccountRow, Call, CaptureKind, Diagnosis, Event, Finding, Severity, ShareOf, Signal, Sink, TimeOf,
};
use whyslow_rules::{RULES, Rule};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let only = std::env::var("CASE").ok();
    // Who runs one test by its whole name reads one document.
    let exact = arguments.filter.as_deref().filter(|_| arguments.exact);
    let exact = exact.and_then(|name| Some(name.split_once(": ")?.0.to_string()));
    let mut trials = Vec::new();
    for rule in RULES {
        let is_meant = only.as_deref().is_none_or(|only| only == rule.id)
            && exact.as_deref().is_none_or(|exact| exact == place(rule));
        if is_meant {
            trials.extend(trials_of(rule));
        }
    }
    match only {
        Some(only) if trials.is_empty() => {
            eprintln!("CASE={only}: there is no rule of that name; `whyslow rule` lists them");
            return ExitCode::FAILURE;
        }
        Some(_) => {}
        None => trials.extend(registry::trials()),
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// How the tests of a rule begin.
fn place(rule: &Rule) -> String {
    format!("{}/{}", rule.group, rule.id)
}

/// A test for each section of the rule's document, and one for what the document must have.
fn trials_of(rule: &'static Rule) -> Vec<Trial> {
    let place = place(rule);
    let mut trials = vec![Trial::test(format!("{place}: the document is complete"), || is_complete(rule))];
    // What cannot be read is what that test fails of.
    let document = std::fs::read_to_string(path(rule.group, rule.id)).unwrap_or_default();
    for (number, section) in parse(&document).unwrap_or_default().iter().enumerate() {
        let name = format!("{place}: {}: {}", section.answer.word(), section.name);
        trials.push(Trial::test(name, move || check(rule, number)));
    }
    trials
}

/// The document is there, and shows each answer that the rule can give.
fn is_complete(rule: &Rule) -> Result<(), Failed> {
    let path = path(rule.group, rule.id);
    let document = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let sections = parse(&document)?;
    for answer in [Answer::Fires, Answer::Quiet, Answer::NotJudged] {
        let exempt = answer == Answer::NotJudged && rule.needs.is_empty();
        if !exempt && !sections.iter().any(|section| section.answer == answer) {
            return Err(format!("{}: has no section that shows {answer:?}", path.display()).into());
        }
    }
    let mut names: Vec<_> = sections.iter().map(|section| (section.answer.word(), &section.name)).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(format!("{}: two sections are named `{}: {}`", path.display(), pair[0].0, pair[0].1).into())
        }
        None => Ok(()),
    }
}

/// Runs a section: the rule says what the section expects, of the capture and of a recording of the same calls.
fn check(rule: &Rule, number: usize) -> Result<(), Failed> {
    let update = std::env::var_os("UPDATE_CASES").is_some();
    let mut file = File::options().read(true).write(update).open(path(rule.group, rule.id))?;
    if update {
        // Sections of one document are rewritten by several threads or processes.
        file.lock()?;
    }
    let mut document = String::new();
    file.read_to_string(&mut document)?;
    let sections = parse(&document)?;
    let section = sections.get(number).ok_or("the document has changed meanwhile")?;
    let facts = section_facts(section);
    let diagnosis = diagnose(&facts);
    account_adds_up(&diagnosis)?;
    schemas::of_diagnosis(&diagnosis)?;
    schemas::of_plain_views(&facts)?;
    let contradictions = contradicts::contradictions(&diagnosis);
    if !contradictions.is_empty() {
        return Err(contradictions.join("\n").into());
    }
    for finding in diagnosis.findings.iter().filter(|finding| finding.id == rule.id) {
        figures::are_measured(finding)?;
    }
    if let Some(report) = judge(rule, section, &diagnosis)? {
        if !update {
            let expected = section.report.as_deref().unwrap_or("(no report block)\n");
            let text = "the report differs (UPDATE_CASES=1 rewrites it)";
            return Err(format!("{text}\nexpected:\n{expected}got:\n{report}").into());
        }
        file.seek(SeekFrom::Start(0))?;
        file.set_len(0)?;
        file.write_all(section.with_report(&document, &report).as_bytes())?;
    }
    as_a_recording(rule, section, &diagnosis)
}

/// Whether the rule gave the section's answer; the report where it is another than the expected one.
fn judge(rule: &Rule, section: &Section, diagnosis: &Diagnosis) -> Result<Option<String>, Failed> {
    let fired: Vec<&Finding> = diagnosis.findings.iter().filter(|finding| finding.id == rule.id).collect();
    let unjudged = diagnosis.not_judged.iter().find(|unjudged| unjudged.id == rule.id);
    let got = match (fired.is_empty(), unjudged) {
        (false, _) if fired.iter().all(|finding| finding.severity <= Severity::Notice) => Answer::Notice,
        (false, _) => Answer::Fires,
        (true, Some(_)) => Answer::NotJudged,
        (true, None) => Answer::Quiet,
    };
    // `fires` takes any severity; `notice` is the promise that it is no more than that.
    if got != section.answer && !(section.answer == Answer::Fires && got == Answer::Notice) {
        return Err(format!("got {got:?}\n{}{unjudged:?}", render(&fired)).into());
    }
    let report = match unjudged {
        Some(unjudged) if fired.is_empty() => {
            format!("missing: {}\nsupply: {}\n", unjudged.missing, unjudged.supply)
        }
        _ => render(&fired),
    };
    let as_expected = got == Answer::Quiet || section.report.as_deref() == Some(report.as_str());
    Ok((!as_expected).then_some(report))
}

fn render(findings: &[&Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let _ = writeln!(out, "[{}] {}", finding.severity.word(), finding.title);
        if let Some(share) = finding.share {
            let _ = writeln!(out, "share: {:.1} % of {}", share * 100.0, finding.share_of);
        }
        if finding.sure_at_most < 1.0 {
            let _ = writeln!(out, "sure at most: {:.2}", finding.sure_at_most);
        }
        for figure in &finding.measurements {
            let from = figure.threshold_words().map_or(String::new(), |words| format!(" ({words})"));
            let _ = writeln!(out, "figure: {} = {figure}{from}", figure.name);
        }
        for evidence in &finding.evidence {
            let _ = writeln!(out, "evidence: {}  {}", evidence.source, evidence.text);
        }
        for link in &finding.chain {
            let _ = writeln!(out, "chain: {} waits for {} ({})", link.who, link.waits_for, link.ns);
        }
    }
    out
}

/// The calls of the section as a recorder hands them over; `None` where they are none: tables and lists of descriptors stay
/// captures of their tools, and some rules are about the capture itself.
fn recorded(rule: &Rule, section: &Section) -> Option<Facts> {
    if matches!(rule.group, "capture" | "contradictions")
        || section.recording.is_some()
        || section.answer == Answer::NotJudged
    {
        return None;
    }
    Some(facts_of(&section.captures, true)).filter(|facts| facts.capture.is_recording())
}

/// The same calls from a recorder, which hands over no text, are judged the same: only where a line stands and what is
/// said of the capture itself differ.
fn as_a_recording(rule: &Rule, section: &Section, as_capture: &Diagnosis) -> Result<(), Failed> {
    let Some(recorded) = recorded(rule, section) else { return Ok(()) };
    let recorded = diagnose(&recorded);
    let mut evidence = recorded.findings.iter().flat_map(|finding| &finding.evidence);
    if evidence.any(|line| line.text.trim().is_empty()) {
        return Err("as a recording: an empty line of evidence".into());
    }
    let titles = |diagnosis: &Diagnosis| -> Vec<String> {
        let found = diagnosis.findings.iter().filter(|finding| finding.id == rule.id);
        found.map(|finding| format!("{:?} {}", finding.severity, finding.title)).collect()
    };
    let (as_capture, as_recording) = (titles(as_capture), titles(&recorded));
    if as_capture != as_recording {
        return Err(format!("as a recording:\n{as_capture:?}\n{as_recording:?}").into());
    }
    Ok(())
}

/// The rows of the account are all of its time; where it is of all threads, with what they waited for work all of theirs.
fn account_adds_up(diagnosis: &Diagnosis) -> Result<(), Failed> {
    let Some(account) = &diagnosis.account else { return Ok(()) };
    let rows: u64 = account.rows.iter().map(|row| row.ns).sum();
    if rows != account.ns {
        return Err(format!("the account's rows are {rows} ns of {}", account.ns).into());
    }
    let claims = |row: &AccountRow| row.claimed_by.iter().map(|claim| claim.ns).sum::<u64>();
    if let Some(row) = account.rows.iter().find(|row| claims(row) > row.ns) {
        return Err(
            format!("{} ns of a row of {} ns are claimed: {}", claims(row), row.ns, row.words()).into()
        );
    }
    // A part of the requests' time is no more than the rows are that the finding claims.
    let rows_of = |id: &str| {
        let its = account.rows.iter().filter(|row| row.claimed_by.iter().any(|claim| claim.id == id));
        its.map(|row| row.ns).sum::<u64>()
    };
    for finding in diagnosis.findings.iter().filter(|finding| finding.share_of == ShareOf::Requests) {
        let told = finding.share.unwrap_or(0.0) * account.ns as f64;
        let rows = rows_of(finding.id);
        if rows > 0 && told > rows as f64 + 1_000.0 {
            return Err(format!("{}: tells {told} ns, and its rows are {rows}", finding.id).into());
        }
    }
    let claimed: u64 = account.rows.iter().map(claims).sum();
    if claimed != account.claimed_ns || claimed + account.unknown_ns > account.ns {
        return Err(format!("{claimed} ns are claimed of {}: {}", account.ns, account.claimed_ns).into());
    }
    let threads: u64 = diagnosis.time.iter().map(|thread| thread.wall_ns.or_zero()).sum();
    let counted = account.ns.saturating_add(account.idle_ns);
    let all = account.of == TimeOf::Threads && diagnosis.time.len() as u64 == account.count;
    match all && counted < threads {
        true => Err(format!("the account is of {counted} ns, the threads' time is {threads}").into()),
        false => Ok(()),
    }
}

fn section_facts(section: &Section) -> Facts {
    let Some(recording) = &section.recording else {
        return facts_of(&section.captures, false);
    };
    let (name, text) = recording.expanded();
    let mut facts = Facts::default();
    events::push(&text, &name, &mut facts);
    facts.finish();
    facts
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

fn facts_of(captures: &[Block], recorded: bool) -> Facts {
    let inputs: Vec<whyslow_read::Input> = captures
        .iter()
        .map(Block::expanded)
        .map(|(name, data)| whyslow_read::Input::Bytes { name, data: data.into_bytes() })
        .collect();
    let mut sink = AsRecorded(Facts::default());
    let options = whyslow_read::ReadOptions::default();
    let to: &mut (dyn Sink + Send) = if recorded { &mut sink } else { &mut sink.0 };
    whyslow_read::read(&inputs, &options, &(), to).expect("a case's captures can be read");
    sink.0.finish();
    sink.0
}

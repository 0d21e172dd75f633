//! What holds for all rules and cases together.

use crate::document::{parse, path, root};
use crate::recorded;
use libtest_mimic::{Failed, Trial};
use whyslow_model::{Diagnosis, Finding, Severity};
use whyslow_report::{Style, TERMINAL};
use whyslow_rules::RULES;

/// The tests over all rules.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("no_case_without_a_rule", no_case_without_a_rule),
        Trial::test("rules_keep_the_rules", rules_keep_the_rules),
        Trial::test("many_cases_are_judged_as_recordings_too", many_cases_are_judged_as_recordings_too),
        Trial::test("first_sentences_are_short", first_sentences_are_short),
        Trial::test("plain_reports_fit_on_a_screen", plain_reports_fit_on_a_screen),
    ]
}

fn no_case_without_a_rule() -> Result<(), Failed> {
    for group in std::fs::read_dir(root())?.flatten().filter(|entry| entry.path().is_dir()) {
        let group_name = group.file_name().to_string_lossy().into_owned();
        if ["captures", "live", "stock-kernel"].contains(&group_name.as_str()) {
            continue;
        }
        for case in std::fs::read_dir(group.path())?.flatten() {
            let id = case.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            assert!(
                RULES.iter().any(|rule| rule.id == id && rule.group == group_name),
                "{}: no rule of that name and group",
                case.path().display()
            );
        }
    }
    Ok(())
}

fn rules_keep_the_rules() -> Result<(), Failed> {
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
    }
    for id in Finding::HYGIENE {
        assert!(ids.contains(id), "{id}: no rule of hygiene has this name");
    }
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(all, ids.len(), "an id stands twice");
    Ok(())
}

/// The comparison with a recording is part of each section's test, where the section is one of calls: those are not few.
fn many_cases_are_judged_as_recordings_too() -> Result<(), Failed> {
    let mut judged = 0;
    for rule in RULES {
        let sections = parse(&std::fs::read_to_string(path(rule.group, rule.id))?)?;
        judged += sections.iter().filter(|section| recorded(rule, section).is_some()).count();
        if judged > 50 {
            return Ok(());
        }
    }
    Err(format!("only {judged} case sections are of calls").into())
}

/// Lines of a report with one or two causes at 100 columns, at most: a screen.
const SCREEN: usize = 40;

/// What each section of each case comes to.
fn diagnoses() -> Result<Vec<(String, Diagnosis)>, Failed> {
    let mut all = Vec::new();
    for rule in RULES {
        for section in &parse(&std::fs::read_to_string(path(rule.group, rule.id))?)? {
            let name = format!("{}/{}: {}: {}", rule.group, rule.id, section.answer.word(), section.name);
            all.push((name, whyslow_diagnose::diagnose(&crate::section_facts(section))));
        }
    }
    Ok(all)
}

fn text_of(diagnosis: &Diagnosis, explain: bool) -> Result<String, Failed> {
    let mut text = Vec::new();
    let style = Style { explain, show_secrets: true, ..Style::default() };
    TERMINAL.diagnosis(diagnosis, &style, &mut text)?;
    Ok(String::from_utf8(text)?)
}

fn first_sentences_are_short() -> Result<(), Failed> {
    for (name, diagnosis) in diagnoses()? {
        let length = diagnosis.verdict.chars().count();
        if !(10..=Diagnosis::MAX_VERDICT).contains(&length) {
            return Err(format!("{name}: {length} characters: {}", diagnosis.verdict).into());
        }
        let ends = diagnosis.verdict.ends_with(['.', '…', '?']);
        if !ends || diagnosis.verdict.contains('\n') {
            return Err(format!("{name}: no sentence: {}", diagnosis.verdict).into());
        }
    }
    Ok(())
}

/// A plain case (one or two causes) is read without scrolling; `--verbose` keeps all that it leaves out.
fn plain_reports_fit_on_a_screen() -> Result<(), Failed> {
    let mut lines = Vec::new();
    for (name, diagnosis) in diagnoses()? {
        let causes = diagnosis.findings.iter().filter(|one| one.severity >= Severity::Warning).count();
        if causes == 1 || causes == 2 {
            let text = text_of(&diagnosis, false)?;
            lines.push(text.lines().count());
            if text.lines().count() > SCREEN {
                return Err(format!("{name}: {} lines:\n{text}", text.lines().count()).into());
            }
        }
        loses_nothing(&diagnosis).map_err(|lost| format!("{name}: --verbose does not show: {lost}"))?;
    }
    lines.sort_unstable();
    let median = lines.get(lines.len() / 2).copied().unwrap_or_default();
    println!("{} plain cases: {median} lines in the middle, {:?} at most", lines.len(), lines.last());
    if lines.len() < 100 || median > 36 {
        return Err(format!("{} plain cases, {median} lines in the middle", lines.len()).into());
    }
    Ok(())
}

/// Each finding's title, cause, evidence and fix, and each rule not judged, stand in the long report.
fn loses_nothing(diagnosis: &Diagnosis) -> Result<(), String> {
    // Lines are broken and indented: only what is written counts.
    let bare = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let text = bare(&text_of(diagnosis, true).map_err(|failed| format!("{failed:?}"))?);
    let findings = diagnosis.findings.iter().flat_map(|one| {
        let texts = [&one.title, &one.cause].into_iter().chain(&one.fix);
        texts.chain(one.evidence.iter().map(|line| &line.text)).map(String::as_str).chain([one.id])
    });
    let rules = diagnosis.not_judged.iter().map(|rule| rule.id);
    let context = [diagnosis.verdict.as_str(), diagnosis.context.as_str()];
    // A tab within a line of evidence is shown as such.
    let is_shown = |part: &&str| {
        let ways = [whyslow_model::visible::block(part), whyslow_model::visible::line(part)];
        ways.iter().any(|shown| text.contains(&bare(shown)))
    };
    match findings.chain(rules).chain(context).find(|part| !is_shown(part)) {
        Some(part) => Err(part.to_string()),
        None => Ok(()),
    }
}

//! What holds for all rules and cases together.

use crate::document::{parse, path, root};
use crate::recorded;
use libtest_mimic::{Failed, Trial};
use whyslow_rules::RULES;

/// The tests over all rules.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("no_case_without_a_rule", no_case_without_a_rule),
        Trial::test("rules_keep_the_rules", rules_keep_the_rules),
        Trial::test("many_cases_are_judged_as_recordings_too", many_cases_are_judged_as_recordings_too),
    ]
}

fn no_case_without_a_rule() -> Result<(), Failed> {
    for group in std::fs::read_dir(root())?.flatten().filter(|entry| entry.path().is_dir()) {
        let group_name = group.file_name().to_string_lossy().into_owned();
        if ["live", "stock-kernel"].contains(&group_name.as_str()) {
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

//! A diagnosis as a page: the terminal's order, with notices and remarks folded.

use super::{aside, list, paragraph, rich, text};
use crate::time_parts::{Part, UNKNOWN, parts};
use crate::{account, host, phrases};
use whyslow_model::figures::{percent, plural};
use whyslow_model::{Diagnosis, Evidence, Finding, ThreadTime, TimeAccount, Walk};

/// Shades of the bar's parts (`p0` to `p3` in the style sheet); they repeat.
const SHADES: [&str; 4] = ["p0", "p1", "p2", "p3"];

pub(super) fn body(diagnosis: &Diagnosis) -> String {
    let mut body = match diagnosis.context.is_empty() {
        true => String::new(),
        false => paragraph(&diagnosis.context),
    };
    body.push_str(&aside(&phrases::target(&diagnosis.target)));
    let groups = phrases::groups(&diagnosis.findings);
    let (asked, behind) = phrases::host_first(diagnosis);
    groups.causes.iter().for_each(|finding| body.push_str(&article(finding)));
    if let Some(nothing) = phrases::nothing_found(diagnosis, &groups) {
        body.push_str(&paragraph(&nothing));
    }
    if !groups.disagreements.is_empty() {
        body.push_str("<h2>The sources disagree</h2>\n");
        groups.disagreements.iter().for_each(|finding| body.push_str(&folded(finding)));
    }
    if !groups.notices.is_empty() {
        body.push_str("<h2>Worth knowing</h2>\n");
        groups.notices.iter().for_each(|finding| body.push_str(&folded(finding)));
    }
    groups.hygiene.iter().for_each(|finding| body.push_str(&folded(finding)));
    match &diagnosis.account {
        Some(account) => {
            body.push_str(&time_account(account));
            let threads = by_thread(&diagnosis.time);
            body.push_str(&format!("<details><summary>By thread</summary>\n{threads}</details>\n"));
        }
        None if diagnosis.time.is_empty() => {}
        None => body.push_str(&format!("<h2>Where the time went</h2>\n{}", by_thread(&diagnosis.time))),
    }
    body.push_str(&asked.map_or(String::new(), host_section));
    body.push_str(&behind.map_or(String::new(), |walk| {
        let line = text(&host::in_a_line(walk));
        format!("<h2>The host</h2>\n<details><summary>{line}</summary>\n{}</details>\n", host_lines(walk))
    }));
    body.push_str(&about_capture(diagnosis, &groups.capture));
    if let Some(remaining) = &diagnosis.remaining {
        body.push_str(&format!("<h2>Next</h2>\n{}", paragraph(remaining)));
    }
    body
}

fn host_section(walk: &Walk) -> String {
    format!("<h2>The host</h2>\n{}", host_lines(walk))
}

fn host_lines(walk: &Walk) -> String {
    let lines = host::resources(walk).into_iter().map(|line| {
        let evidence: String = line.resource.evidence.iter().map(shown).collect();
        let evidence = if evidence.is_empty() { evidence } else { format!("<pre>{evidence}</pre>") };
        format!("<b>{}</b> {}{evidence}", line.word, rich(&line.text))
    });
    let mut out = list("ul", lines);
    for (heading, lines) in host::takers(walk, usize::MAX) {
        let lines = lines.iter().map(|(line, _)| text(line));
        out.push_str(&section(heading, &list("ul", lines)));
    }
    for line in walk.load.iter().chain(&walk.saving).chain([&walk.next]).filter(|line| !line.is_empty()) {
        out.push_str(&paragraph(line));
    }
    out
}

/// A line of evidence.
fn shown(line: &Evidence) -> String {
    format!("<span class=\"dim\">{}</span>  {}\n", text(&line.source), text(&line.text))
}

fn article(finding: &Finding) -> String {
    let word = finding.severity.word();
    format!(
        "<article class=\"{word}\">\n<h3><span class=\"word\">{word}</span> {}</h3>\n{}</article>\n",
        text(&finding.title),
        details(finding)
    )
}

fn folded(finding: &Finding) -> String {
    let word = finding.severity.word();
    format!(
        "<article class=\"{word}\">\n<details><summary>{}</summary>\n{}</details>\n</article>\n",
        text(&finding.title),
        details(finding)
    )
}

fn details(finding: &Finding) -> String {
    let mut out = String::new();
    if let Some(share) = finding.share.filter(|share| share.is_finite()) {
        let permille = (share.clamp(0.0, 1.0) * 1000.0).round() as u64;
        out.push_str(&bar([("p0", permille)]));
    }
    let figures: Vec<String> = [
        phrases::share(finding),
        phrases::saving(finding),
        phrases::follows(finding),
        Some(finding.id.to_string()),
    ]
    .into_iter()
    .flatten()
    .collect();
    out.push_str(&format!("<p class=\"dim\">{}</p>\n", text(&figures.join(" · "))));
    if !finding.cause.is_empty() {
        out.push_str(&paragraph(&finding.cause));
    }
    if let Some(code) = phrases::code(finding) {
        out.push_str(&section("Code", &paragraph(&code)));
    }
    out.push_str(&section("Also", &list("ul", phrases::also(finding).map(|also| text(&also)))));
    let links = finding.chain.iter().map(|link| {
        format!(
            "{} waits <b>{}</b> for {} <span class=\"dim\">{}</span>",
            text(&link.who),
            link.ns,
            text(&link.waits_for),
            text(&link.evidence)
        )
    });
    out.push_str(&section("Chain", &list("ol", links)));
    let lines: String = finding.evidence.iter().map(shown).collect();
    if !lines.is_empty() {
        out.push_str(&section("Evidence", &format!("<pre>{lines}</pre>\n")));
    }
    let figures = phrases::measurements(finding);
    out.push_str(&section("Figures", &list("ul", figures.iter().map(|figure| text(figure).to_string()))));
    out.push_str(&section("Fix", &list("ol", finding.fix.iter().map(|step| rich(step)))));
    if !finding.verify.is_empty() {
        out.push_str(&section("Verify", &command(&finding.verify)));
    }
    if let Some(confidence) = phrases::confidence(finding) {
        out.push_str(&section("Certainty", &paragraph(&confidence)));
    }
    out
}

/// Parts of a whole side by side, in thousandths of it. The words beside it tell the same. Drawn without styles of its own: a policy that
/// lets no script set them forbids those in markup.
fn bar(parts: impl IntoIterator<Item = (&'static str, u64)>) -> String {
    let mut at = 0;
    let parts: String = parts
        .into_iter()
        .map(|(class, permille)| {
            let part = format!("<rect class=\"{class}\" x=\"{at}\" width=\"{permille}\" height=\"10\"/>");
            at += permille;
            part
        })
        .collect();
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{parts}</svg>\n"
    )
}

fn section(heading: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("<h4>{heading}</h4>\n{content}") }
}

fn command(raw: &str) -> String {
    let (command, remark) = phrases::command_and_remark(raw);
    let remark = remark.map_or(String::new(), aside);
    format!("<pre>{}</pre>\n{remark}", text(command))
}

fn time_account(account: &TimeAccount) -> String {
    let (shown, smaller, share) = account::lines(account, usize::MAX, false);
    let listed = |lines: &[account::Line]| {
        list("ul", lines.iter().map(|line| format!("<b>{}</b> {}", line.share, text(&line.text))))
    };
    let heading = text(&account::heading(account));
    let requests = account::requests(account, false);
    let requests: String =
        requests.iter().map(|line| format!("<p class=\"dim\">{}</p>\n", text(line))).collect();
    let mut out =
        format!("<h2>Where the time went</h2>\n<p class=\"dim\">{heading}</p>\n{requests}{}", listed(&shown));
    if smaller > 0 {
        let (all, _, _) = account::lines(account, usize::MAX, true);
        let summary = format!("{} in {}", percent(share), plural(smaller as u64, "smaller part"));
        let rest = listed(&all[shown.len()..]);
        out.push_str(&format!("<details><summary>{summary}</summary>\n{rest}</details>\n"));
    }
    out
}

fn by_thread(threads: &[ThreadTime]) -> String {
    let rows: String = threads
        .iter()
        .filter_map(|thread| Some((thread, parts(thread)?)))
        .map(|(thread, parts)| {
            let wall =
                if thread.wall_ns.is_known() { format!(", {}", thread.wall_ns) } else { String::new() };
            let bar = bar(parts.iter().enumerate().map(|(i, part)| {
                (if part.label == UNKNOWN { UNKNOWN } else { SHADES[i % SHADES.len()] }, part.permille)
            }));
            let words = parts.iter().map(Part::text).collect::<Vec<_>>().join(" · ");
            format!(
                "<p>{}{wall}</p>\n{bar}<p class=\"dim\">{}</p>\n",
                text(&phrases::thread_name(thread)),
                text(&words)
            )
        })
        .collect();
    if rows.is_empty() { paragraph("Unknown: the capture shows no durations.") } else { rows }
}

fn about_capture(diagnosis: &Diagnosis, findings: &[&Finding]) -> String {
    let target = &diagnosis.target;
    let mut out: String = findings.iter().map(|finding| folded(finding)).collect();
    let notes = phrases::damaged(target)
        .into_iter()
        .chain(phrases::followed(target).map(|line| format!("followed: {line}")))
        .chain(target.notes.iter().map(|note| phrases::note(target, note)));
    out.push_str(&list("ul", notes.map(|note| text(&note))));
    let lacking = phrases::lacking(&diagnosis.not_judged);
    if let Some(summary) = phrases::not_judged_by_fact(&lacking) {
        let groups = lacking.iter().map(|group| {
            format!(
                "{}: {}\n{}",
                text(group.missing),
                text(&group.rules.join(", ")),
                if group.supply.is_empty() { String::new() } else { command(group.supply) }
            )
        });
        out.push_str(&format!(
            "<details><summary>Not judged: {}</summary>\n{}</details>\n",
            text(&summary),
            list("ul", groups)
        ));
    }
    if out.is_empty() { out } else { format!("<h2>About this capture</h2>\n{out}") }
}

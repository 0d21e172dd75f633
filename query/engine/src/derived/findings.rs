//! Table `findings`: what the rules found.

use super::{Cell, Computed, Derived, Rows, SHARE, real, text, whole};

pub(super) static TABLE: Derived = Derived {
    name: "findings",
    about: "What a rule found, the most worthwhile first.",
    columns: &[
        whole("rank", "", "From 1, as the report has them."),
        text("rule", "The rule: whyslow rule RULE explains it."),
        text("severity", "critical, warning, notice, capture."),
        text("title", "The smell, with its subject and main figure."),
        real("share", SHARE, "The part that it costs; null where that is unknown."),
        text("share_of", "Of what that is a part."),
        real("confidence", SHARE, "How often a warning of this rule is the right first finding."),
        text("cause", "Why."),
        text("fix", "What to change, the most effective first, a line each."),
        whole("saving", "ns per s", "What fixing it would save, in a second of wall time."),
        whole("pid", "", "The process that it is about."),
        whole("tid", "", "The thread."),
        text("syscall", "The call."),
        text("path", "The file or pattern of files."),
        text("peer", "The other end of a socket."),
        text("follows_from", "The rule whose finding it is a consequence of."),
        text("evidence", "Where the first line that shows it stands: source:line."),
        text("verify", "A command that shows it with another tool."),
    ],
    fill,
};

fn fill(of: &Computed, rows: &mut Rows) {
    for (at, finding) in of.diagnosis.findings.iter().enumerate() {
        let subject = &finding.subject;
        let shown = |text: &str| Cell::Text(of.shown(text));
        let some = |text: &Option<String>| Cell::text(text.as_ref().map(|text| of.shown(text)));
        let share_of = finding.share_of.to_string();
        rows.add([
            Cell::whole(Some(at + 1)),
            Cell::text(Some(finding.id)),
            Cell::text(Some(finding.severity.word())),
            shown(&finding.title),
            Cell::real(finding.share),
            Cell::text(Some(share_of.as_str()).filter(|of| !of.is_empty())),
            Cell::real(finding.confidence),
            shown(&finding.cause),
            shown(&finding.fix.join("\n")),
            Cell::whole(finding.saving.ns_per_s),
            Cell::whole(subject.pid),
            Cell::whole(subject.tid),
            some(&subject.syscall),
            some(&subject.path),
            some(&subject.peer),
            Cell::text(finding.follows_from.as_ref().map(|from| from.id)),
            Cell::text(finding.evidence.first().map(|line| line.source.as_str())),
            shown(&finding.verify),
        ]);
    }
}

//! `top`: the table of `go tool pprof -top`.

use super::report::PreparedProfile;
use super::{Needs, ProfileView, ViewError, header};
use crate::units::percentage;
use std::io::Write;

/// The view.
pub(super) static VIEW: ProfileView = ProfileView {
    name: "top",
    about: "which functions cost how much: by themselves (flat) and with all they call (cum)",
    needs: Needs::NOTHING,
    write,
};

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let shown = report.trimmed(false);
    writeln!(out, "{}", header::table_lines(report, &shown).join("\n"))?;
    writeln!(out, "{:>10} {:>5}% {:>5}% {:>10} {:>5}%", "flat", "flat", "sum", "cum", "cum")?;
    let mut sum = 0_i64;
    for id in &shown.graph.shown {
        let node = shown.graph.node(*id);
        let (flat, cum) = (node.flat_value(), node.cum_value());
        sum = sum.saturating_add(flat);
        let (mut inlined, mut called) = (false, false);
        for edge in shown.edges.into_node(*id) {
            inlined |= edge.inlined;
            called |= !edge.inlined;
        }
        let note = match (inlined, called) {
            (true, true) => " (partial-inline)",
            (true, false) => " (inline)",
            (false, _) => "",
        };
        writeln!(
            out,
            "{:>10} {} {} {:>10} {}  {}{note}",
            report.format(flat, &shown.unit),
            percentage(flat, report.total),
            percentage(sum, report.total),
            report.format(cum, &shown.unit),
            percentage(cum, report.total),
            node.info.printable(),
        )?;
    }
    Ok(())
}

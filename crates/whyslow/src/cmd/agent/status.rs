//! `whyslow agent status`: what the running agent says of itself.

use super::settings::StateArgs;
use crate::global::Global;
use crate::output;
use crate::status::Status;
use std::io::{self, Write};
use whyslow_agent::AgentStatus;
use whyslow_model::time::civil_date;
use whyslow_model::visible;

/// Troubles that are shown.
const SHOWN: usize = 5;

pub(super) fn run(args: &StateArgs, global: &Global) -> anyhow::Result<Status> {
    let state = args.folder()?;
    let status = AgentStatus::read(&state).map_err(|error| {
        anyhow::anyhow!(
            "{}: no agent has its state here: {error}\nnext: whyslow agent run, or name its folder by --state",
            visible::path(&state)
        )
    })?;
    let is_running = status.is_running();
    output::to_stdout(|out| {
        if global.json {
            serde_json::to_writer_pretty(&mut *out, &status)?;
            return writeln!(out);
        }
        print(&status, is_running, out)
    })?;
    Ok(if is_running { Status::Done } else { Status::Found })
}

/// `2026-11-27 17:49:03 UTC`, of us since 1970.
fn at(us: i64) -> String {
    let seconds = us.max(0) as u64 / 1_000_000;
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

fn print(status: &AgentStatus, is_running: bool, out: &mut dyn Write) -> io::Result<()> {
    match is_running {
        true => writeln!(out, "The agent runs (process {}) since {}.", status.pid, at(status.since))?,
        false => writeln!(out, "The agent does not run; it was seen last at {}.", at(status.at))?,
    }
    let AgentStatus { last, .. } = status;
    let mut line = |name: &str, text: String| writeln!(out, "  {name:9}  {}", output::plain(&text));
    line("targets", status.targets.clone())?;
    line(
        "windows",
        format!(
            "{} of {} s told, {} lost; in the last one {} services, {} rows, {} findings open",
            status.windows, status.window, status.windows_lost, last.services, last.rows, last.open
        ),
    )?;
    line(
        "events",
        format!(
            "{} in the last window, with {} calls; {} lost so far",
            status.events, status.calls, status.lost
        ),
    )?;
    line(
        "takes",
        format!(
            "{:.2} % of a CPU in the last window, {:.2} % on the whole; {} of memory, {} for moments to tell a window",
            status.cpu_share * 100.0,
            status.cpu_share_mean * 100.0,
            output::bytes(status.memory),
            output::bytes(status.memory_of_windows)
        ),
    )?;
    line(
        "gives up",
        match &status.shed {
            None => "nothing".to_string(),
            Some(shed) => format!("{shed} (to stay within its budget)"),
        },
    )?;
    line(
        "parts",
        format!(
            "{} wait ({}); {} were removed for want of room",
            last.waiting.0,
            output::bytes(last.waiting.1),
            status.parts_removed
        ),
    )?;
    if let Some(upload) = &status.upload {
        line(
            "upload",
            format!(
                "to {}: {} parts sent ({}), {} wait ({}), {} lost ({}){}",
                upload.url,
                upload.uploaded.0,
                output::bytes(upload.uploaded.1),
                upload.waiting.0,
                output::bytes(upload.waiting.1),
                upload.lost.0,
                output::bytes(upload.lost.1),
                upload.problem.as_ref().map(|problem| format!("; now {problem}")).unwrap_or_default()
            ),
        )?;
    }
    if let Some(ring) = &status.ring {
        line(
            "ring",
            format!(
                "holds the last {:.0} s in {}; its memory was full {} times; triggers fired {} times within their cool down",
                ring.holds,
                output::bytes(ring.bytes),
                ring.shortened,
                ring.passed_over
            ),
        )?;
    }
    if let Some(recording) = &status.recording {
        let path = visible::path(&recording.path);
        line("records", format!("{} {path}, not there yet. {}", at(recording.at), recording.why))?;
    }
    for kept in status.kept.iter().rev().take(SHOWN).rev() {
        let findings = match kept.findings.len() {
            0 => String::new(),
            _ => format!(" (findings {})", kept.findings.join(", ")),
        };
        line("kept", format!("{} {} {}{findings}", at(kept.at), visible::path(&kept.path), kept.why))?;
    }
    for text in status.troubles.iter().rev().take(SHOWN).rev() {
        line("trouble", text.clone())?;
    }
    Ok(())
}

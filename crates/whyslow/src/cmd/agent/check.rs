//! `whyslow agent check`: what will work on this host, before the agent is started.

use super::settings::RunArgs;
use crate::global::Global;
use crate::output;
use crate::status::Status;
use std::path::Path;
use std::time::Duration;
use whyslow_agent::{RingSettings, RingTrigger, StorageSettings};
use whyslow_depot::{Depot, DepotOptions, wait_for};
use whyslow_model::visible;
use whyslow_parts::PartHour;
use whyslow_record::doctor::{Ability, Machine, NeededFor, examine};
use whyslow_record::target::ProcRoot;

/// One line of the answer.
#[derive(serde::Serialize)]
struct Line {
    /// What was looked at.
    name: &'static str,
    /// `ok`, `missing`, `unknown`.
    state: &'static str,
    /// What was found.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// Without it the agent does not run.
    needed: bool,
}

pub(super) fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Status> {
    let mut lines = Vec::new();
    let settings = args.settings();
    lines.push(match &settings {
        Ok(_) => ok("settings", "they say what can be"),
        Err(why) => missing("settings", why, "mend the file of settings, or the options"),
    });
    if let Ok(settings) = &settings {
        lines.push(match settings.selection().resolve_again(&ProcRoot::live()) {
            Ok(resolved) => ok("targets", &format!("{} processes now", resolved.pids().len())),
            // They may come later.
            Err(error) => {
                Line { needed: false, ..missing("targets", &error.to_string(), "the agent waits for them") }
            }
        });
        lines.push(state(&settings.state));
        lines.extend(settings.outlets().in_words().iter().map(|words| ok("outlet", words)));
        if !settings.storage.url.is_empty() {
            lines.push(storage(&settings.storage));
        }
        lines.extend(ring(&settings.ring));
    }
    let examination = examine(&Machine::live());
    lines.push(match examination.ability {
        Ability::Bpf => ok("recording", "BPF works here"),
        _ => missing(
            "recording",
            "BPF does not work here, and the agent records by nothing else",
            "whyslow doctor",
        ),
    });
    for check in examination.checks.iter().filter(|check| check.answer.remedy.is_some()) {
        lines.push(Line {
            name: check.name,
            state: "missing",
            found: check.answer.found.clone(),
            remedy: check.answer.remedy.as_ref().map(ToString::to_string),
            needed: check.need == NeededFor::Bpf,
        });
    }
    let is_possible = lines.iter().all(|line| line.state == "ok" || !line.needed);
    output::to_stdout(|out| {
        if global.json {
            serde_json::to_writer_pretty(&mut *out, &lines)?;
            return writeln!(out);
        }
        let verdict = if is_possible { "The agent runs here." } else { "The agent does not run here." };
        writeln!(out, "{verdict}")?;
        let width = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
        for line in &lines {
            writeln!(out, "  {:7}  {:width$}  {}", line.state, line.name, output::plain(&line.found))?;
            if let Some(remedy) = line.remedy.as_ref().filter(|_| line.state != "ok") {
                writeln!(out, "  {:7}  {:width$}  do: {remedy}", "", "")?;
            }
        }
        Ok(())
    })?;
    Ok(if is_possible { Status::Done } else { Status::Unusable })
}

fn ok(name: &'static str, found: &str) -> Line {
    Line { name, state: "ok", found: found.to_string(), remedy: None, needed: true }
}

fn missing(name: &'static str, found: &str, remedy: &str) -> Line {
    Line { name, state: "missing", found: found.to_string(), remedy: Some(remedy.to_string()), needed: true }
}

/// Whether parts can be stored there: an object is created, read and removed.
fn storage(storage: &StorageSettings) -> Line {
    let options = DepotOptions {
        credentials: storage.credentials.clone(),
        plain_http: storage.plain_http,
        timeout: Duration::from_secs(15),
        retries: 1,
    };
    let of_no_hours = PartHour::FIRST..PartHour::FIRST;
    let tried = Depot::open(&storage.url, &options).map_err(|error| error.to_string()).and_then(|depot| {
        let checked = wait_for(whyslow_depot::check(&depot, &of_no_hours, true, false));
        checked.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    });
    match tried {
        Ok(_) => ok("storage", &format!("{}: parts can be stored", storage.url)),
        // They wait until it is there.
        Err(why) => Line {
            needed: false,
            ..missing("storage", &why, "whyslow depot check --write; parts wait meanwhile")
        },
    }
}

/// What the ring takes, where there is one.
fn ring(ring: &RingSettings) -> Option<Line> {
    let triggers: Vec<&str> = ring.on.iter().map(RingTrigger::text).collect();
    let on = if triggers.is_empty() { "`whyslow dump` alone".to_string() } else { triggers.join(", ") };
    let more = if ring.record { "; recordings in detail are begun by HTTP" } else { "" };
    let (seconds, memory) = (ring.seconds, ring.memory);
    (seconds > 0).then(|| ok("ring", &format!("the last {seconds} s in {memory} MiB, kept on {on}{more}")))
}

/// Whether state can be kept there, and how much room there is.
fn state(folder: &Path) -> Line {
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
    let shown = visible::path(there);
    if rustix::fs::access(there, rustix::fs::Access::WRITE_OK).is_err() {
        return missing(
            "state",
            &format!("{shown} is not to be written to"),
            "choose another folder (--state), or be root",
        );
    }
    match rustix::fs::statvfs(there) {
        Ok(about) => {
            let free = about.f_bavail.saturating_mul(about.f_frsize);
            ok("state", &format!("{shown}: {} free", output::bytes(free)))
        }
        Err(error) => Line { state: "unknown", needed: false, ..ok("state", &format!("{shown}: {error}")) },
    }
}

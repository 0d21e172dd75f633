//! What the agent takes note of, and says: windows that were told, recordings that the ring kept, uploads, trouble; and its status.

use super::Agent;
use crate::keeper::Keeper;
use crate::outcome::WindowOutcome;
use crate::plan::micros;
use crate::status::{AgentKept, AgentRing};
use crate::teller::TellerNews;
use std::time::SystemTime;
use whyslow_flight::{FlightNews, KeptWindow};
use whyslow_model::visible;

impl Agent {
    /// What became of windows of the ring.
    pub(super) fn keep(&mut self, news: Vec<FlightNews>, say: &mut dyn FnMut(&str)) {
        if let Some(keeper) = &mut self.keeper {
            self.meter.leave_out(keeper.take_cpu_of_recordings());
        }
        let is_under_way = self.status.recording.is_some();
        for one in news {
            match one {
                FlightNews::Kept(window) => {
                    say(&format!("{}: {}", visible::path(&window.path), window.why));
                    self.kept.extend(window.path.file_name().map(|name| name.to_string_lossy().into_owned()));
                    self.status.keep(kept(&window));
                }
                FlightNews::Begun(window) => say(&format!("records in detail: {}", window.why)),
                FlightNews::Removed(paths) => {
                    self.status.kept.retain(|kept| !paths.contains(&kept.path));
                    say(&format!("{} older recordings made place for a newer one", paths.len()));
                }
                FlightNews::Failed(why) => self.trouble(why, say),
            }
        }
        if is_under_way != self.keeper.as_ref().is_some_and(|keeper| keeper.recording().is_some()) {
            self.write_status(say);
        }
    }

    /// What became of windows.
    pub(super) fn told(&mut self, news: impl IntoIterator<Item = TellerNews>, say: &mut dyn FnMut(&str)) {
        for one in news {
            match one {
                TellerNews::Told(outcome) => self.take_outcome(*outcome, say),
                TellerNews::Lost(why) => {
                    self.status.windows_lost += 1;
                    self.trouble(why, say);
                }
                TellerNews::Later(why) => self.trouble(why, say),
            }
            self.write_status(say);
        }
    }

    pub(super) fn take_outcome(&mut self, outcome: WindowOutcome, say: &mut dyn FnMut(&str)) {
        self.status.windows += 1;
        self.status.memory_of_windows = self.status.memory_of_windows.max(outcome.memory);
        self.status.parts_removed += outcome.removed.0;
        if outcome.removed.0 > 0 {
            let text = format!(
                "{} parts ({} KiB) were removed before they were taken elsewhere: no more than {} MiB may wait",
                outcome.removed.0,
                outcome.removed.1 >> 10,
                self.settings.disk
            );
            self.trouble(text, say);
        }
        outcome.notes.iter().for_each(|note| self.trouble(note.clone(), say));
        for kept in &mut self.status.kept {
            let name = kept.path.file_name().map(|name| name.to_string_lossy());
            if name.is_some_and(|name| outcome.kept.iter().any(|known| *known == name)) {
                kept.findings.clone_from(&outcome.found);
            }
        }
        self.parts_came(say);
        self.status.last = outcome;
    }

    /// What the process that told a window has for the store.
    pub(super) fn parts_came(&mut self, say: &mut dyn FnMut(&str)) {
        let Some(upload) = &self.upload else { return };
        let mut troubles = upload.said();
        troubles.extend(upload.parts_came().err());
        troubles.into_iter().for_each(|text| self.trouble(text, say));
    }

    pub(super) fn trouble(&mut self, text: String, say: &mut dyn FnMut(&str)) {
        say(&text);
        self.status.trouble(text);
    }

    pub(super) fn write_status(&mut self, say: &mut dyn FnMut(&str)) {
        self.outward.tell(&self.status).into_iter().for_each(|text| self.trouble(text, say));
        self.status.at = micros(SystemTime::now());
        self.status.recording = self.keeper.as_ref().and_then(Keeper::recording).map(kept);
        self.status.ring =
            self.keeper.as_ref().and_then(Keeper::state).map(|(ring, passed_over)| AgentRing {
                holds: ring.holds.as_secs_f64(),
                bytes: ring.bytes,
                shortened: ring.shortened,
                passed_over,
            });
        if let Some(upload) = &self.upload {
            self.status.upload = Some(upload.status());
        }
        if let Err(error) = self.status.write(&self.settings.state) {
            // Nothing but the report of it is lost.
            say(&format!("{}: {error}", visible::path(&self.settings.state)));
        }
    }
}

/// As the status names it.
fn kept(window: &KeptWindow) -> AgentKept {
    AgentKept {
        path: window.path.clone(),
        trigger: window.trigger.clone(),
        at: (window.at.get().unwrap_or(0) / 1_000) as i64,
        why: window.why.clone(),
        findings: Vec::new(),
    }
}

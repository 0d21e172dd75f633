//! The line that says how a live recording goes: on standard error, on a terminal.

use crate::output::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// The line.
pub(super) struct LiveLine {
    bar: Option<ProgressBar>,
    words: String,
    length: Option<Duration>,
    /// Only stacks are taken.
    samples: bool,
}

impl LiveLine {
    /// On a terminal; elsewhere only what is said in words, and the summary at the end.
    pub(super) fn new(
        words: &str,
        length: Option<Duration>,
        samples: bool,
        global: &crate::global::Global,
    ) -> LiveLine {
        let terminal = std::io::stderr().is_terminal() && !global.json;
        let bar = terminal.then(|| {
            let bar = ProgressBar::new_spinner();
            match ProgressStyle::with_template("{spinner} {msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        LiveLine { bar, words: crate::output::plain(words).to_string(), length, samples }
    }

    /// How it goes.
    pub(super) fn show(&self, progress: &whyslow_record::Progress) {
        let Some(bar) = &self.bar else { return };
        let seconds = progress.elapsed.as_secs_f64();
        let of = self.length.map_or(String::new(), |length| format!(" of {:.0} s", length.as_secs_f64()));
        if self.samples {
            bar.set_message(format!(
                "sampling {}: {seconds:.1} s{of}, cost {}  (Ctrl-C ends it)",
                self.words,
                cost(progress.cost),
            ));
            return bar.tick();
        }
        let rate = progress.calls as f64 / seconds.max(0.05);
        bar.set_message(format!(
            "recording {}: {seconds:.1} s{of}, {} calls ({}/s), {} lost, cost {}  (Ctrl-C ends it)",
            self.words,
            grouped(progress.calls),
            grouped(rate as u64),
            grouped(progress.lost),
            cost(progress.cost),
        ));
        bar.tick();
    }

    /// Something to know, on a line of its own.
    pub(super) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say!("whyslow: {text}")),
            None => say!("whyslow: {text}"),
        }
    }

    /// The end, in one line.
    pub(super) fn finish(self, recorded: &whyslow_record::Recorded) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let seconds = recorded.ended.since(recorded.began).as_secs_f64().unwrap_or_default();
        let produced = |tables: &[&str]| -> u64 {
            let named = |loss: &&whyslow_model::Loss| tables.contains(&loss.table.as_str());
            recorded.losses.iter().filter(named).map(|loss| loss.produced).sum()
        };
        if self.samples {
            say!(
                "whyslow: sampled {} for {seconds:.1} s: {} stacks, {} lost, cost {} of its CPU time",
                self.words,
                grouped(produced(&["samples", "offcpu"])),
                grouped(recorded.losses.iter().map(|loss| loss.lost).sum()),
                cost(recorded.cost.map(|cost| cost.target_share)),
            );
            return self.trouble(recorded);
        }
        // Where only files are looked at, their calls are added up and none is recorded in full.
        let (calls, how) = match (produced(&["syscalls"]), produced(&["files"])) {
            (0, files) if files > 0 => (files, "on files added up"),
            (calls, _) => (calls, "in full"),
        };
        let lost: u64 = recorded.losses.iter().map(|loss| loss.lost).sum();
        say!(
            "whyslow: recorded {} for {seconds:.1} s: {} calls {how}, {} lost, cost {} of its CPU time",
            self.words,
            grouped(calls),
            grouped(lost),
            cost(recorded.cost.map(|cost| cost.target_share)),
        );
        self.trouble(recorded);
    }

    fn trouble(&self, recorded: &whyslow_record::Recorded) {
        if let Some(error) = &recorded.trouble {
            say!("whyslow: the recording ends early: {error}");
        }
    }
}

fn cost(share: Option<f64>) -> String {
    match share {
        Some(share) if share < 0.0005 => "under 0.1 %".to_string(),
        Some(share) => format!("{:.1} %", share * 100.0),
        None => "unknown".to_string(),
    }
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

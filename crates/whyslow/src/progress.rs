//! The progress bar: on standard error, on a terminal, for long input.

use crate::output::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;
use whyslow_read::Progress;

/// Shorter input is read before a bar could be looked at: at 1 GB/s this takes 64 ms.
const LONG_INPUT: u64 = 64 << 20;

/// A bar that appears with the first long input.
#[derive(Default)]
pub(crate) struct Bar {
    bar: OnceLock<ProgressBar>,
}

impl Bar {
    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn bytes(&self, done: u64, total: Option<u64>) {
        if total.unwrap_or(done) < LONG_INPUT || !std::io::stderr().is_terminal() {
            return;
        }
        self.bar.get_or_init(|| made(total)).set_position(done);
    }
}

fn made(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{bar:30} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left")
        }
        None => (ProgressBar::new_spinner(), "{spinner} {bytes}  {bytes_per_sec}"),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The line that tells how a live recording goes.
pub(crate) struct LiveLine {
    bar: Option<ProgressBar>,
    words: String,
    length: Option<Duration>,
    /// Only stacks are taken.
    samples: bool,
}

impl LiveLine {
    /// On a terminal; elsewhere only what is said in words, and the summary at the end.
    pub(crate) fn new(
        words: &str,
        length: Option<Duration>,
        samples: bool,
        global: &crate::cli::Global,
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
    pub(crate) fn show(&self, progress: &whyslow_record::Progress) {
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
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say!("whyslow: {text}")),
            None => say!("whyslow: {text}"),
        }
    }

    /// The end, in one line.
    pub(crate) fn finish(self, recorded: &whyslow_record::Recorded) {
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

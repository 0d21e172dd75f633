//! The line that says how a live recording goes: on standard error, on a terminal.

use crate::output::say;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use whyslow_model::Loss;

/// The line.
pub(super) struct LiveLine {
    bar: Option<ProgressBar>,
    words: String,
    length: Option<Duration>,
    /// Only stacks are taken.
    samples: bool,
    verbose: bool,
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
        LiveLine {
            bar,
            words: crate::output::plain(words).to_string(),
            length,
            samples,
            verbose: global.verbose,
        }
    }

    /// How it goes.
    pub(super) fn show(&self, progress: &whyslow_record::RecordingProgress) {
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
        let what = if self.samples { sampled(&recorded.losses) } else { calls(recorded) };
        let cost = recorded.cost.map_or("unknown".to_string(), |cost| cost_in_words(&cost));
        let verb = if self.samples { "sampled" } else { "recorded" };
        say!("whyslow: {verb} {} for {seconds:.1} s: {what}, cost {cost}", self.words);
        if self.verbose {
            let parts = recorded.cost_of_parts.iter().filter(|(_, added)| added.get() != Some(0));
            let parts: Vec<String> = parts.map(|(part, added)| format!("{part} {added}")).collect();
            say!("whyslow: cost by part: {}", parts.join(", "));
        }
        self.trouble(recorded);
    }

    fn trouble(&self, recorded: &whyslow_record::Recorded) {
        if let Some(error) = &recorded.trouble {
            say!("whyslow: the recording ends early: {error}");
        }
    }
}

/// The sum over these tables.
fn sum(losses: &[Loss], tables: &[&str], of: impl Fn(&Loss) -> u64) -> u64 {
    losses.iter().filter(|loss| tables.contains(&loss.table.as_str())).map(of).sum()
}

/// Stacks taken, lost, and left out for their cost.
fn sampled(losses: &[Loss]) -> String {
    let tables = ["samples", "offcpu"];
    let lost = sum(losses, &tables, |loss| loss.lost);
    let kept = sum(losses, &tables, |loss| loss.produced).saturating_sub(lost);
    format!("{} stacks, {} lost{}", grouped(kept), grouped(lost), left_out(losses))
}

/// Calls kept, counted and lost.
fn calls(recorded: &whyslow_record::Recorded) -> String {
    let losses = &recorded.losses;
    let lost = sum(losses, &["syscalls"], |loss| loss.lost);
    let kept = sum(losses, &["syscalls"], |loss| loss.produced).saturating_sub(lost);
    let counted: u64 = recorded.calls_counted();
    let on_files = sum(losses, &["files"], |loss| loss.produced);
    let mut text = match (kept, counted) {
        // Where only files are looked at, their calls are added up and none is recorded in full.
        (0, 0) if on_files > 0 => format!("{} calls on files added up", grouped(on_files)),
        (kept, 0) => format!("{} calls in full, {} lost", grouped(kept), grouped(lost)),
        (kept, counted) => {
            format!("{} calls in full, {} lost, {} counted", grouped(kept), grouped(lost), grouped(counted))
        }
    };
    let others = losses.iter().map(|loss| loss.lost).sum::<u64>() - lost;
    if others > 0 {
        text += &format!(", {} other records lost", grouped(others));
    }
    text + &left_out(losses)
}

/// Stacks that were not taken, to keep the cost low.
fn left_out(losses: &[Loss]) -> String {
    match sum(losses, &["samples", "offcpu"], |loss| loss.refused) {
        0 => String::new(),
        refused => format!(", {} stacks left out for their cost", grouped(refused)),
    }
}

/// `3.1 % of its CPU time (12.3 ms)`.
fn cost_in_words(cost: &whyslow_model::Cost) -> String {
    match cost.target_share {
        Some(share) => format!("{} of its CPU time ({})", self::cost(Some(share)), cost.added),
        // It used less than a tick.
        None => format!("{} of CPU time", cost.added),
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

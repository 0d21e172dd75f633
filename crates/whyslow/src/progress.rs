//! The progress bar: on standard error, on a terminal, for long input.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
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

//! What Ballista says of itself, as lines on standard error.

use log::{LevelFilter, Log, Metadata, Record};
use whyslow_model::visible;

/// Lines are cut after so many letters: some hold whole plans.
const LONGEST: usize = 400;

struct ProblemLog;

impl Log for ProblemLog {
    fn enabled(&self, about: &Metadata<'_>) -> bool {
        about.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let text: String = record.args().to_string().chars().take(LONGEST).collect();
            eprintln!("whyslow: {}: {}", record.level().as_str().to_lowercase(), visible::line(&text));
        }
    }

    fn flush(&self) {}
}

/// Tells from now on what Ballista warns of on standard error; with `all` also what it does.
pub fn tell_problems(all: bool) {
    if log::set_boxed_logger(Box::new(ProblemLog)).is_ok() {
        log::set_max_level(if all { LevelFilter::Info } else { LevelFilter::Warn });
    }
}

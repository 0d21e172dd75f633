//! Log levels: the words DEBUG, INFO, … at the head of what is written, sampled.

use crate::Fold;
use crate::streams::{Place, Stream};
use crate::world::ids::LifeId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::{FdKind, Syscall, text};

/// A level of a log line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum LogLevel {
    /// `TRACE`, and finer ones.
    Trace,
    /// `DEBUG`.
    Debug,
    /// `INFO`, `NOTICE`.
    Info,
    /// `WARN` and above.
    Warning,
}

/// Sampled writes to one place by level.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct LevelCounts {
    /// Writes looked at.
    pub sampled: u64,
    /// Of these, with a level at their head, by [`LogLevel`].
    pub by_level: [u64; 4],
}

impl LevelCounts {
    /// Looked-at writes that hold a level.
    pub fn levelled(&self) -> u64 {
        self.by_level.iter().sum()
    }

    /// The part (0 to 1) of the levelled writes that are DEBUG or TRACE; `None` where none holds a level.
    pub fn debug_share(&self) -> Option<f64> {
        let all = self.levelled();
        let debug = self.by_level[LogLevel::Trace as usize] + self.by_level[LogLevel::Debug as usize];
        (all > 0).then(|| debug as f64 / all as f64)
    }
}

/// Levels by place: every 17th write of at least a line's length.
#[derive(Debug, Default)]
pub struct LogLevels {
    counts: HashMap<Place, LevelCounts>,
    writes: u64,
}

impl LogLevels {
    /// One in so many writes is looked at: the share of levels is what matters. A prime, so that a program that
    /// writes to several places in turn is not always met at the same one.
    const EVERY: u64 = 17;
    /// A line with a time and a level is not shorter.
    const MIN_BYTES: u64 = 16;
    /// A level stands behind the time, the thread and perhaps the host: within that many bytes.
    const HEAD: usize = 100;
    /// Places kept.
    const MAX_PLACES: usize = 1024;

    /// The part of the sampled writes that hold a level, from which on a place is a log whatever its name.
    const LEVELLED_PART: f64 = 0.5;

    /// What was sampled of `place`.
    pub fn of(&self, place: Place) -> LevelCounts {
        self.counts.get(&place).copied().unwrap_or_default()
    }

    /// True for a log: by its name, or by what its lines look like.
    pub fn is_log(&self, stream: &Stream) -> bool {
        if matches!(stream.kind, FdKind::DevNull | FdKind::Terminal) || stream.kind.is_socket() {
            return false;
        }
        let named = stream.path.as_deref().is_some_and(is_log_path);
        let levels = self.of(stream.place);
        named
            || (levels.sampled > 0 && levels.levelled() as f64 >= Self::LEVELLED_PART * levels.sampled as f64)
    }
}

/// True for a path by which logs go.
pub fn is_log_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".log")
        || name.contains(".log.")
        || path.starts_with("/var/log/")
        || path.contains("/logs/")
}

/// The level that stands at the head of a line: a whole word in capitals, or a `level=` or `"level":` field.
fn level_of(line: &[u8]) -> Option<LogLevel> {
    let head = &line[..line.len().min(LogLevels::HEAD)];
    let mut words = head.split(|byte| !byte.is_ascii_alphabetic());
    let mut before: &[u8] = b"";
    words.find_map(|word| {
        let field = before.eq_ignore_ascii_case(b"level") || before.eq_ignore_ascii_case(b"lvl");
        if !word.is_empty() {
            before = word;
        }
        let level = level_word(word)?;
        // In running text a lower-case word (`debug info`) is no level.
        (field || word.iter().all(u8::is_ascii_uppercase)).then_some(level)
    })
}

fn level_word(word: &[u8]) -> Option<LogLevel> {
    let is = |known: &[&[u8]]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    match word.len() {
        4..=8 if is(&[b"TRACE", b"FINE", b"FINER", b"FINEST"]) => Some(LogLevel::Trace),
        5 if is(&[b"DEBUG"]) => Some(LogLevel::Debug),
        4..=6 if is(&[b"INFO", b"NOTICE"]) => Some(LogLevel::Info),
        4..=8 if is(&[b"WARN", b"WARNING", b"ERROR", b"FATAL", b"SEVERE", b"CRITICAL"]) => {
            Some(LogLevel::Warning)
        }
        _ => None,
    }
}

impl Fold for LogLevels {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::WRITE | Syscall::WRITEV)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        if seen.bytes < Self::MIN_BYTES || seen.kind.is_socket() || seen.kind == FdKind::Event {
            return;
        }
        self.writes += 1;
        if self.writes % Self::EVERY != 1 {
            return;
        }
        let place = match (seen.file, seen.life) {
            (Some(file), _) => Place::File(file),
            (None, Some(life)) => Place::Life(life),
            (None, None) => Place::Life(LifeId::NONE),
        };
        if self.counts.len() >= Self::MAX_PLACES && !self.counts.contains_key(&place) {
            return;
        }
        let args = seen.call.args;
        let payload = memchr::memchr(b'"', args).map_or(&b""[..], |quote| &args[quote + 1..]);
        let level = level_of(text::unescape(&payload[..payload.len().min(2 * Self::HEAD)]).as_ref());
        let counts = self.counts.entry(place).or_default();
        counts.sampled += 1;
        if let Some(level) = level {
            counts.by_level[level as usize] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        for (line, level) in [
            ("2018-11-29 07:43:23.009 [main] DEBUG c.e.Foo - bar", Some(LogLevel::Debug)),
            ("INFO:root:started", Some(LogLevel::Info)),
            ("[2024-01-01T00:00:00Z TRACE hyper] x", Some(LogLevel::Trace)),
            ("time=\"2024-01-01\" level=debug msg=\"x\"", Some(LogLevel::Debug)),
            ("{\"level\":\"error\",\"msg\":\"x\"}", Some(LogLevel::Warning)),
            ("127.0.0.1 - - [10/Oct/2000:13:55:36] \"GET /debug HTTP/1.1\" 200", None),
            ("printing some debug info here", None),
            ("", None),
        ] {
            assert_eq!(level_of(line.as_bytes()), level, "{line}");
        }
    }
}

//! Lines kept as evidence: where they stand and what they say.

use whyslow_model::{Call, Evidence, Nanos, SourceId, Timestamp};

/// One line (or both halves of a call) kept as evidence.
#[derive(Clone, Debug)]
pub struct Exemplar {
    /// The source.
    pub source: SourceId,
    /// The line, from 1.
    pub line: u64,
    /// The line of the result, where it is another one.
    pub end_line: u64,
    /// The thread.
    pub tid: u32,
    /// When it began.
    pub ts: Timestamp,
    /// How long it took.
    pub dur: Nanos,
    /// The text, cut.
    pub text: Box<str>,
}

impl Exemplar {
    /// Longer lines are cut: evidence is read by people.
    const MAX_TEXT: usize = 400;

    /// The line (or both halves) of `call`.
    pub fn of(call: &Call<'_>) -> Exemplar {
        Exemplar {
            source: call.source,
            line: call.line,
            end_line: call.end_line,
            tid: call.tid,
            ts: call.ts,
            dur: call.dur,
            text: shown(call.raw, call.raw_end),
        }
    }

    /// A line that is no call: a signal.
    pub fn of_line(source: SourceId, line: u64, tid: u32, ts: Timestamp, raw: &[u8]) -> Exemplar {
        Exemplar { source, line, end_line: line, tid, ts, dur: Nanos::UNKNOWN, text: shown(raw, b"") }
    }

    /// As evidence, with the source's name.
    pub fn evidence(&self, source_name: &str) -> Evidence {
        let source = if self.end_line > self.line {
            format!("{source_name}:{},{}", self.line, self.end_line)
        } else {
            format!("{source_name}:{}", self.line)
        };
        Evidence { source, text: self.text.to_string() }
    }
}

fn shown(raw: &[u8], raw_end: &[u8]) -> Box<str> {
    // Nearly every line is short ASCII: one check, one copy.
    if raw_end.is_empty()
        && raw.len() <= Exemplar::MAX_TEXT
        && let Ok(text) = std::str::from_utf8(raw)
    {
        return text.into();
    }
    let cut = |text: &[u8]| -> String {
        if text.len() <= Exemplar::MAX_TEXT
            && let Ok(whole) = std::str::from_utf8(text)
        {
            return whole.to_string();
        }
        let mut shown = String::from_utf8_lossy(&text[..text.len().min(Exemplar::MAX_TEXT)]).into_owned();
        if text.len() > Exemplar::MAX_TEXT {
            shown.push('…');
            // The result stands at the end: keep it.
            shown.push_str(&String::from_utf8_lossy(&text[(text.len() - 60).max(Exemplar::MAX_TEXT)..]));
        }
        shown
    };
    let mut text = cut(raw);
    if !raw_end.is_empty() {
        text.push_str(" / ");
        text.push_str(&cut(raw_end));
    }
    text.into()
}

/// The first line seen and the one with the longest duration.
#[derive(Clone, Debug, Default)]
pub struct Exemplars {
    /// The first.
    pub first: Option<Box<Exemplar>>,
    /// The longest so far.
    pub longest: Option<Box<Exemplar>>,
    longest_ns: u64,
}

impl Exemplars {
    /// Keeps `call` if it is the first or the longest (by at least a quarter, so that slow growth costs nothing).
    #[inline]
    pub fn see(&mut self, call: &Call<'_>) {
        let ns = call.dur.or_zero();
        if self.first.is_none() || ns > self.longest_ns.saturating_add(self.longest_ns / 4) {
            self.keep(call, ns);
        }
    }

    #[cold]
    fn keep(&mut self, call: &Call<'_>, ns: u64) {
        let exemplar = Box::new(Exemplar::of(call));
        if self.first.is_none() {
            self.first = Some(exemplar);
        } else {
            self.longest = Some(exemplar);
        }
        self.longest_ns = ns;
    }

    /// Takes over what `other` has and this has not.
    pub fn merge(&mut self, other: &Exemplars) {
        if self.first.is_none() {
            self.first = other.first.clone();
        }
        if other.longest_ns > self.longest_ns {
            self.longest = other.longest.clone().or_else(|| other.first.clone());
            self.longest_ns = other.longest_ns;
        }
    }

    /// First and longest, whichever there are.
    pub fn iter(&self) -> impl Iterator<Item = &Exemplar> {
        self.first.iter().chain(self.longest.iter()).map(|boxed| &**boxed)
    }
}

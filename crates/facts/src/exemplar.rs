//! Lines kept as evidence: where they stand and what they say.

use whyslow_model::{
    Call, CaptureKind, Evidence, LineFormat, Logged, Nanos, Signal, SourceId, SourceInfo, Timestamp,
};

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

    /// The line (or both halves) of `call`; composed where its source is no text.
    pub fn of(call: &Call<'_>) -> Exemplar {
        Exemplar {
            source: call.source,
            line: call.line,
            end_line: call.end_line,
            tid: call.tid,
            ts: call.ts,
            dur: call.dur,
            text: if call.raw.is_empty() { composed(call) } else { shown(call.raw, call.raw_end) },
        }
    }

    /// The line of a signal.
    pub fn of_signal(signal: &Signal<'_>) -> Exemplar {
        let text = if signal.raw.is_empty() {
            let mut line = Vec::new();
            signal.write_line(&LineFormat::EVIDENCE, &mut line);
            shown(&line, b"")
        } else {
            shown(signal.raw, b"")
        };
        let (line, dur) = (signal.line, Nanos::UNKNOWN);
        Exemplar { source: signal.source, line, end_line: line, tid: signal.tid, ts: signal.ts, dur, text }
    }

    /// The line of an access log.
    pub fn of_logged(line: &Logged<'_>) -> Exemplar {
        Exemplar {
            source: line.source,
            line: line.line,
            end_line: line.line,
            tid: 0,
            ts: line.at,
            dur: line.dur,
            text: shown(line.raw, b""),
        }
    }

    /// As evidence from `source`: with its name, and the line in a text or the time in a recording.
    pub fn evidence(&self, source: Option<&SourceInfo>) -> Evidence {
        let name = source.map_or("?", |source| source.name.as_str());
        let place = match source.map(|source| source.kind) {
            Some(CaptureKind::Recording) if self.ts.is_known() => {
                format!("recording {name}, {}", self.ts.time_of_day())
            }
            Some(CaptureKind::Recording) => format!("recording {name}"),
            _ if self.end_line > self.line => format!("{name}:{},{}", self.line, self.end_line),
            _ => format!("{name}:{}", self.line),
        };
        let source = place;
        Evidence { source, text: self.text.to_string() }
    }
}

#[cold]
fn composed(call: &Call<'_>) -> Box<str> {
    let mut line = Vec::with_capacity(128);
    call.write_line(&LineFormat::EVIDENCE, &mut line);
    shown(&line, b"")
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
        self.add(Exemplar::of(call), ns);
    }

    /// Keeps a line that stands for `ns`, as [`Exemplars::see`] does that of a call.
    pub(crate) fn add(&mut self, exemplar: Exemplar, ns: u64) {
        if self.first.is_some() && ns <= self.longest_ns.saturating_add(self.longest_ns / 4) {
            return;
        }
        let exemplar = Box::new(exemplar);
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

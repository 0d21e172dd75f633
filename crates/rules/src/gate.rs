//! What a rule compared, and where it turned its candidates down: kept while somebody asks why the rule did not fire, else nothing.
//!
//! Rules say their guards once, as comparisons; the attribute [`gated`] tells each to this module. What is kept is kept by place: how often,
//! and of each comparison the figure that came nearest to its threshold.

mod words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use whyslow_model::{Nanos, Timestamp, Unit, figures};

pub(crate) use whyslow_gate::gated;

/// Comparisons on the way to one turn at most: more belong to what was before.
const MOST_RECENT: usize = 16;

/// A place where candidates are turned down.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The condition, as it is written.
    pub(crate) what: &'static str,
    /// `holds`, `does not hold`, `has nothing`.
    pub(crate) how: &'static str,
}

/// A comparison with a threshold.
#[derive(Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The threshold is on the left.
    pub(crate) flipped: bool,
    /// What is measured, as it is written.
    pub(crate) measured: &'static str,
    /// The comparison, with the threshold on the right.
    pub(crate) mark: &'static str,
    /// The threshold, as it is written.
    pub(crate) threshold: &'static str,
    /// The comment of the threshold.
    pub(crate) reason: &'static str,
}

type Place = (&'static str, u32, u32);

/// A comparison of a rule with its figures: of all that were made there, the one whose figure was nearest to the threshold.
#[derive(Clone, PartialEq, Debug)]
pub struct Compared {
    /// What is measured, as the rule writes it: `syncs.count`.
    pub what: String,
    /// How much it was; `None` where it is unknown.
    pub value: Option<f64>,
    /// `<`, `<=`, `>` or `>=`, as the rule writes it.
    pub mark: &'static str,
    /// The threshold, as the rule writes it: `MIN_SYNCS`.
    pub threshold: String,
    /// How much that is.
    pub threshold_value: Option<f64>,
    /// Of both.
    pub unit: Unit,
    /// Whether the comparison holds.
    pub holds: bool,
    /// How often it was made.
    pub times: u64,
    /// Why the threshold is what it is; empty where nothing says it.
    pub reason: String,
    /// File and line of the rule: `io/fsync_per_write.rs:130`.
    pub place: String,
}

impl Compared {
    /// An amount in the comparison's unit, for people.
    pub fn words(&self, value: Option<f64>) -> String {
        let Some(value) = value else { return "unknown".to_string() };
        match self.unit {
            Unit::Nanos => Nanos::new(value.max(0.0) as u64).to_string(),
            Unit::Bytes => figures::bytes(value.max(0.0) as u64),
            Unit::Share => figures::percent(value),
            _ => figures::quantity(value),
        }
    }

    /// How far the figure is from the threshold: 0 on it, 1 where it is nothing beside it; infinite where it is unknown.
    pub fn distance(&self) -> f64 {
        match self.value.zip(self.threshold_value) {
            Some((value, threshold)) => {
                (value - threshold).abs() / value.abs().max(threshold.abs()).max(f64::MIN_POSITIVE)
            }
            None => f64::INFINITY,
        }
    }
}

impl Compared {
    /// In words: `syncs count is 3, and the threshold is at least 20`; of several comparisons the nearest one.
    pub fn sentence(&self) -> String {
        let nearest = match self.times {
            0 | 1 => String::new(),
            times => format!(" (the nearest of {})", figures::count(times)),
        };
        let mark = match self.mark {
            "<" => "less than",
            "<=" => "at most",
            ">" => "more than",
            _ => "at least",
        };
        let (is, or_not) = (self.words(self.value), if self.holds { "is" } else { "is not" });
        let threshold = self.words(self.threshold_value);
        let named = words::in_words(&self.threshold);
        let named = if named == threshold { String::new() } else { format!(" ({named})") };
        format!("{}: {is}, which {or_not} {mark} {threshold}{named}{nearest}", words::in_words(&self.what))
    }
}

impl Stop {
    /// The condition in words, and what of it stopped the candidate: `not so: path is known`.
    pub fn sentence(&self) -> String {
        let said = words::in_words(&self.condition);
        match self.how {
            "holds" => format!("turned down where {said}"),
            "does not hold" => format!("not so: {said}"),
            "has nothing" => format!("there is none: {said}"),
            _ => format!("compared: {said}"),
        }
    }
}

/// Where a rule turned candidates down.
#[derive(Clone, PartialEq, Debug)]
pub struct Stop {
    /// File and line of the rule: `io/fsync_per_write.rs:130`.
    pub place: String,
    /// The condition, as the rule writes it.
    pub condition: String,
    /// `holds`, `does not hold`, `has nothing`; `was compared` for comparisons that no condition followed.
    pub how: &'static str,
    /// How often.
    pub times: u64,
    /// The comparisons that decided it, as far as it is one of figures.
    pub compared: Vec<Compared>,
}

/// What a watched rule did.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Watched {
    /// Where it turned candidates down, in the order in which it came there first.
    pub stops: Vec<Stop>,
    /// The titles of what it found, before findings are joined and ranked.
    pub found: Vec<String>,
}

/// An amount that is compared.
pub(crate) trait Amount {
    /// Its value, where it is known.
    fn value(&self) -> Option<f64>;
    /// Its unit.
    const UNIT: Unit = Unit::Count;
}

macro_rules! amounts {
    ($($number:ty),*) => { $(impl Amount for $number {
        fn value(&self) -> Option<f64> {
            Some(*self as f64)
        }
    })* };
}
amounts!(u8, u16, u32, u64, u128, usize, i32, i64, i128, f64);

impl Amount for Nanos {
    fn value(&self) -> Option<f64> {
        self.get().map(|ns| ns as f64)
    }
    const UNIT: Unit = Unit::Nanos;
}

impl Amount for Timestamp {
    fn value(&self) -> Option<f64> {
        self.get().map(|ns| ns as f64)
    }
    const UNIT: Unit = Unit::Nanos;
}

impl<T: Amount + ?Sized> Amount for &T {
    fn value(&self) -> Option<f64> {
        (**self).value()
    }
    const UNIT: Unit = T::UNIT;
}

impl<T: Amount> Amount for Option<T> {
    fn value(&self) -> Option<f64> {
        self.as_ref()?.value()
    }
    const UNIT: Unit = T::UNIT;
}

/// What a sieve makes of a candidate.
pub(crate) trait Judgement {
    /// Whether it stays.
    fn stays(&self) -> bool;
}

impl Judgement for bool {
    fn stays(&self) -> bool {
        *self
    }
}

impl<T> Judgement for Option<T> {
    fn stays(&self) -> bool {
        self.is_some()
    }
}

#[derive(Default)]
struct Trace {
    stops: Vec<Stop>,
    at: HashMap<Place, usize>,
    /// Comparisons since the last turn.
    recent: Vec<(&'static Comparison, Compared)>,
}

impl Trace {
    fn turned(&mut self, site: &Site) {
        let number = *self.at.entry((site.file, site.line, site.column)).or_insert_with(|| {
            self.stops.push(Stop {
                place: place(site.file, site.line),
                condition: site.what.to_string(),
                how: site.how,
                times: 0,
                compared: Vec::new(),
            });
            self.stops.len() - 1
        });
        let stop = &mut self.stops[number];
        stop.times += 1;
        // Of `a && b` what does not hold decided, of `a || b` in a condition that leaves what holds; negated it is the other way round.
        let holds = site.how == "holds";
        let last = self.recent.last().map(|(_, compared)| compared.place.clone());
        let decides = self.recent.iter().any(|(_, compared)| compared.holds == holds);
        for (_, compared) in self.recent.drain(..) {
            let deciding =
                if decides { compared.holds == holds } else { Some(&compared.place) == last.as_ref() };
            if !deciding {
                continue;
            }
            let known = stop.compared.iter_mut().find(|known| {
                known.place == compared.place
                    && known.what == compared.what
                    && known.threshold == compared.threshold
            });
            match known {
                Some(known) => {
                    let times = known.times + 1;
                    if compared.distance() < known.distance() {
                        *known = compared;
                    }
                    known.times = times;
                }
                None => stop.compared.push(compared),
            }
        }
    }

    /// Comparisons that no condition followed.
    fn flush(&mut self) {
        let Some((first, _)) = self.recent.first() else { return };
        let holds = self.recent.iter().all(|(_, compared)| compared.holds);
        let what = first.measured;
        let site =
            Site { file: first.file, line: first.line, column: first.column, what, how: "was compared" };
        if !holds {
            self.turned(&site);
        }
        self.recent.clear();
    }
}

thread_local! {
    /// The rule that is asked about.
    static ASKED: Cell<Option<&'static str>> = const { Cell::new(None) };
    /// Whether that rule is at work.
    static ON: Cell<bool> = const { Cell::new(false) };
    static TRACE: RefCell<Trace> = RefCell::default();
    static FOUND: RefCell<Watched> = RefCell::default();
}

/// What rule `id` compares while `run` asks the rules, on this thread.
pub fn watch<T>(id: &'static str, run: impl FnOnce() -> T) -> (T, Watched) {
    ASKED.set(Some(id));
    FOUND.take();
    let made = run();
    ASKED.set(None);
    (made, FOUND.take())
}

/// A rule begins its check.
pub(crate) fn begin(id: &'static str) {
    if ASKED.get() == Some(id) {
        TRACE.take();
        ON.set(true);
    }
}

/// It ended, and found what has these titles.
pub(crate) fn end<'t>(titles: impl Iterator<Item = &'t str>) {
    if !ON.replace(false) {
        return;
    }
    let mut trace = TRACE.take();
    trace.flush();
    FOUND.set(Watched { stops: trace.stops, found: titles.map(str::to_string).collect() });
}

/// Whether the comparison `holds`, which is kept.
#[inline]
pub(crate) fn compared<L: Amount + ?Sized, R: Amount + ?Sized>(
    left: &L,
    right: &R,
    holds: impl FnOnce(&L, &R) -> bool,
    comparison: &'static Comparison,
) -> bool {
    let holds = holds(left, right);
    if ON.get() {
        let unit = if L::UNIT == Unit::Nanos { L::UNIT } else { R::UNIT };
        keep(comparison, (left.value(), right.value()), unit, holds);
    }
    holds
}

fn keep(comparison: &'static Comparison, (left, right): (Option<f64>, Option<f64>), unit: Unit, holds: bool) {
    let (value, threshold_value) = if comparison.flipped { (right, left) } else { (left, right) };
    let compared = Compared {
        what: comparison.measured.to_string(),
        value,
        mark: comparison.mark,
        threshold: comparison.threshold.to_string(),
        threshold_value,
        unit: unit_of(comparison, unit, value, threshold_value),
        holds,
        times: 1,
        reason: comparison.reason.to_string(),
        place: place(comparison.file, comparison.line),
    };
    TRACE.with_borrow_mut(|trace| {
        if trace.recent.len() >= MOST_RECENT {
            trace.recent.remove(0);
        }
        trace.recent.push((comparison, compared));
    });
}

/// The unit, as the names and the threshold tell it where the type does not.
fn unit_of(comparison: &Comparison, unit: Unit, value: Option<f64>, threshold: Option<f64>) -> Unit {
    let texts = [comparison.measured, comparison.threshold];
    let is_time = |text: &str| text.ends_with("ns") || text.ends_with(".or_zero()");
    let is_bytes = |text: &str| text.to_ascii_lowercase().contains("bytes");
    let is_part = threshold.is_some_and(|part| part > 0.0 && part < 1.0);
    match unit {
        Unit::Count if texts.iter().any(|text| is_time(text)) => Unit::Nanos,
        Unit::Count if is_part && value.is_none_or(|value| value.abs() <= 1.5) => Unit::Share,
        Unit::Count if texts.iter().all(|text| is_bytes(text)) => Unit::Bytes,
        unit => unit,
    }
}

/// `io/fsync_per_write.rs:130`
fn place(file: &str, line: u32) -> String {
    let file = file.rsplit_once("rules/src/").map_or(file, |(_, file)| file);
    format!("{file}:{line}")
}

/// Candidates were turned down there.
#[inline]
pub(crate) fn turned(site: &'static Site) {
    if ON.get() {
        TRACE.with_borrow_mut(|trace| trace.turned(site));
    }
}

/// A condition let the candidate go on.
#[inline]
pub(crate) fn passed() {
    if ON.get() {
        TRACE.with_borrow_mut(|trace| trace.recent.clear());
    }
}

/// What a sieve made of a candidate.
#[inline]
pub(crate) fn judged<T: Judgement>(made: T, site: &'static Site) -> T {
    if ON.get() {
        match made.stays() {
            true => passed(),
            false => turned(site),
        }
    }
    made
}

/// The candidates of a loop; that there are none is told.
#[inline]
pub(crate) fn each<I: IntoIterator>(candidates: I, site: &'static Site) -> Candidates<I::IntoIter> {
    Candidates { rest: candidates.into_iter(), site, any: false }
}

/// The candidates of a loop.
pub(crate) struct Candidates<I> {
    rest: I,
    site: &'static Site,
    any: bool,
}

impl<I: Iterator> Iterator for Candidates<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let next = self.rest.next();
        if ON.get() {
            if self.any {
                TRACE.with_borrow_mut(Trace::flush);
            } else if next.is_none() {
                turned(self.site);
            }
        }
        self.any = true;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fewer are few.
    const MIN: u64 = 20;

    #[gated]
    fn check(counts: &[u64]) -> usize {
        let many = counts.iter().filter(|count| **count >= MIN);
        let mut kept = 0;
        for count in many {
            if *count > 1_000 {
                continue;
            }
            kept += 1;
        }
        kept
    }

    fn watched(counts: &[u64]) -> Watched {
        let run = || {
            begin("a-rule");
            check(counts);
            end(std::iter::empty());
        };
        watch("a-rule", run).1
    }

    #[test]
    fn the_nearest_figure_is_told_beside_the_threshold() {
        let stops = watched(&[3, 19, 7, 2_000]).stops;
        let near = &stops[0].compared[0];
        assert_eq!((near.value, near.threshold_value, near.times), (Some(19.0), Some(20.0), 3));
        assert_eq!(
            (near.threshold.as_str(), near.reason.as_str(), near.holds),
            ("MIN", "Fewer are few.", false)
        );
        assert_eq!((stops[1].how, stops[1].compared[0].value), ("holds", Some(2_000.0)));
    }

    #[test]
    fn no_candidate_is_told_too() {
        let stops = watched(&[]).stops;
        assert_eq!((stops.len(), stops[0].how), (1, "has nothing"));
    }

    #[test]
    fn nothing_is_kept_of_a_rule_that_nobody_asks_about() {
        begin("another");
        assert_eq!(check(&[3, 30]), 1);
        end(std::iter::empty());
        assert!(FOUND.take().stops.is_empty());
    }

    /// Whether a line compares with a constant: `count >= guards::FEW_CALLS`.
    fn compares(line: &str) -> bool {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_constant = |word: &&str| {
            let word = word
                .trim_matches(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
            let name = word.rsplit("::").next().unwrap_or_default();
            name.len() > 1
                && name.chars().all(|letter| letter.is_ascii_uppercase() || matches!(letter, '_' | '0'..='9'))
                && name.starts_with(|letter: char| letter.is_ascii_uppercase())
        };
        let of = |at: usize| words.get(at).is_some_and(is_constant);
        let marks = words.iter().enumerate().filter(|(_, word)| ["<", "<=", ">", ">="].contains(word));
        let mut marks = marks.map(|(at, _)| at);
        !line.trim_start().starts_with("//") && marks.any(|at| of(at + 1) || at > 0 && of(at - 1))
    }

    /// Functions of a file, outside of its tests, that compare and are not gated.
    fn ungated(source: &str) -> Vec<String> {
        let (mut wrong, mut function, mut gated, mut attribute) = (Vec::new(), String::new(), false, false);
        for line in source.lines().take_while(|line| !line.starts_with("#[cfg(test)]")) {
            let text = line.trim_start();
            let starts = line.len() - text.len() <= 4
                && (text.starts_with("fn ") || text.starts_with("pub") && text.contains(" fn "));
            if starts {
                (function, gated, attribute) = (text.to_string(), attribute, false);
            } else if text == "#[gated]" {
                attribute = true;
            }
            if !function.is_empty() && !gated && compares(line) {
                wrong.push(function.clone());
            }
        }
        wrong
    }

    #[test]
    fn whatever_compares_with_a_threshold_is_gated() {
        let mut folders = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
        // What is no guard of a rule: the machinery, and how often rules are right.
        let aside = ["gate.rs", "engine.rs", "needs.rs", "precision.rs"];
        let mut wrong = Vec::new();
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs")
                    && !aside.iter().any(|name| path.ends_with(name))
                {
                    let source = std::fs::read_to_string(&path).unwrap();
                    wrong.extend(
                        ungated(&source)
                            .into_iter()
                            .map(|function| format!("{}: {function}", path.display())),
                    );
                }
            }
        }
        assert!(wrong.is_empty(), "put #[gated] above:\n{}", wrong.join("\n"));
        assert_eq!(ungated("fn f() {\n    count >= MIN\n}\n").len(), 1);
    }
}

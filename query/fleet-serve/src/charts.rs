//! Charts as SVG: bars of an account, lines of percentiles, hosts that have a finding. All text in them is escaped by `maud`, numbers are ours; what a
//! chart shows stands in a table too.

use crate::text;
use maud::{Markup, html};
use std::collections::BTreeMap;
use whyslow_query_fleet::{
    AccountSlice, COSTLY_STATES, FindingLife, FleetSpan, HistorySlice, RequestSlice, shown,
};

/// The size of a chart, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 200.0;
/// Room for figures at the left and times below.
const LEFT: f64 = 70.0;
const BELOW: f64 = 22.0;
/// Hosts that a chart of hosts has.
const MOST_ROWS: usize = 40;
const ROW: f64 = 14.0;

/// A chart's horizontal axis.
struct Axis {
    span: FleetSpan,
    step: i64,
}

impl Axis {
    fn x(&self, at: i64) -> f64 {
        let part = (at - self.span.from) as f64 / self.span.length().max(1) as f64;
        LEFT + part.clamp(0.0, 1.0) * (WIDTH - LEFT)
    }

    /// The begin and width of the bar of a slice.
    fn bar(&self, start: i64) -> (f64, f64) {
        let (from, to) = (self.x(start), self.x(start.saturating_add(self.step)));
        (from, (to - from - 0.5).max(0.5))
    }

    fn times(&self, height: f64) -> Markup {
        let marks: Vec<i64> = (0..=4).map(|part| self.span.from + self.span.length() / 4 * part).collect();
        html! {
            @for (at, mark) in marks.iter().enumerate() {
                line class="grid" x1=(n(self.x(*mark))) x2=(n(self.x(*mark))) y1="0" y2=(n(height)) {}
                text x=(n(self.x(*mark))) y=(n(height + 15.0)) text-anchor=(if at == 4 { "end" } else if at == 0 { "start" } else { "middle" }) { (shown(*mark)) }
            }
        }
    }
}

/// A number as SVG takes it.
fn n(value: f64) -> String {
    format!("{value:.1}")
}

/// The class that has a state's colour.
fn class(state: &str) -> &'static str {
    COSTLY_STATES.iter().map(|state| state.word()).find(|word| *word == state).map_or("s s-unknown", |word| {
        match word {
            "user" => "s s-user",
            "kernel" => "s s-kernel",
            "on-cpu" => "s s-on-cpu",
            "in-call" => "s s-in-call",
            "between-calls" => "s s-between-calls",
            "run-queue" => "s s-run-queue",
            "throttled" => "s s-throttled",
            "stolen" => "s s-stolen",
            "file" => "s s-file",
            "page-fault" => "s s-page-fault",
            "kernel-wait" => "s s-kernel-wait",
            "peer" => "s s-peer",
            "client" => "s s-client",
            "pipe" => "s s-pipe",
            "lock" => "s s-lock",
            "timer" => "s s-timer",
            "child" => "s s-child",
            "poll" => "s s-poll",
            "event" => "s s-event",
            _ => "s s-unknown",
        }
    })
}

fn frame(label: &str, height: f64, inner: &Markup) -> Markup {
    html! {
        svg class="chart" viewBox=(format!("0 0 {WIDTH} {}", height + BELOW)) role="img" aria-label=(label) { (inner) }
    }
}

/// Figures at the left: none, a half, all of `most`.
fn figures(most: f64, height: f64, said: fn(f64) -> String) -> Markup {
    html! {
        @for part in [0.0, 0.5, 1.0] {
            line class="grid" x1=(n(LEFT)) x2=(n(WIDTH)) y1=(n(height - part * (height - 12.0))) y2=(n(height - part * (height - 12.0))) {}
            text x=(n(LEFT - 6.0)) y=(n(height - part * (height - 12.0) + 4.0)) text-anchor="end" { (said(most * part)) }
        }
    }
}

/// The account over time: a bar a slice, cut by state. Slices of which nothing is known stay empty.
pub(crate) fn account(label: &str, slices: &[AccountSlice], span: FleetSpan, step_seconds: i64) -> Markup {
    let axis = Axis { span, step: step_seconds.saturating_mul(1_000_000) };
    let all = |slice: &AccountSlice| slice.states.values().sum::<f64>();
    let most = slices.iter().map(all).fold(0.0, f64::max);
    if most <= 0.0 {
        return html! { p.dim { "No time is known of this span." } };
    }
    let mut seen: BTreeMap<&str, f64> = BTreeMap::new();
    for slice in slices {
        for (state, ns) in &slice.states {
            *seen.entry(state).or_default() += ns;
        }
    }
    let bars = html! {
        (figures(most, HEIGHT, text::nanos))
        (axis.times(HEIGHT))
        @for slice in slices {
            @let (x, width) = axis.bar(slice.start_us);
            g {
                title { (slice_text(slice)) }
                @for (state, from, to) in stacked(slice) {
                    rect class=(class(state)) x=(n(x)) width=(n(width)) y=(n(HEIGHT - to / most * (HEIGHT - 12.0))) height=(n((to - from) / most * (HEIGHT - 12.0))) {}
                }
            }
        }
    };
    html! {
        figure {
            (frame(label, HEIGHT, &bars))
            figcaption {
                ul.legend {
                    @for state in COSTLY_STATES.iter().map(|state| state.word()).filter(|state| seen.contains_key(state)) {
                        li { svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" { rect class=(class(state)) width="10" height="10" {} } (state) }
                    }
                }
                p.dim { "Thread time a second and host, by what the threads did or waited for." }
            }
            details {
                summary { "As a table" }
                div.scroll tabindex="0" role="group" aria-label=(format!("{label}, as a table")) { table {
                    thead { tr { th scope="col" { "from" } th.figure scope="col" { "all" } @for state in seen.keys() { th.figure scope="col" { (state) } } } }
                    tbody { @for slice in slices {
                        tr { td { (shown(slice.start_us)) } td.figure { (text::nanos(all(slice))) }
                            @for state in seen.keys() { td.figure { (slice.states.get(state).map_or_else(|| "-".to_string(), |ns| text::nanos(*ns))) } } }
                    } }
                } }
            }
        }
    }
}

fn slice_text(slice: &AccountSlice) -> String {
    let mut states: Vec<(&&str, &f64)> = slice.states.iter().collect();
    states.sort_by(|a, b| b.1.total_cmp(a.1));
    let said: Vec<String> =
        states.iter().take(6).map(|(state, ns)| format!("{state} {}", text::nanos(**ns))).collect();
    format!("{}: {}", shown(slice.start_us), said.join(", "))
}

/// The states of a slice in the order of [`COSTLY_STATES`], each from where to where.
fn stacked(slice: &AccountSlice) -> Vec<(&'static str, f64, f64)> {
    let mut at = 0.0;
    let states = COSTLY_STATES.iter().map(|state| state.word());
    states
        .filter_map(|state| {
            let ns = *slice.states.get(state)?;
            at += ns;
            Some((state, at - ns, at))
        })
        .collect()
}

/// A line through points; it is broken where nothing is known.
fn path(points: &[Option<(f64, f64)>]) -> String {
    let mut out = String::new();
    let mut is_begun = false;
    for point in points {
        match point {
            Some((x, y)) => {
                out += &format!("{}{x:.1} {y:.1} ", if is_begun { 'L' } else { 'M' });
                is_begun = true;
            }
            None => is_begun = false,
        }
    }
    out
}

/// A line of a chart: its name, its class, its height in a slice.
type Line = (&'static str, &'static str, fn(&RequestSlice) -> Option<f64>);

/// Percentiles of requests over time.
pub(crate) fn percentiles(
    label: &str,
    slices: &[RequestSlice],
    span: FleetSpan,
    step_seconds: i64,
) -> Markup {
    let axis = Axis { span, step: step_seconds.saturating_mul(1_000_000) };
    let lines: [Line; 4] = [
        ("p50", "line l-p50", |slice| slice.sums.p50_ns),
        ("p90", "line l-p90", |slice| slice.sums.p90_ns),
        ("p99", "line l-p99", |slice| slice.sums.p99_ns),
        ("mean", "line l-mean", |slice| slice.sums.mean_ns),
    ];
    let most = slices
        .iter()
        .flat_map(|slice| lines.iter().filter_map(move |(_, _, of)| of(slice)))
        .fold(0.0, f64::max);
    if most <= 0.0 {
        return html! { p.dim { "No durations of requests are known of this span." } };
    }
    let y = |ns: f64| HEIGHT - ns / most * (HEIGHT - 12.0);
    let drawn = html! {
        (figures(most, HEIGHT, text::nanos))
        (axis.times(HEIGHT))
        @for (_, class, of) in lines {
            @let points: Vec<Option<(f64, f64)>> = with_gaps(slices, axis.step).map(|slice| {
                let slice = slice?;
                let (x, width) = axis.bar(slice.start_us);
                Some((x + width / 2.0, y(of(slice)?)))
            }).collect();
            path class=(class) d=(path(&points)) {}
        }
    };
    html! {
        figure {
            (frame(label, HEIGHT, &drawn))
            figcaption {
                ul.legend { @for (name, class, _) in lines {
                    li { svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" { path class=(class) d="M0 5 L10 5" {} } (name) }
                } }
                p.dim { "Each point is the mean of the minutes' percentiles, by requests." }
            }
            details {
                summary { "As a table" }
                div.scroll tabindex="0" role="group" aria-label=(format!("{label}, as a table")) { table {
                    thead { tr { th scope="col" { "from" } th.figure scope="col" { "requests" } th.figure scope="col" { "failed" } @for (name, ..) in lines { th.figure scope="col" { (name) } } } }
                    tbody { @for slice in slices { tr {
                        td { (shown(slice.start_us)) } td.figure { (text::count(slice.sums.requests)) } td.figure { (text::share(slice.sums.failed)) }
                        @for (_, _, of) in lines { td.figure { (text::time(of(slice))) } }
                    } } }
                } }
            }
        }
    }
}

/// The slices, with `None` where some are missing between.
fn with_gaps(slices: &[RequestSlice], step: i64) -> impl Iterator<Item = Option<&RequestSlice>> {
    let mut last: Option<i64> = None;
    slices.iter().flat_map(move |slice| {
        let is_apart = last.is_some_and(|last| slice.start_us - last > step);
        last = Some(slice.start_us);
        [is_apart.then_some(None), Some(Some(slice))].into_iter().flatten()
    })
}

/// On how many hosts a finding was, over time.
pub(crate) fn history(label: &str, slices: &[HistorySlice], span: FleetSpan, step_seconds: i64) -> Markup {
    const LOW: f64 = 120.0;
    let axis = Axis { span, step: step_seconds.saturating_mul(1_000_000) };
    let most = slices.iter().map(|slice| slice.hosts).max().unwrap_or_default().max(1) as f64;
    let y = |hosts: usize| LOW - hosts as f64 / most * (LOW - 12.0);
    let bars = html! {
        (figures(most, LOW, |hosts| format!("{hosts:.0}")))
        (axis.times(LOW))
        @for slice in slices {
            @let (x, width) = axis.bar(slice.start_us);
            g {
                title { (format!("{}: on {} hosts, opened on {}, closed on {}", shown(slice.start_us), slice.hosts, slice.opened, slice.closed)) }
                rect.bar x=(n(x)) width=(n(width)) y=(n(y(slice.hosts))) height=(n(LOW - y(slice.hosts))) {}
                @if slice.opened > 0 { rect.opened x=(n(x)) width=(n(width)) y=(n(LOW - 4.0)) height="4" {} }
                @if slice.closed > 0 { rect.closed x=(n(x)) width=(n(width)) y="0" height="4" {} }
            }
        }
    };
    html! {
        figure {
            (frame(label, LOW, &bars))
            figcaption.dim { "Hosts that have it, over time. A mark below: it opened on some; a mark above: it closed on some." }
            details {
                summary { "As a table" }
                div.scroll tabindex="0" role="group" aria-label=(format!("{label}, as a table")) { table {
                    thead { tr { th scope="col" { "from" } th.figure scope="col" { "hosts" } th.figure scope="col" { "opened" } th.figure scope="col" { "closed" } } }
                    tbody { @for slice in slices { tr { td { (shown(slice.start_us)) } td.figure { (slice.hosts) } td.figure { (slice.opened) } td.figure { (slice.closed) } } } }
                } }
            }
        }
    }
}

/// From when until when each host had it. The table of hosts beside it has all.
pub(crate) fn lives(label: &str, lives: &[FindingLife], span: FleetSpan) -> Markup {
    let axis = Axis { span, step: 60_000_000 };
    let rows = &lives[..lives.len().min(MOST_ROWS)];
    let height = rows.len() as f64 * ROW;
    let drawn = html! {
        (axis.times(height))
        @for (at, life) in rows.iter().enumerate() {
            @let (from, until) = life.between_us;
            @let (x, end) = (axis.x(from), axis.x(until.saturating_add(axis.step)));
            g {
                title { (format!("{}: {} from {} until {}", text::line(&life.host), life.state, shown(from), shown(until))) }
                rect class=(match life.state { "open" => "life open", "closed" => "life", _ => "life unknown" }) x=(n(x)) width=(n((end - x).max(1.5))) y=(n(at as f64 * ROW + 2.0)) height=(n(ROW - 4.0)) {}
                text x=(n(LEFT - 6.0)) y=(n(at as f64 * ROW + ROW - 3.0)) text-anchor="end" { (text::cut(&life.host, 11)) }
            }
        }
    };
    html! {
        figure {
            (frame(label, height, &drawn))
            @if lives.len() > rows.len() { figcaption.dim { (format!("The first {} of {} hosts; the table below has the others.", rows.len(), lives.len())) } }
        }
    }
}

/// A small line without figures: what it shows stands beside it.
pub(crate) fn spark(values: &[f64]) -> Markup {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = values.iter().copied().fold(0.0, f64::min);
    let reach = if most > least { most - least } else { 1.0 };
    let step = 118.0 / (values.len().saturating_sub(1)).max(1) as f64;
    let points: Vec<Option<(f64, f64)>> = values
        .iter()
        .enumerate()
        .map(|(at, value)| Some((1.0 + at as f64 * step, 19.0 - (value - least) / reach * 18.0)))
        .collect();
    html! { svg class="spark" viewBox="0 0 120 20" aria-hidden="true" { path class="line l-p90" d=(path(&points)) {} } }
}

/// A bar that is cut by state.
pub(crate) fn states(states: &BTreeMap<&'static str, f64>) -> Markup {
    let all: f64 = states.values().sum();
    let mut said: Vec<(&&str, &f64)> = states.iter().collect();
    said.sort_by(|a, b| b.1.total_cmp(a.1));
    let said: Vec<String> = said
        .iter()
        .take(3)
        .map(|(state, ns)| format!("{state} {:.0} %", **ns / all.max(1e-9) * 100.0))
        .collect();
    let slice = AccountSlice { start: String::new(), start_us: 0, seconds: 1.0, states: states.clone() };
    html! {
        @if all > 0.0 {
            svg class="states" viewBox="0 0 120 10" preserveAspectRatio="none" aria-hidden="true" {
                @for (state, from, to) in stacked(&slice) { rect class=(class(state)) x=(n(from / all * 120.0)) width=(n((to - from) / all * 120.0)) y="0" height="10" {} }
            }
            span.dim { " " (said.join(", ")) }
        } @else { span.dim { "-" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_on_each_other_and_add_up() {
        let states = BTreeMap::from([("peer", 3.0), ("user", 1.0), ("lock", 2.0)]);
        let slice = AccountSlice { start: String::new(), start_us: 0, seconds: 1.0, states };
        assert_eq!(stacked(&slice), [("user", 0.0, 1.0), ("peer", 1.0, 4.0), ("lock", 4.0, 6.0)]);
    }

    #[test]
    fn each_state_has_a_colour_of_its_own() {
        let mut classes: Vec<&str> = COSTLY_STATES.iter().map(|state| class(state.word())).collect();
        let style = include_str!("style.css");
        for class in &classes {
            assert!(style.contains(&format!(".{}{{fill:", class.trim_start_matches("s "))), "{class}");
        }
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), COSTLY_STATES.len());
    }

    #[test]
    fn lines_are_broken_where_nothing_is_known() {
        assert_eq!(
            path(&[Some((0.0, 1.0)), Some((1.0, 1.0)), None, Some((3.0, 1.0))]),
            "M0.0 1.0 L1.0 1.0 M3.0 1.0 "
        );
    }

    #[test]
    fn names_in_charts_are_no_markup() {
        let evil = "<script>alert(1)</script>".to_string();
        let life = FindingLife {
            finding: evil.clone(),
            host: evil.clone(),
            rule: evil.clone(),
            severity: evil.clone(),
            service: evil,
            version: None,
            process: None,
            culprit: None,
            line: None,
            state: "open",
            since: String::new(),
            last_seen: String::new(),
            between_us: (0, 60_000_000),
            minutes: 1,
            share: None,
        };
        let drawn = lives("x", &[life], FleetSpan { from: 0, until: 3_600_000_000 }).into_string();
        assert!(!drawn.contains("<script") && drawn.contains("&lt;script"), "{drawn}");
    }
}

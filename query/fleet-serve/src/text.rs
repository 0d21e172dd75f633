//! Figures and names as people read them. What is not known is `-`, never zero.

use whyslow_model::{Nanos, visible};

/// A name of a stranger, on one line, without what terminals and browsers take for commands.
pub(crate) fn line(text: &str) -> String {
    visible::line(text).into_owned()
}

/// The same, of so many characters at most.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A text that may be unknown.
pub(crate) fn known(text: Option<&String>) -> String {
    text.map_or_else(|| "-".to_string(), |text| line(text))
}

/// Nanoseconds: `1.20 ms`.
pub(crate) fn nanos(ns: f64) -> String {
    Nanos::new(ns.max(0.0).round() as u64).to_string()
}

/// The same, where it may be unknown.
pub(crate) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".to_string(), nanos)
}

/// A share, 0 to 1: `3.7 %`.
pub(crate) fn share(share: Option<f64>) -> String {
    match share.map(|share| share * 100.0) {
        None => "-".to_string(),
        Some(all) if all >= 99.95 => format!("{all:.0} %"),
        Some(most) if most >= 0.1 || most == 0.0 => format!("{most:.1} %"),
        Some(_) => "< 0.1 %".to_string(),
    }
}

/// A count with commas: `1,234,567`.
pub(crate) fn count(count: f64) -> String {
    let digits = format!("{:.0}", count.max(0.0));
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate: three digits that count.
pub(crate) fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "-".to_string(),
        Some(rate) if rate >= 100.0 => count(rate),
        Some(rate) if rate >= 10.0 => format!("{rate:.1}"),
        Some(rate) => format!("{rate:.2}"),
    }
}

/// A figure of a host in its own unit.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        all if all >= 1000.0 => count(value),
        some if some >= 1.0 || some == 0.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// Seconds: `45 s`, `12 min`, `3 h`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        few if few < 120.0 => format!("{few:.0} s"),
        some if some < 7_200.0 => format!("{:.0} min", some / 60.0),
        many if many < 172_800.0 => format!("{:.0} h", many / 3_600.0),
        days => format!("{:.0} d", days / 86_400.0),
    }
}

/// A stamp (RFC 3339) as people read it.
pub(crate) fn stamp(stamp: &str) -> String {
    stamp
        .parse::<jiff::Timestamp>()
        .map_or_else(|_| line(stamp), |time| whyslow_query_fleet::shown(time.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_as_people_write_them_and_the_unknown_is_no_zero() {
        assert_eq!([0.0, 999.0, 1_234_567.4].map(count), ["0", "999", "1,234,567"]);
        assert_eq!((share(None), time(None), rate(None)), ("-".into(), "-".into(), "-".into()));
        assert_eq!(
            [0.0, 0.0004, 0.037, 1.0].map(|all| share(Some(all))),
            ["0.0 %", "< 0.1 %", "3.7 %", "100 %"]
        );
        assert_eq!([1.234, 12.34, 1234.0].map(|all| rate(Some(all))), ["1.23", "12.3", "1,234"]);
        assert_eq!([45.0, 600.0, 7_200.0, 864_000.0].map(seconds), ["45 s", "10 min", "2 h", "10 d"]);
        assert_eq!(cut("a\u{1b}[1mbcdefghij", 3).chars().filter(|c| *c == '\u{1b}').count(), 0);
        assert_eq!(stamp("2026-11-27T03:12:00Z"), "2026-11-27 03:12");
    }
}

//! Figures as people read them: `200,135`, `382.7`, `78.4 MB`, `89.1 %`. Durations are [`crate::Nanos`]'s own.

/// A count with thousands separators.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A figure that need not be whole: separators from 1,000 on, one decimal below, two below 10; `unknown` for
/// what is no number.
pub fn quantity(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".to_string();
    }
    let size = value.abs();
    let text = if size >= 999.95 {
        count(size.round() as u64)
    } else if size >= 9.995 || size.fract() == 0.0 {
        let text = format!("{size:.1}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_string)
    } else {
        format!("{size:.2}")
    };
    if value < 0.0 { format!("-{text}") } else { text }
}

/// Bytes, in powers of 1000 as disks and networks are sold (`iostat -k` and `ls -h` use powers of 1024).
pub fn bytes(n: u64) -> String {
    let value = n as f64;
    match n {
        0..1_000 => format!("{n} B"),
        1_000..999_950 => format!("{:.1} kB", value / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", value / 1e6),
        999_950_000..999_950_000_000 => format!("{:.1} GB", value / 1e9),
        _ => format!("{:.1} TB", value / 1e12),
    }
}

/// A share (0 to 1) as per cent; `unknown` for what is no number.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { "unknown".to_string() }
}

/// A duration as people compare it with time limits: from a second on with its milliseconds (`1.779 s`).
pub fn duration(duration: crate::Nanos) -> String {
    match duration.as_secs_f64() {
        Some(seconds) if seconds >= 1.0 => format!("{seconds:.3} s"),
        _ => duration.to_string(),
    }
}

/// `1 call`, `2 calls`.
pub fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`; past `most` of them the rest is a number: `a, b and 3 more`.
pub fn list(items: &[String], most: usize) -> String {
    let (shown, rest) = items.split_at(items.len().min(most.max(1)));
    match (shown, rest.len()) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([before @ .., last], 0) => format!("{} and {last}", before.join(", ")),
        (shown, more) => format!("{} and {} more", shown.join(", "), count(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        assert_eq!(count(200_135), "200,135");
        assert_eq!(count(7), "7");
        assert_eq!(quantity(382.667), "382.7");
        assert_eq!(quantity(40027.0), "40,027");
        assert_eq!(quantity(4.97), "4.97");
        assert_eq!(quantity(9.999), "10");
        assert_eq!(quantity(999.96), "1,000");
        assert_eq!(quantity(-12.0), "-12");
        assert_eq!(quantity(f64::NAN), "unknown");
        assert_eq!(bytes(78_445_591), "78.4 MB");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(999_999), "1.0 MB");
        assert_eq!(percent(0.8907), "89.1 %");
        assert_eq!(percent(f64::INFINITY), "unknown");
        assert_eq!(duration(crate::Nanos::new(1_779_099_000)), "1.779 s");
        assert_eq!(plural(1, "call"), "1 call");
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(list(&names, 3), "a, b and c");
        assert_eq!(list(&names, 1), "a and 2 more");
        assert_eq!(list(&names[..1], 0), "a");
        assert_eq!(list(&[], 3), "");
    }
}

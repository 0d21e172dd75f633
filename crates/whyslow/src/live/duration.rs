//! Lengths of time as people type them.

use std::time::Duration;

/// `10`, `500ms`, `2m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit {unit:?}: use ms, s, m or h")),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| "expected a number, as in 10, 500ms or 2m".to_string())?;
    let seconds = number * factor;
    if !(seconds > 0.0 && seconds <= 7.0 * 86_400.0) {
        return Err("expected more than nothing and at most a week".to_string());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "0", "-1", "1x", "nan", "inf", "1e99"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

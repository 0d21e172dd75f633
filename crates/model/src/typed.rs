//! Times and sizes as people type them.

use std::time::Duration;

/// `200ms`, `1.5s`, `30`, `2m`, `500us`.
///
/// # Errors
/// What is wrong with it.
pub fn time(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown unit {unit:?}: use us, ms, s, m or h")),
    };
    let number: f64 =
        number.trim().parse().map_err(|_| format!("{text:?} is no time, as 200ms, 1.5s or 2m are"))?;
    let seconds = number * factor;
    // A week: the clocks of what is compared count nanoseconds.
    if !(seconds > 0.0 && seconds <= 7.0 * 86_400.0) {
        return Err("expected more than nothing and at most a week".to_string());
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// `64M`, `2G`.
///
/// # Errors
/// What is wrong with it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor: u64 = match unit.trim_end_matches(['b', 'B', 'i']).to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err(format!("unknown unit {unit:?}: use K, M or G")),
    };
    let number: u64 = number.parse().map_err(|_| format!("{text:?} is no size, as 64M is"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text:?} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read_with_their_units() {
        assert_eq!(time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(time("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!((bytes("64M"), bytes("3")), (Ok(64 << 20), Ok(3)));
        for wrong in ["", "0", "-1s", "1x", "nan", "inf", "1e99"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "M", "-1M", "1X", "18446744073709551615G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}

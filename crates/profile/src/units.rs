//! Units of values: scaling, labels and percentages as pprof writes them (google/pprof, `internal/measurement`).

/// The unit `Select::unit` has by default: one unit for the whole table, fit for its smallest value.
pub const MINIMUM: &str = "minimum";
/// The unit that scales each value on its own.
pub const AUTO: &str = "auto";

struct Unit {
    name: &'static str,
    aliases: &'static [&'static str],
    factor: f64,
}

/// Units of one kind, and which one a value gets that is too small for all.
struct Family {
    units: &'static [Unit],
    default: (&'static str, f64),
}

const fn unit(name: &'static str, aliases: &'static [&'static str], factor: f64) -> Unit {
    Unit { name, aliases, factor }
}

const KIB: f64 = 1024.0;

/// pprof's table; times are in nanoseconds. GCU is Google's unit of computing.
static FAMILIES: [Family; 3] = [
    Family {
        units: &[
            unit("B", &["b", "byte"], 1.0),
            unit("kB", &["kb", "kbyte", "kilobyte"], KIB),
            unit("MB", &["mb", "mbyte", "megabyte"], KIB * KIB),
            unit("GB", &["gb", "gbyte", "gigabyte"], KIB * KIB * KIB),
            unit("TB", &["tb", "tbyte", "terabyte"], KIB * KIB * KIB * KIB),
            unit("PB", &["pb", "pbyte", "petabyte"], KIB * KIB * KIB * KIB * KIB),
        ],
        default: ("B", 1.0),
    },
    Family {
        units: &[
            unit("ns", &["ns", "nanosecond"], 1.0),
            unit("us", &["μs", "us", "microsecond"], 1e3),
            unit("ms", &["ms", "millisecond"], 1e6),
            unit("s", &["s", "sec", "second"], 1e9),
            unit("hrs", &["hour", "hr"], 3.6e12),
        ],
        default: ("s", 1e9),
    },
    Family {
        units: &[
            unit("n*GCU", &["nanogcu"], 1e-9),
            unit("u*GCU", &["microgcu"], 1e-6),
            unit("m*GCU", &["milligcu"], 1e-3),
            unit("GCU", &["gcu"], 1.0),
            unit("k*GCU", &["kilogcu"], 1e3),
            unit("M*GCU", &["megagcu"], 1e6),
            unit("G*GCU", &["gigagcu"], 1e9),
            unit("T*GCU", &["teragcu"], 1e12),
            unit("P*GCU", &["petagcu"], 1e15),
        ],
        default: ("GCU", 1.0),
    },
];

impl Family {
    fn find(&self, unit: &str) -> Option<&Unit> {
        let lower = unit.to_lowercase();
        let name = if lower.len() > 2 { lower.strip_suffix('s').unwrap_or(&lower) } else { &lower };
        self.units.iter().find(|unit| unit.aliases.contains(&name))
    }

    fn convert(&self, value: f64, from: &str, to: &str) -> Option<(f64, &'static str)> {
        let base = value * self.find(from)?.factor;
        if to == MINIMUM || to == AUTO {
            let fits = self.units.iter().filter(|unit| base / unit.factor >= 1.0);
            let best = fits.max_by(|a, b| a.factor.total_cmp(&b.factor));
            if let Some(best) = best {
                return Some((base / best.factor, best.name));
            }
        } else if let Some(to) = self.find(to) {
            return Some((base / to.factor, to.name));
        }
        Some((base / self.default.1, self.default.0))
    }
}

/// A value in another unit, with that unit's name: empty where it says nothing (`count`). Units of different kinds are not
/// converted: the value stays and gets the new name, as in pprof.
pub fn scale(value: i64, from: &str, to: &str) -> (f64, String) {
    if value < 0 && value != i64::MIN {
        let (scaled, unit) = scale(-value, from, to);
        return (-scaled, unit);
    }
    let value = value as f64;
    if let Some((scaled, unit)) = FAMILIES.iter().find_map(|family| family.convert(value, from, to)) {
        return (scaled, unit.to_string());
    }
    match to {
        "count" | "sample" | "unit" | MINIMUM | AUTO => (value, String::new()),
        _ => (value, to.to_string()),
    }
}

/// `1.50kB`: a value with its unit, two digits behind the point or none.
pub fn scaled_label(value: i64, from: &str, to: &str) -> String {
    let (scaled, unit) = scale(value, from, to);
    let text = format!("{scaled:.2}");
    let text = text.strip_suffix(".00").unwrap_or(&text);
    if text == "0" || text == "-0" { "0".to_string() } else { format!("{text}{unit}") }
}

/// A value in the unit that fits it.
pub fn label(value: i64, unit: &str) -> String {
    scaled_label(value, unit, AUTO)
}

/// `12.34%` of `total`, padded to six columns; below one percent two significant digits.
pub fn percentage(value: i64, total: i64) -> String {
    let ratio = if total == 0 { 0.0 } else { (value as f64 / total as f64).abs() * 100.0 };
    if (99.95..=100.05).contains(&ratio) {
        "  100%".to_string()
    } else if ratio >= 1.0 {
        format!("{ratio:5.2}%")
    } else {
        format!("{:>5}%", two_digits(ratio))
    }
}

/// C's `%.2g`, for numbers of at most one.
fn two_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let scientific = format!("{value:.1e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.strip_suffix(".0").unwrap_or(digits);
    if exponent < -4 {
        return format!("{digits}e-{:02}", -exponent);
    }
    let places = usize::try_from(1 - exponent).unwrap_or(0);
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_labelled_as_pprof_labels_them() {
        assert_eq!(label(1536, "bytes"), "1.50kB");
        assert_eq!(label(0, "bytes"), "0");
        assert_eq!(label(30_000_000_000, "nanoseconds"), "30s");
        assert_eq!(label(12, "count"), "12");
        assert_eq!(scaled_label(-514 * 1024, "bytes", "kb"), "-514kB");
        assert_eq!(scaled_label(5, "nanoseconds", "minimum"), "5ns");
        assert_eq!(scaled_label(1, "nanoseconds", "s"), "0");
        assert_eq!(scaled_label(7, "things", "lines"), "7lines");
        assert_eq!(scale(i64::MIN, "ns", "ns").0, i64::MIN as f64);
    }

    #[test]
    fn percentages_have_two_digits() {
        assert_eq!(percentage(1, 3), "33.33%");
        assert_eq!(percentage(-1, 3), "33.33%");
        assert_eq!(percentage(9996, 10_000), "  100%");
        assert_eq!(percentage(996, 100_000), "    1%");
        assert_eq!(percentage(1, 1000), "  0.1%");
        assert_eq!(percentage(47, 10_000), " 0.47%");
        assert_eq!(percentage(0, 0), "    0%");
        assert_eq!(percentage(123, 10_000_000), "0.0012%");
        assert_eq!(percentage(1, 100_000_000), "1e-06%");
        assert_eq!(percentage(3, 1), "300.00%");
    }
}

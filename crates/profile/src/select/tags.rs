//! Which samples are shown by their labels, and labels made frames (google/pprof, `driver_focus.go` and `tagroot.go`).

use super::{SelectError, regex};
use crate::units;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use whyslow_model::profile::{Label, LabelSetId, LabelValue, Profile};

/// The unit of the numbers of each key: the first that a sample tells, else what the key says.
pub(crate) fn number_units(profile: &Profile) -> BTreeMap<&str, &str> {
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    let mut seen = vec![false; profile.label_set_count()];
    for sample in profile.samples() {
        let Some(seen) = seen.get_mut(sample.label_set.0 as usize) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        for label in sample.labels {
            let LabelValue::Number(_, unit) = label.value else { continue };
            let known = units.entry(profile.str(label.key)).or_default();
            if known.is_empty() {
                *known = profile.str(unit);
            }
        }
    }
    for (key, unit) in &mut units {
        if unit.is_empty() {
            *unit = if matches!(*key, "alignment" | "request") { "bytes" } else { key };
        }
    }
    units
}

/// Whether samples have a label like that.
pub(super) enum TagMatch {
    /// All of these match some `key:value`.
    All(Vec<Regex>),
    /// One of these matches a value of the key.
    Any(String, Vec<Regex>),
    /// A number in a range, of any key or of one.
    Range(Option<String>, Range),
}

/// A range of numbers in a unit, both ends in it.
pub(super) struct Range {
    least: Option<f64>,
    most: Option<f64>,
    unit: String,
}

impl TagMatch {
    /// What `text` asks for; `None` where it is empty.
    pub(super) fn parse(option: &'static str, text: &str) -> Result<Option<TagMatch>, SelectError> {
        if text.is_empty() {
            return Ok(None);
        }
        let (key, value) = match text.split_once('=') {
            Some((key, value)) => (Some(key).filter(|key| !key.is_empty()), value),
            None => (None, text),
        };
        if let Some(range) = Range::parse(value) {
            return Ok(Some(TagMatch::Range(key.map(String::from), range)));
        }
        let patterns = value.split(',').map(|part| match regex(option, part)? {
            Some(pattern) => Ok(pattern),
            None => Regex::new("").map_err(|reason| SelectError::Regex { option, reason: Box::new(reason) }),
        });
        let patterns = patterns.collect::<Result<Vec<_>, SelectError>>()?;
        Ok(Some(match key {
            Some(key) => TagMatch::Any(key.to_string(), patterns),
            None => TagMatch::All(patterns),
        }))
    }

    /// Whether a set of labels matches.
    pub(super) fn matches(&self, profile: &Profile, labels: &[Label], units: &BTreeMap<&str, &str>) -> bool {
        let texts = || {
            labels.iter().filter_map(|label| match label.value {
                LabelValue::Text(value) => Some((profile.str(label.key), profile.str(value))),
                LabelValue::Number(..) => None,
            })
        };
        match self {
            TagMatch::All(patterns) => patterns
                .iter()
                .all(|pattern| texts().any(|(key, value)| pattern.is_match(&format!("{key}:{value}")))),
            TagMatch::Any(wanted, patterns) => texts()
                .filter(|(key, _)| key == wanted)
                .any(|(_, value)| patterns.iter().any(|pattern| pattern.is_match(value))),
            TagMatch::Range(wanted, range) => labels.iter().any(|label| {
                let key = profile.str(label.key);
                let unit = units.get(key).copied().unwrap_or(key);
                match label.value {
                    LabelValue::Number(number, _) => {
                        wanted.as_ref().is_none_or(|wanted| wanted == key) && range.contains(number, unit)
                    }
                    LabelValue::Text(_) => false,
                }
            }),
        }
    }
}

impl Range {
    /// `32kb`, `:64kb`, `4mb:` or `12kb:64mb`.
    fn parse(text: &str) -> Option<Range> {
        static NUMBER: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new("([+-]?[0-9]+)([[:alpha:]]+)?").ok());
        let mut found = NUMBER.as_ref()?.captures_iter(text);
        let first = found.next()?;
        let whole = first.get(0)?.as_str();
        let number = |found: &regex::Captures<'_>| found.get(1)?.as_str().parse::<i64>().ok();
        let unit_of = |found: &regex::Captures<'_>| {
            found.get(2).map(|unit| unit.as_str().to_string()).unwrap_or_default()
        };
        let asked = unit_of(&first);
        let (value, unit) = units::scale(number(&first)?, &asked, &asked);
        let range = |least, most| Some(Range { least, most, unit: unit.clone() });
        match found.next() {
            None if text == whole => range(Some(value), Some(value)),
            None if text.strip_suffix(':') == Some(whole) => range(Some(value), None),
            None if text.strip_prefix(':') == Some(whole) => range(None, Some(value)),
            Some(second) if text == format!("{whole}:{}", second.get(0)?.as_str()) => {
                let (most, other) = units::scale(number(&second)?, &unit_of(&second), &unit);
                if other == unit { range(Some(value), Some(most)) } else { None }
            }
            _ => None,
        }
    }

    fn contains(&self, number: i64, unit: &str) -> bool {
        let (value, unit) = units::scale(number, unit, &self.unit);
        unit == self.unit
            && self.least.is_none_or(|least| value >= least)
            && self.most.is_none_or(|most| value <= most)
    }
}

/// The keys of a list.
pub(super) fn keys(list: &str) -> Vec<&str> {
    list.split(',').filter(|key| !key.is_empty()).collect()
}

/// The values of a key in a set of labels, as a frame shows them: texts, then numbers in `unit`.
pub(super) fn values_of(profile: &Profile, set: LabelSetId, key: &str, unit: &str) -> Vec<String> {
    let of_key = || profile.labels(set).iter().filter(|label| profile.str(label.key) == key);
    let texts = of_key().filter_map(|label| match label.value {
        LabelValue::Text(value) => Some(profile.str(value).to_string()),
        LabelValue::Number(..) => None,
    });
    let numbers = of_key().filter_map(|label| match label.value {
        LabelValue::Number(number, of) => Some((number, profile.str(of))),
        LabelValue::Text(_) => None,
    });
    let has_units = numbers.clone().any(|(_, of)| !of.is_empty());
    let shown = numbers.map(|(number, of)| {
        if has_units { units::scaled_label(number, of, unit) } else { units::scaled_label(number, "", "") }
    });
    texts.chain(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_from_regular_expressions() {
        let range = |text: &str| Range::parse(text);
        assert!(range("32kb").is_some_and(|range| range.contains(32 * 1024, "bytes") && !range.contains(33 << 10, "bytes")));
        assert!(
            range(":64kb")
                .is_some_and(|range| range.contains(1, "bytes") && !range.contains(1 << 20, "bytes"))
        );
        assert!(
            range("4mb:")
                .is_some_and(|range| range.contains(4 << 20, "bytes") && !range.contains(4, "bytes"))
        );
        assert!(range("12kb:64mb").is_some_and(|range| range.contains(1 << 20, "bytes")));
        assert!(range("12kb:64s").is_none());
        assert!(range("foo12").is_none());
        assert!(range("99999999999999999999").is_none());
        assert!(range("4:").is_some_and(|range| range.contains(5, "") && !range.contains(5, "s")));
    }
}

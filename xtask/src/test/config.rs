//! `.config/tests`: weight, limit, group, tier and process of tests, by pattern. The first line that matches a test counts.

use super::slots::{Need, Weight};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::time::Duration;

/// The file, from the project's root.
pub(crate) const FILE: &str = ".config/tests";

/// Which of the two runs a test belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tier {
    /// `make test`.
    Fast,
    /// `make test-all`: what is not in the other.
    Rest,
}

impl Tier {
    pub(crate) fn parse(word: &str) -> Result<Tier> {
        match word {
            "fast" => Ok(Tier::Fast),
            "all" => Ok(Tier::Rest),
            _ => bail!("{word:?} is no tier: fast or all"),
        }
    }
}

/// What is asked of a test's run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) need: Need,
    pub(crate) limit: Duration,
    /// `None`: that of its suite.
    pub(crate) tier: Option<Tier>,
    /// Tests of a suite with the same name here run in one process: what they share is made once.
    pub(crate) together: Option<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            need: Need { weight: Weight::Quarters(4), group: None },
            limit: Duration::from_secs(120),
            tier: None,
            together: None,
        }
    }
}

/// The lines of the file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    lines: Vec<(String, Settings, bool)>,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Config::parse(&text).with_context(|| path.display().to_string())
    }

    pub(crate) fn parse(text: &str) -> Result<Config> {
        let mut config = Config::default();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let Some(pattern) = words.next() else { continue };
            let mut settings = Settings::default();
            let mut is_weighed = false;
            for word in words {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                set(&mut settings, key, value).with_context(|| format!("line {}: {word:?}", number + 1))?;
                is_weighed |= key == "weight";
            }
            config.lines.push((pattern.to_string(), settings, is_weighed));
        }
        Ok(config)
    }

    /// The settings of the test, where `weight` is what its suite says of it.
    pub(crate) fn of(&self, id: &str, weight: Option<Weight>) -> Settings {
        let line = self.lines.iter().find(|(pattern, ..)| matches(pattern, id));
        let (mut settings, is_weighed) =
            line.map_or_else(Default::default, |(_, settings, is_weighed)| (settings.clone(), *is_weighed));
        if let Some(weight) = weight.filter(|_| !is_weighed) {
            settings.need.weight = weight;
        }
        settings
    }

    /// The patterns that are of no test.
    pub(crate) fn unused<'a>(&'a self, ids: &[String]) -> Vec<&'a str> {
        let patterns = self.lines.iter().map(|(pattern, ..)| pattern.as_str());
        patterns.filter(|pattern| !ids.iter().any(|id| matches(pattern, id))).collect()
    }
}

fn set(settings: &mut Settings, key: &str, value: &str) -> Result<()> {
    match key {
        "weight" => {
            settings.need.weight = Weight::parse(value).context("a number of quarters of a CPU, or alone")?;
        }
        "limit" => settings.limit = Duration::from_secs(value.parse().context("seconds")?),
        "group" if !value.is_empty() => settings.need.group = Some(value.to_string()),
        "tier" => settings.tier = Some(Tier::parse(value)?),
        "together" if !value.is_empty() => settings.together = Some(value.to_string()),
        _ => bail!("known are weight=, limit=, group=, tier=, together="),
    }
    Ok(())
}

/// Whether `text` is as `pattern` says, in which `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(before) else { return false };
    (0..=rest.len()).any(|start| rest.is_char_boundary(start) && matches(after, &rest[start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# comment
whyslow::top/*_slow  weight=1 limit=30   # sleeps
whyslow::top/*       group=terminal tier=all
kernel::it/boot*     weight=alone together=guest
";

    #[test]
    fn the_first_line_that_matches_counts() {
        let config = Config::parse(TEXT).unwrap();
        let slow = config.of("whyslow::top/it_is_slow", None);
        assert_eq!((slow.need.weight, slow.limit.as_secs()), (Weight::Quarters(1), 30));
        assert_eq!((slow.need.group, slow.tier), (None, None));
        let other = config.of("whyslow::top/other", None);
        assert_eq!((other.need.group.as_deref(), other.tier), (Some("terminal"), Some(Tier::Rest)));
        assert_eq!(config.of("kernel::it/boots", None).together.as_deref(), Some("guest"));
        assert_eq!(config.of("another/test", None), Settings::default());
    }

    #[test]
    fn a_suite_weighs_its_tests_unless_the_file_does() {
        let config = Config::parse(TEXT).unwrap();
        let of = |id| config.of(id, Some(Weight::Quarters(2))).need.weight;
        assert_eq!(of("another/test"), Weight::Quarters(2));
        assert_eq!(of("whyslow::top/other"), Weight::Quarters(2));
        assert_eq!(of("kernel::it/boots"), Weight::Alone);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for wrong in ["a weight=0", "a limit=long", "a tier=slow", "a retry=3", "a group="] {
            let error = format!("{:#}", Config::parse(&format!("\n{wrong}")).unwrap_err());
            assert!(error.starts_with("line 2: "), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_pattern_of_no_test_is_found() {
        let config = Config::parse(TEXT).unwrap();
        let ids = ["whyslow::top/x".to_string(), "kernel::it/boots".to_string()];
        assert_eq!(config.unused(&ids), ["whyslow::top/*_slow"]);
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in [("a*c*", "abcd"), ("*", ""), ("a*", "a"), ("*é", "ééé")] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a*c", "abcd"), ("", "a"), ("b*", "ab")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}

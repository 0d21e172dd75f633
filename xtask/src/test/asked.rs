//! The command line.

use super::config::Tier;
use anyhow::{Result, bail};

pub(crate) const USAGE: &str = "\
usage: cargo xtask test [--tier fast|all] [--checks] [--list] [NAME…]
  NAME…        only tests whose SUITE/NAME contains one of them, of both tiers unless --tier says which; where each begins with
               PACKAGE::FILE/ only those files are built
  --tier fast  what `make test` runs (the default where no NAME is given)
  --tier all   the rest, what `make test-all` runs
  --checks     format, lint and such as well: what `make` adds
  --list       the tests that would run, with weight and limit";

/// What the command line asks for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Asked {
    /// `None`: both.
    pub(crate) tier: Option<Tier>,
    pub(crate) checks: bool,
    pub(crate) list: bool,
    pub(crate) names: Vec<String>,
}

impl Asked {
    pub(crate) fn parse(words: &[&str]) -> Result<Asked> {
        let mut asked = Asked::default();
        let mut tier = None;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--tier" => tier = Some(Tier::parse(words.next().copied().unwrap_or_default())?),
                "--checks" => asked.checks = true,
                "--list" => asked.list = true,
                word if word.starts_with('-') => bail!("{word}: not known\n{USAGE}"),
                name => asked.names.push(name.to_string()),
            }
        }
        asked.tier = tier.or(asked.names.is_empty().then_some(Tier::Fast));
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_understood() {
        let fast = Asked { tier: Some(Tier::Fast), ..Asked::default() };
        assert_eq!(Asked::parse(&[]).unwrap(), fast);
        let one = Asked { names: vec!["top".to_string()], ..Asked::default() };
        assert_eq!(Asked::parse(&["top"]).unwrap(), one);
        let all = Asked { tier: Some(Tier::Rest), checks: true, ..Asked::default() };
        assert_eq!(Asked::parse(&["--tier", "all", "--checks"]).unwrap(), all);
        assert!(Asked::parse(&["--retry"]).is_err());
        assert!(Asked::parse(&["--tier"]).is_err());
    }
}

//! The span that a view is about, as the address has it: `since` and `until` as the command line takes them.

use serde::Deserialize;
use std::time::{SystemTime, UNIX_EPOCH};
use whyslow_query_fleet::{FleetError, FleetSpan};

/// Characters of a time at most.
const LONGEST: usize = 40;
/// Where nothing is said.
const USUAL: &str = "24h";
/// A span that is longer is refused: it would read more than people wait for.
const MOST_DAYS: i64 = 31;

/// What the address says.
#[derive(Clone, Default, Debug, Deserialize)]
pub(crate) struct Range {
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
}

/// Microseconds of UTC since 1970.
pub(crate) fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

fn said(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

impl Range {
    pub(crate) fn since(&self) -> &str {
        said(self.since.as_ref()).unwrap_or(USUAL)
    }

    pub(crate) fn until(&self) -> Option<&str> {
        said(self.until.as_ref())
    }

    /// The span.
    ///
    /// # Errors
    /// If it cannot be read, or is too long.
    pub(crate) fn span(&self) -> Result<FleetSpan, FleetError> {
        let longest =
            [Some(self.since()), self.until()].into_iter().flatten().find(|text| text.len() > LONGEST);
        if longest.is_some() {
            return Err(FleetError::Time { text: "a text that long".to_string() });
        }
        let span = FleetSpan::parse(self.since(), self.until(), now_us())?;
        match span.length() <= MOST_DAYS * 86_400_000_000 {
            true => Ok(span),
            false => Err(FleetError::Time { text: format!("a span of more than {MOST_DAYS} days") }),
        }
    }

    /// The parameters of an address that has the same span.
    pub(crate) fn pairs(&self) -> Vec<(&'static str, String)> {
        let since = Some(("since", self.since())).filter(|(_, since)| *since != USUAL);
        let both = [since, self.until().map(|until| ("until", until))];
        both.into_iter().flatten().map(|(name, value)| (name, value.to_string())).collect()
    }

    /// An address with these parameters and the span. Values may be anything.
    pub(crate) fn link(&self, path: &str, pairs: &[(&str, &str)]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs);
        query.extend_pairs(self.pairs());
        match query.finish() {
            query if query.is_empty() => path.to_string(),
            query => format!("{path}?{query}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_keep_the_span_and_encode_what_hosts_wrote() {
        let usual = Range::default();
        assert_eq!(usual.link("/", &[]), "/");
        assert_eq!(usual.link("/host", &[("name", "a&b=\"<x>")]), "/host?name=a%26b%3D%22%3Cx%3E");
        let given = Range { since: Some("3h".into()), until: Some(" 2026-11-27 ".into()) };
        assert_eq!(given.link("/", &[]), "/?since=3h&until=2026-11-27");
        assert_eq!(given.span().unwrap().length(), 3 * 3_600_000_000);
        assert!(Range { since: Some("400d".into()), until: None }.span().is_err());
        assert!(Range { since: Some("9".repeat(1000)), until: None }.span().is_err());
        assert!(Range { since: Some(String::new()), until: Some(String::new()) }.span().is_ok());
    }
}

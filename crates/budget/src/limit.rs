//! One limit, as text: `WHAT <= AMOUNT UNIT/WORK`, `finding:RULE = none`.

use crate::amounts::Quantity;
use crate::names;
use std::fmt;
use whyslow_model::Severity;

/// How what was measured is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparator {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `=`
    Exactly,
}

impl Comparator {
    /// As it is written.
    pub fn mark(self) -> &'static str {
        match self {
            Comparator::AtMost => "<=",
            Comparator::Below => "<",
            Comparator::AtLeast => ">=",
            Comparator::Exactly => "=",
        }
    }

    /// Whether `value` keeps to `limit`.
    pub fn keeps(self, value: f64, limit: f64) -> bool {
        match self {
            Comparator::AtMost => value <= limit,
            Comparator::Below => value < limit,
            Comparator::AtLeast => value >= limit,
            Comparator::Exactly => value == limit,
        }
    }
}

/// What a limit is about.
#[derive(Clone, PartialEq, Debug)]
pub enum LimitSubject {
    /// System calls of these names; all where there is none.
    Calls(Vec<String>),
    /// Bytes of writes, but for those to /dev/null and terminals.
    BytesWritten,
    /// Questions that the program asked of others.
    Queries,
    /// Requests that were served.
    Requests,
    /// The length of the run.
    Wall,
    /// Time on a CPU, of all threads.
    Cpu,
    /// A percentile of the times of requests, 0 to 1.
    Percentile(f64),
    /// The longest time of a request.
    Longest,
    /// Their mean time.
    Mean,
    /// Findings of a rule; of all where there is none.
    Finding(Option<&'static str>),
}

impl LimitSubject {
    fn of(name: &str) -> Result<LimitSubject, String> {
        if let Some(rule) = name.strip_prefix("finding:") {
            return match (rule, whyslow_rules::find(rule)) {
                ("any", _) => Ok(LimitSubject::Finding(None)),
                (_, Some(rule)) => Ok(LimitSubject::Finding(Some(rule.id))),
                _ => Err(format!(
                    "a rule (`whyslow rule` lists them) or `any` after `finding:`; there is no rule `{rule}`{}",
                    names::near(rule, whyslow_rules::RULES.iter().map(|rule| rule.id))
                )),
            };
        }
        Ok(match name {
            "calls" => LimitSubject::Calls(Vec::new()),
            "bytes_written" => LimitSubject::BytesWritten,
            "queries" => LimitSubject::Queries,
            "requests" => LimitSubject::Requests,
            "wall" => LimitSubject::Wall,
            "cpu" => LimitSubject::Cpu,
            "p50" => LimitSubject::Percentile(0.50),
            "p90" => LimitSubject::Percentile(0.90),
            "p95" => LimitSubject::Percentile(0.95),
            "p99" => LimitSubject::Percentile(0.99),
            "max" => LimitSubject::Longest,
            "mean" => LimitSubject::Mean,
            _ => LimitSubject::Calls(names::calls(name).ok_or_else(|| {
                format!(
                    "the name of what is limited: a system call, a family of them, {}, or finding:RULE; not `{name}`{}",
                    names::OTHERS.join(", "),
                    names::near(name.strip_prefix("call:").unwrap_or(name), names::all())
                )
            })?),
        })
    }

    /// What its amounts are of.
    pub fn quantity(&self) -> Quantity {
        match self {
            LimitSubject::BytesWritten => Quantity::Bytes,
            LimitSubject::Wall
            | LimitSubject::Cpu
            | LimitSubject::Percentile(_)
            | LimitSubject::Longest
            | LimitSubject::Mean => Quantity::Time,
            _ => Quantity::Count,
        }
    }

    /// Whether it is a time of requests, so that its unit of work says of which.
    pub fn is_of_requests(&self) -> bool {
        matches!(self, LimitSubject::Percentile(_) | LimitSubject::Longest | LimitSubject::Mean)
    }
}

/// What is measured and for which work: figures of runs and baselines go by it. `stat/request`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LimitKey {
    /// `stat`, `p99`, `finding:n-plus-one-queries`.
    pub name: String,
    /// `run`, `second`, `request`, or a unit of the budget; `None` for findings.
    pub work: Option<String>,
}

impl fmt::Display for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.work {
            Some(work) => write!(f, "{}/{work}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl LimitKey {
    /// The key that was printed so.
    pub(crate) fn parse(text: &str) -> Result<(LimitKey, LimitSubject), String> {
        let (name, work) = match text.rsplit_once('/') {
            Some((name, work)) => (name.trim(), Some(work.trim())),
            None => (text.trim(), None),
        };
        let subject = LimitSubject::of(name)?;
        let work = match (&subject, work) {
            (LimitSubject::Finding(_), None) => None,
            (LimitSubject::Finding(_), Some(work)) => {
                return Err(format!("nothing after a finding: it is of the whole run; not `/{work}`"));
            }
            (of, None) if of.is_of_requests() => Some("request".to_string()),
            (_, None) => Some("run".to_string()),
            (_, Some(work)) => Some(work.to_string()),
        };
        if subject.is_of_requests() && matches!(work.as_deref(), Some("run" | "second")) {
            return Err(format!("`{name}` is a time of requests: leave out `/{}`", work.unwrap_or_default()));
        }
        Ok((LimitKey { name: name.to_string(), work }, subject))
    }
}

/// A limit.
#[derive(Clone, PartialEq, Debug)]
pub struct BudgetLimit {
    /// As it is written.
    pub text: String,
    /// What is measured, for which work.
    pub key: LimitKey,
    /// What it is about.
    pub subject: LimitSubject,
    /// How it is compared.
    pub comparator: Comparator,
    /// With how much: a count, bytes or ns; of findings how many of `above` there may be.
    pub amount: f64,
    /// Of findings: those above this severity count.
    pub above: Option<Severity>,
}

/// The comparators, the longer ones first.
const COMPARATORS: [(&str, Comparator); 5] = [
    ("<=", Comparator::AtMost),
    (">=", Comparator::AtLeast),
    ("==", Comparator::Exactly),
    ("<", Comparator::Below),
    ("=", Comparator::Exactly),
];

impl BudgetLimit {
    /// The limit that `text` writes.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<BudgetLimit, String> {
        let text = text.trim();
        let found = text.find(['<', '>', '=']).and_then(|at| {
            let (name, rest) = text.split_at(at);
            let (mark, comparator) = COMPARATORS.iter().find(|(mark, _)| rest.starts_with(mark))?;
            Some((name.trim(), *comparator, rest[mark.len()..].trim()))
        });
        let Some((name, comparator, amount)) = found else {
            return Err(format!("`WHAT <= AMOUNT`, as `stat <= 10/request`; not `{text}`"));
        };
        if name.starts_with("finding:") {
            return Self::of_findings(text, name, comparator, amount);
        }
        let (amount, work) = match amount.split_once('/') {
            Some((amount, work)) => (amount.trim(), Some(work.trim())),
            None => (amount, None),
        };
        let whole = work.map_or(name.to_string(), |work| format!("{name}/{work}"));
        let (key, subject) = LimitKey::parse(&whole)?;
        let amount = if amount == "none" { 0.0 } else { subject.quantity().parse(amount)? };
        Ok(BudgetLimit { text: text.to_string(), key, subject, comparator, amount, above: None })
    }

    fn of_findings(
        text: &str,
        name: &str,
        comparator: Comparator,
        amount: &str,
    ) -> Result<BudgetLimit, String> {
        let (key, subject) = LimitKey::parse(name)?;
        let above = match (comparator, amount) {
            (Comparator::Exactly, "none") => Severity::Capture,
            (Comparator::AtMost, "notice") => Severity::Notice,
            (Comparator::AtMost, "warning") => Severity::Warning,
            _ => {
                return Err(format!(
                    "`= none`, `<= notice` or `<= warning` after `{name}`; not `{} {amount}`",
                    comparator.mark()
                ));
            }
        };
        let comparator = Comparator::AtMost;
        Ok(BudgetLimit { text: text.to_string(), key, subject, comparator, amount: 0.0, above: Some(above) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> BudgetLimit {
        BudgetLimit::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn limits_are_read_as_they_are_written() {
        let stat = limit("stat <= 10/request");
        assert_eq!((stat.key.to_string().as_str(), stat.amount), ("stat/request", 10.0));
        let bytes = limit("bytes_written<=2 MB/run");
        assert_eq!((bytes.key.to_string().as_str(), bytes.amount), ("bytes_written/run", 2e6));
        let p99 = limit("p99 < 50 ms");
        assert_eq!(
            (p99.key.to_string().as_str(), p99.comparator, p99.amount),
            ("p99/request", Comparator::Below, 50e6)
        );
        let none = limit("finding:n-plus-one-queries = none");
        assert_eq!((none.key.work.clone(), none.above), (None, Some(Severity::Capture)));
        assert_eq!(limit("fork = none").amount, 0.0);
    }

    #[test]
    fn what_is_wrong_is_told_with_what_was_expected() {
        for (text, told) in [
            ("stat", "WHAT <= AMOUNT"),
            ("statt <= 1", "did you mean `stat`"),
            ("finding:n-plus-one = none", "`n-plus-one-queries`"),
            ("finding:deadlock <= 3", "`= none`"),
            ("p99 <= 5 ms/run", "time of requests"),
            ("p99 <= 5", "a unit"),
            ("stat <= 3 ms", "without a unit"),
        ] {
            let error = BudgetLimit::parse(text).unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}

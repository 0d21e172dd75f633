//! The budget's file: TOML with `limits` and `units`. What is wrong in it is told with file, line and column, and what was expected.

use crate::limit::{BudgetLimit, LimitKey};
use crate::names;
use std::fmt;
use std::ops::Range;
use toml_edit::{Document, Item, TableLike, Value};

/// Bytes of a budget at most: what is longer is another file.
const LONGEST: usize = 1 << 20;
/// Units of work that need no definition.
pub(crate) const BUILT_IN: [&str; 3] = ["run", "second", "request"];

/// What is wrong in a budget.
#[derive(Clone, PartialEq, Debug)]
pub struct BudgetError {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What was expected.
    pub text: String,
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.text)
    }
}

impl std::error::Error for BudgetError {}

/// A unit of work that a budget defines.
#[derive(Clone, PartialEq, Debug)]
pub enum WorkUnit {
    /// Requests served whose endpoint matches: `*` stands for anything.
    Requests(String),
    /// So many system calls of these names.
    Calls(Vec<String>),
    /// So many, which the user knows: rows of the input, files to build.
    Count(f64),
}

/// A limit, with where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct DefinedLimit {
    /// The limit.
    pub limit: BudgetLimit,
    /// Why it is one, where the budget says so.
    pub why: Option<String>,
    /// From 1; `None` where it comes from a baseline.
    pub line: Option<usize>,
}

/// A budget.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Budget {
    /// The file, as it was named.
    pub file: String,
    /// Its limits, in order.
    pub limits: Vec<DefinedLimit>,
    /// Its units of work.
    pub units: Vec<(String, WorkUnit)>,
}

impl Budget {
    /// The budget that `text`, of `file`, writes.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(file: &str, text: &str) -> Result<Budget, BudgetError> {
        let reader = Reader { file, text };
        if text.len() > LONGEST {
            return Err(reader.error(None, format!("a budget of at most {LONGEST} bytes")));
        }
        let document = Document::parse(text).map_err(|error| {
            reader.error(error.span(), format!("TOML was expected: {}", error.message().replace('\n', ", ")))
        })?;
        let mut budget = Budget { file: file.to_string(), ..Budget::default() };
        for (name, item) in document.iter() {
            match name {
                "limits" => budget.limits = reader.limits(item)?,
                "units" => budget.units = reader.units(item)?,
                other => {
                    let span = document.as_table().key(other).and_then(toml_edit::Key::span).or(item.span());
                    let near = names::near(other, ["limits", "units"].into_iter());
                    return Err(
                        reader.error(span, format!("expected `limits` or `units`; not `{other}`{near}"))
                    );
                }
            }
        }
        if budget.limits.is_empty() {
            return Err(reader
                .error(None, "expected `limits = [\"stat <= 10/request\", …]`: there is no limit".into()));
        }
        reader.check_units(&budget, document.get("limits"))?;
        Ok(budget)
    }

    /// Whether `work` is a unit of this budget.
    pub fn has_unit(&self, work: &str) -> bool {
        BUILT_IN.contains(&work) || self.units.iter().any(|(name, _)| name == work)
    }
}

struct Reader<'t> {
    file: &'t str,
    text: &'t str,
}

impl Reader<'_> {
    fn error(&self, span: Option<Range<usize>>, text: String) -> BudgetError {
        let (line, column) = self.place(span.map_or(0, |span| span.start));
        BudgetError { file: self.file.to_string(), line, column, text }
    }

    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at.min(self.text.len())).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }

    fn limits(&self, item: &Item) -> Result<Vec<DefinedLimit>, BudgetError> {
        let Some(array) = item.as_array() else {
            return Err(self.error(
                item.span(),
                format!("expected `limits = [\"stat <= 10/request\", …]`; not {}", kind(item.type_name())),
            ));
        };
        array.iter().map(|value| self.limit(value)).collect()
    }

    fn limit(&self, value: &Value) -> Result<DefinedLimit, BudgetError> {
        let (text, span, why) = match value {
            Value::String(text) => (text.value().as_str(), value.span(), None),
            Value::InlineTable(table) => {
                self.only(table, &["limit", "why"], value.span())?;
                let text = self.text_of(table, "limit", value.span())?;
                let why = table.get("why").map(|_| self.text_of(table, "why", value.span())).transpose()?;
                let span = table.get("limit").and_then(Value::span);
                (text, span.or(value.span()), why.map(str::to_string))
            }
            other => {
                return Err(self.error(
                    other.span(),
                    format!(
                        "expected a limit, as \"stat <= 10/request\" or {{ limit = \"…\", why = \"…\" }}; not {}",
                        kind(other.type_name())
                    ),
                ));
            }
        };
        let limit = BudgetLimit::parse(text)
            .map_err(|error| self.error(span.clone(), format!("expected {error}")))?;
        let line = self.place(span.map_or(0, |span| span.start)).0;
        Ok(DefinedLimit { limit, why, line: Some(line) })
    }

    fn text_of<'v>(
        &self,
        table: &'v dyn TableLike,
        key: &str,
        span: Option<Range<usize>>,
    ) -> Result<&'v str, BudgetError> {
        let item = table
            .get(key)
            .ok_or_else(|| self.error(span, format!("expected `{key} = \"…\"`: it is missing")))?;
        item.as_str().ok_or_else(|| {
            self.error(item.span(), format!("expected a text for `{key}`; not {}", kind(item.type_name())))
        })
    }

    fn only(
        &self,
        table: &dyn TableLike,
        known: &[&str],
        span: Option<Range<usize>>,
    ) -> Result<(), BudgetError> {
        for (name, item) in table.iter() {
            if !known.contains(&name) {
                let near = names::near(name, known.iter().copied());
                let text = format!("expected {}; not `{name}`{near}", quoted(known));
                return Err(
                    self.error(table.key(name).and_then(toml_edit::Key::span).or(item.span()).or(span), text)
                );
            }
        }
        Ok(())
    }

    fn units(&self, item: &Item) -> Result<Vec<(String, WorkUnit)>, BudgetError> {
        let Some(table) = item.as_table_like() else {
            return Err(self.error(
                item.span(),
                format!(
                    "expected `[units.NAME]` with {}; not {}",
                    quoted(&UNIT_KEYS),
                    kind(item.type_name())
                ),
            ));
        };
        let units = table.iter().map(|(name, item)| {
            if BUILT_IN.contains(&name) {
                let text = format!("`{name}` is a unit by itself: expected another name");
                return Err(self.error(table.key(name).and_then(toml_edit::Key::span).or(item.span()), text));
            }
            Ok((name.to_string(), self.unit(name, item)?))
        });
        units.collect()
    }

    fn unit(&self, name: &str, item: &Item) -> Result<WorkUnit, BudgetError> {
        let expected = format!("expected one of {} in the unit `{name}`", quoted(&UNIT_KEYS));
        let Some(table) = item.as_table_like() else {
            return Err(self.error(item.span(), format!("{expected}; not {}", kind(item.type_name()))));
        };
        self.only(table, &UNIT_KEYS, item.span())?;
        if table.len() != 1 {
            return Err(self.error(item.span(), format!("{expected}: it has {}", table.len())));
        }
        if table.contains_key("requests") {
            return Ok(WorkUnit::Requests(self.text_of(table, "requests", item.span())?.to_string()));
        }
        if table.contains_key("calls") {
            let call = self.text_of(table, "calls", item.span())?;
            return names::calls(call).map(WorkUnit::Calls).ok_or_else(|| {
                let span = table.get("calls").and_then(Item::span);
                let text = format!(
                    "expected a system call or a family of them; not `{call}`{}",
                    names::near(call, names::all())
                );
                self.error(span, text)
            });
        }
        let count = table.get("count").unwrap_or(item);
        let number = count.as_integer().map(|number| number as f64).or(count.as_float());
        match number.filter(|number| number.is_finite() && *number > 0.0) {
            Some(number) => Ok(WorkUnit::Count(number)),
            None => Err(self.error(count.span(), "expected a number above 0 for `count`".to_string())),
        }
    }

    /// Each limit is of a unit that is there.
    fn check_units(&self, budget: &Budget, limits: Option<&Item>) -> Result<(), BudgetError> {
        let spans =
            limits.and_then(Item::as_array).into_iter().flat_map(|array| array.iter().map(Value::span));
        for (defined, span) in budget.limits.iter().zip(spans) {
            let LimitKey { work: Some(work), .. } = &defined.limit.key else { continue };
            if budget.has_unit(work) {
                if defined.limit.subject.is_of_requests() && work != "request" {
                    let of_requests = budget
                        .units
                        .iter()
                        .any(|(name, unit)| name == work && matches!(unit, WorkUnit::Requests(_)));
                    if !of_requests {
                        let text = format!(
                            "`{}` is a time of requests: expected a unit with `requests`; not `{work}`",
                            defined.limit.key.name
                        );
                        return Err(self.error(span, text));
                    }
                }
                continue;
            }
            let own = budget.units.iter().map(|(name, _)| name.as_str());
            let near = names::near(work, BUILT_IN.into_iter().chain(own));
            let text = format!(
                "expected a unit of work after `/`: {}, or one that the budget defines by `[units.{work}]`; not `{work}`{near}",
                BUILT_IN.join(", ")
            );
            return Err(self.error(span, text));
        }
        Ok(())
    }
}

/// What a unit is defined by.
const UNIT_KEYS: [&str; 3] = ["requests", "calls", "count"];

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

/// A type of TOML, with its article.
fn kind(name: &str) -> String {
    let article = if name.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
limits = [
  "stat <= 10/request",
  { limit = "bytes_written <= 2 MB/run", why = "the disk is shared" },
  "fsync <= 1/order",
]

[units.order]
requests = "POST /orders*"
[units.row]
count = 10_000
"#;

    fn wrong(text: &str) -> String {
        Budget::parse("budget.toml", text).expect_err(text).to_string()
    }

    #[test]
    fn a_budget_knows_where_its_limits_stand() {
        let budget = Budget::parse("budget.toml", WHOLE).unwrap();
        let lines: Vec<_> = budget.limits.iter().map(|limit| limit.line).collect();
        assert_eq!(lines, [Some(3), Some(4), Some(5)]);
        assert_eq!(budget.limits[1].why.as_deref(), Some("the disk is shared"));
        assert_eq!(budget.units[0].1, WorkUnit::Requests("POST /orders*".to_string()));
        assert_eq!(budget.units[1].1, WorkUnit::Count(10_000.0));
    }

    #[test]
    fn what_is_wrong_has_its_line_and_what_was_expected() {
        for (text, told) in [
            ("limits = [\n  \"statt <= 1\",\n]", "budget.toml:2:3: expected the name of what is limited"),
            ("limits = [\"stat <= 1/requst\"]", "did you mean `request`?"),
            (
                "limit = [\"stat <= 1\"]",
                "budget.toml:1:1: expected `limits` or `units`; not `limit`; did you mean `limits`?",
            ),
            ("limits = 3", "budget.toml:1:10: expected `limits = ["),
            ("limits = [3]", "not an integer"),
            ("limits = [\n", "budget.toml:"),
            ("", "there is no limit"),
            (
                "limits = [\"stat <= 1\"]\n[units.job]\ncont = 3",
                "budget.toml:3:1: expected `requests` or `calls` or `count`; not `cont`; did you mean `count`?",
            ),
            ("limits = [\"stat <= 1\"]\n[units.job]\ncount = 0", "a number above 0"),
            ("limits = [\"stat <= 1\"]\n[units.run]\ncount = 2", "is a unit by itself"),
            ("limits = [{ limt = \"stat <= 1\" }]", "did you mean `limit`?"),
            ("limits = [\"p99 <= 1 ms/job\"]\n[units.job]\ncount = 2", "a unit with `requests`"),
        ] {
            let error = wrong(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "\\PC*") {
            let _ = Budget::parse("b", &text);
            let _ = Budget::parse("b", &format!("limits = [{text:?}]"));
            let _ = BudgetLimit::parse(&text);
        }
    }
}

//! The question behind a page of the table of calls: what a browser asks for becomes SQL here, and nowhere else.

use serde::Deserialize;

/// Rows of a page of the table.
pub(crate) const ROWS: u64 = 100;
/// Rows before a page, at most: whoever wants more narrows the question.
const DEEPEST: u64 = 100_000;
/// Characters of a text that is looked for.
const LONGEST: usize = 400;

/// What is asked for; all of it may be absent. Times are as the recording has them, in digits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallsAsk {
    zero: String,
    from: Option<i64>,
    to: Option<i64>,
    tid: Option<u32>,
    call: String,
    object: String,
    error: String,
    /// `start` or `took`.
    sort: String,
    page: u64,
}

impl CallsAsk {
    /// The question: one row more than a page has, to know whether there is another.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn sql(&self) -> Result<String, String> {
        let mut only = Vec::new();
        let zero: i64 = if self.zero.is_empty() {
            0
        } else {
            self.zero.parse().map_err(|_| "`zero` must be a number".to_string())?
        };
        if let Some(to) = self.to {
            only.push(format!("ts < {}", zero.saturating_add(to)));
        }
        if let Some(from) = self.from {
            only.push(format!("coalesce(ts + dur, ts) >= {}", zero.saturating_add(from)));
        }
        if let Some(tid) = self.tid {
            only.push(format!("tid = {tid}"));
        }
        if !self.call.is_empty() {
            only.push(format!("syscall = {}", text(&self.call)?));
        }
        if !self.object.is_empty() {
            only.push(format!("strpos(path, {}) > 0", text(&self.object)?));
        }
        match self.error.as_str() {
            "" => {}
            "any" => only.push("errno IS NOT NULL".to_string()),
            error => only.push(format!("errno = {}", text(error)?)),
        }
        let skipped = self.page.checked_mul(ROWS).filter(|skipped| *skipped <= DEEPEST);
        let skipped =
            skipped.ok_or_else(|| format!("pages end at row {DEEPEST}: narrow the span or the filter"))?;
        let order = match self.sort.as_str() {
            "took" => "dur DESC NULLS LAST, seq",
            "" | "start" => "ts NULLS LAST, seq",
            _ => return Err("`sort` is `start` or `took`".to_string()),
        };
        let only = if only.is_empty() { String::new() } else { format!(" WHERE {}", only.join(" AND ")) };
        Ok(format!(
            "SELECT seq, ts - {zero} AS start, dur, tid, syscall, path, ret, errno, args FROM raw.syscalls{only} \
             ORDER BY {order} LIMIT {} OFFSET {skipped}",
            ROWS + 1
        ))
    }
}

/// A text as a literal.
fn text(text: &str) -> Result<String, String> {
    if text.chars().count() > LONGEST {
        return Err(format!("a text has at most {LONGEST} characters"));
    }
    Ok(format!("'{}'", text.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_literal() {
        let ask =
            CallsAsk { call: "x' OR 1=1 --".to_string(), error: "any".to_string(), ..CallsAsk::default() };
        let sql = ask.sql().unwrap();
        assert!(sql.contains("syscall = 'x'' OR 1=1 --' AND errno IS NOT NULL"), "{sql}");
        assert!(CallsAsk { page: u64::MAX, ..CallsAsk::default() }.sql().is_err());
        assert!(CallsAsk { zero: "0; DROP".to_string(), ..CallsAsk::default() }.sql().is_err());
        assert!(CallsAsk { sort: "1".to_string(), ..CallsAsk::default() }.sql().is_err());
    }
}

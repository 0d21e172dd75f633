//! The question behind a page of the table of calls: what a browser asks for becomes SQL here, and nowhere else.

use serde::Deserialize;

/// Rows of a page of the table.
pub(crate) const ROWS: u64 = 100;
/// Rows before a page, at most: whoever wants more narrows the question.
const DEEPEST: u64 = 100_000;
/// Threads that are asked for.
const MOST_THREADS: usize = 256;
/// Characters of a text that is looked for.
const LONGEST: usize = 400;

/// What is asked for; all of it may be absent. Times are as the recording has them, in digits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CallsAsk {
    zero: String,
    from: Option<i64>,
    to: Option<i64>,
    /// Numbers of threads, with commas.
    tids: String,
    call: String,
    /// A part of it; behind `=` what it is.
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
        if !self.tids.is_empty() {
            let tids: Result<Vec<u32>, _> = self.tids.split(',').map(str::parse).collect();
            let tids = tids.map_err(|_| "`tids` must be numbers with commas".to_string())?;
            if tids.len() > MOST_THREADS {
                return Err(format!("{MOST_THREADS} threads may be asked for at once"));
            }
            let tids: Vec<String> = tids.iter().map(u32::to_string).collect();
            only.push(format!("tid IN ({})", tids.join(", ")));
        }
        if !self.call.is_empty() {
            only.push(format!("syscall = {}", text(&self.call)?));
        }
        if !self.object.is_empty() {
            only.push(object(&self.object)?);
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

/// Which calls are of an object. The account names it, the recording has its path or address: a pattern (`/tmp/{n}.txt`) stands for all
/// paths like it, a peer of this host is named by its process (`db (70, 10.0.0.7:5432)`), a lock by its address.
fn object(asked: &str) -> Result<String, String> {
    let Some(name) = asked.strip_prefix('=') else {
        return Ok(format!("strpos(path, {}) > 0", text(asked)?));
    };
    if let Some(address) = name.strip_prefix("futex ") {
        return Ok(format!("syscall = 'futex' AND strpos(args, {}) = 1", text(address)?));
    }
    if let Some(pattern) = expression(name) {
        return Ok(format!("regexp_like(path, {})", text(&pattern)?));
    }
    let address = name.strip_suffix(')').and_then(|name| name.rsplit_once(" (")?.1.split_once(", "));
    let name = address.map_or(name, |(_, address)| address);
    if name.starts_with('/') {
        return Ok(format!("path = {}", text(name)?));
    }
    // `TCP:[10.0.0.1:40112->10.0.0.7:5432]`
    let (other, own) = (text(&format!("->{name}]"))?, text(&format!("[{name}->"))?);
    Ok(format!("(path = {} OR strpos(path, {other}) > 0 OR strpos(path, {own}) > 0)", text(name)?))
}

/// A pattern of paths as a regular expression; `None` for a name in which nothing varies.
fn expression(name: &str) -> Option<String> {
    let mut out = String::from("^");
    let (mut rest, mut varies) = (name, false);
    while let Some(open) = rest.find('{') {
        let word = rest[open + 1..].split('}').next().unwrap_or_default();
        let is_word = !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && rest[open + 1..].len() > word.len();
        let end = if is_word { open + word.len() + 2 } else { open + 1 };
        out.push_str(&regex_escape(&rest[..if is_word { open } else { end }]));
        if is_word {
            out.push_str("[^/]+");
            varies = true;
        }
        rest = &rest[end..];
    }
    out.push_str(&regex_escape(rest));
    out.push('$');
    varies.then_some(out)
}

fn regex_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if "\\.+*?()|[]{}^$".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
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
        assert!(CallsAsk { tids: "1) OR (1".to_string(), ..CallsAsk::default() }.sql().is_err());
        let tids = CallsAsk { tids: "7,8".to_string(), ..CallsAsk::default() };
        assert!(tids.sql().unwrap().contains("WHERE tid IN (7, 8) "));
    }

    #[test]
    fn an_object_of_the_account_means_its_paths_and_addresses() {
        let asked = [
            ("a/'b", "strpos(path, 'a/''b') > 0"),
            ("=/etc/hosts", "path = '/etc/hosts'"),
            ("=/tmp/a+{n}.txt", "regexp_like(path, '^/tmp/a\\+[^/]+\\.txt$')"),
            ("=/tmp/{x", "path = '/tmp/{x'"),
            (
                "=db (70, 10.0.0.7:5432)",
                "(path = '10.0.0.7:5432' OR strpos(path, '->10.0.0.7:5432]') > 0 OR strpos(path, '[10.0.0.7:5432->') > 0)",
            ),
            ("=futex 0x7f10", "syscall = 'futex' AND strpos(args, '0x7f10') = 1"),
        ];
        for (name, sql) in asked {
            assert_eq!(object(name).unwrap(), sql);
        }
    }
}

//! The account of time in words, as every format for people shows it.

use whyslow_model::figures::{percent, plural};
use whyslow_model::{AccountRow, Nanos, RequestTimes, TimeAccount};

/// Rows shown unless all are asked for.
pub(crate) const MAX_ROWS: usize = 8;
/// Smaller parts are not shown unless all are asked for.
const SMALLEST: f64 = 0.01;

/// A row in words.
pub(crate) struct Line {
    /// Its part of the account: `91.2 %`.
    pub(crate) share: String,
    /// Who, and what it does or waits for.
    pub(crate) text: String,
}

/// Whose time it is.
pub(crate) fn heading(account: &TimeAccount) -> String {
    let idle = match account.idle_ns {
        0 => String::new(),
        idle => format!("; not counted: {} of waiting for work", Nanos::new(idle)),
    };
    let explained = match account.claimed_ns {
        0 => String::new(),
        claimed => format!("; the findings explain {}", percent(claimed as f64 / account.ns.max(1) as f64)),
    };
    let demand = account.demand.words().map_or(String::new(), |words| format!("; {words}"));
    let callers = callers(account).map_or(String::new(), |callers| format!("; {callers}"));
    format!("{}{idle}{demand}{callers}{explained}", account.whose())
}

/// Who waited for the target, the first in full; `None` where nobody is known to.
fn callers(account: &TimeAccount) -> Option<String> {
    let (first, others) = account.demand.callers.split_first()?;
    Some(match others.len() {
        0 => first.words(),
        more => format!("{}, and {} more waited for it", first.words(), plural(more as u64, "process")),
    })
}

/// The requests of each endpoint whose slowest take this many times as long as all of them: they are another matter. All endpoints, where
/// all is asked for.
pub(crate) fn requests(account: &TimeAccount, all: bool) -> Vec<String> {
    const SLOWER: u64 = 2;
    const MOST: usize = 1;
    let is_apart = |times: &RequestTimes| {
        let slow = times.slowest.as_ref().and_then(|slow| slow.mean_ns.get());
        slow.zip(times.all.mean_ns.get()).is_some_and(|(slow, all)| slow >= all.saturating_mul(SLOWER))
    };
    let told = account.requests.iter().filter(|times| all || is_apart(times));
    told.take(if all { usize::MAX } else { MOST }).map(RequestTimes::words).collect()
}

/// The rows in words, the largest first; how many were left out, and how much they are together.
pub(crate) fn lines(account: &TimeAccount, most: usize, all: bool) -> (Vec<Line>, usize, f64) {
    let shown = match all {
        true => account.rows.len(),
        false => account.rows.iter().take(most).take_while(|row| row.share >= SMALLEST).count(),
    };
    let (shown, rest) = account.rows.split_at(shown);
    let line = |row: &AccountRow| {
        let claims: Vec<&str> = row.claimed_by.iter().map(|claim| claim.id).collect();
        let claims = if claims.is_empty() { String::new() } else { format!(" [{}]", claims.join(", ")) };
        let ran = row.ran_meanwhile().map_or(String::new(), |who| format!("; meanwhile ran {who}"));
        Line { share: percent(row.share), text: format!("{}: {}{ran}{claims}", row.who, row.words()) }
    };
    (shown.iter().map(line).collect(), rest.len(), rest.iter().map(|row| row.share).sum())
}

//! Views: facts as tables, one file each. [`VIEWS`] lists them.

mod account;
mod disks;
mod fds;
mod files;
mod host;
mod locks;
mod path;
mod peers;
mod requests;
mod rows;
mod summary;
mod threads;

pub use disks::{DiskAsk, DiskTable};
pub use path::PathAsk;

use whyslow_facts::Facts;
use whyslow_model::Table;
use whyslow_model::event::Tid;
pub(crate) use whyslow_model::figures as words;

/// A table that can be asked for.
#[derive(Debug)]
pub struct View {
    /// Its name, and that of the command: `summary`.
    pub name: &'static str,
    /// Whether its figures are of calls: they are lower bounds where calls are missing.
    pub of_calls: bool,
    /// The question it answers, lower case, one line.
    pub summary: &'static str,
    /// What `--by` takes; the first is the default. Empty where there is no choice.
    pub by: &'static [&'static str],
    /// Makes the table.
    pub table: fn(&Facts, &Ask) -> Result<Table, AskError>,
}

impl View {
    /// The table, with what is to be known of all tables of such a capture.
    ///
    /// # Errors
    /// What is wrong with the question.
    pub fn of(&self, facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
        let mut table = (self.table)(facts, ask)?;
        // Of a capture's damaged lines the reader tells.
        if self.of_calls
            && facts.capture.is_recording()
            && let Some(share) = facts.missing_calls()
        {
            let share = words::percent(share);
            table.notes.push(format!("{share} of the calls are missing: counts and times are lower bounds."));
        }
        Ok(table)
    }
}

/// All views.
pub static VIEWS: &[&View] = &[
    &summary::VIEW,
    &account::VIEW,
    &host::VIEW,
    &disks::VIEW,
    &files::VIEW,
    &fds::VIEW,
    &peers::VIEW,
    &requests::VIEW,
    &locks::VIEW,
    &path::VIEW,
    &threads::VIEW,
];

/// The view of that name.
pub fn find(name: &str) -> Option<&'static View> {
    VIEWS.iter().copied().find(|view| view.name == name)
}

/// What is asked of a view.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// By what the rows are grouped; `None` for the view's own choice.
    pub by: Option<String>,
    /// The column to sort by, by its key or by a name that strace gives it; `none` leaves the order of appearance.
    pub sort: Option<String>,
    /// Smallest first.
    pub reverse: bool,
    /// Rows shown; `None` for all.
    pub top: Option<usize>,
    /// Rows that are left out as mostly idling, too.
    pub verbose: bool,
    /// Which descriptors are shown.
    pub fds: FdFilter,
    /// Which requests are shown.
    pub requests: RequestFilter,
    /// Whose path.
    pub path: PathAsk,
    /// Which disks, and how.
    pub disks: DiskAsk,
}

/// Which requests to show.
#[derive(Clone, Debug, Default)]
pub struct RequestFilter {
    /// Those whose endpoint, text, host, peer, protocol or trace id holds this text, in any case.
    pub matching: Option<String>,
    /// One by one, the slowest so many.
    pub slowest: Option<usize>,
    /// One by one, those that failed.
    pub errors: bool,
}

impl RequestFilter {
    /// True where one of the texts holds what is asked for.
    fn holds(&self, texts: &[Option<&str>]) -> bool {
        let Some(wanted) = self.matching.as_deref().map(str::to_lowercase) else { return true };
        texts.iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
    }
}

/// Which descriptors to show, as one asks lsof. What is set must all hold.
#[derive(Clone, Debug, Default)]
pub struct FdFilter {
    /// This port on either end (`lsof -i :PORT`).
    pub port: Option<u16>,
    /// The other end holds this text: an address, `host:port`, a socket's path (`lsof -i @HOST`).
    pub peer: Option<String>,
    /// The path is this file, lies in this directory, or ends in this name (`lsof PATH`, `lsof +D DIR`).
    pub file: Option<String>,
    /// Listening sockets only (`lsof -s TCP:LISTEN`).
    pub listen: bool,
    /// The state, in any case (`lsof -s TCP:CLOSE_WAIT`): a TCP state, `open` or `closed`.
    pub state: Option<String>,
    /// The process (`lsof -p PID`).
    pub pid: Option<u32>,
    /// The number (`lsof -d FD`).
    pub fd: Option<i32>,
}

/// A question that a view cannot answer.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum AskError {
    /// That is no time of day.
    #[error("`{got}` is no time of day: write it as the capture does, 10:00:00.5")]
    Time {
        /// What was asked.
        got: String,
    },
    /// There is no such thread.
    #[error("there is no thread {got}: choose one of {known}; `whyslow threads` lists all")]
    Thread {
        /// What was asked.
        got: Tid,
        /// Some that there are.
        known: String,
    },
    /// The thread is not shown at that time.
    #[error("thread {tid} is shown from {from} to {to}: choose a time between")]
    At {
        /// The thread.
        tid: Tid,
        /// Its first moment, as a time of day.
        from: String,
        /// Its last.
        to: String,
    },
    /// No such request is kept.
    #[error("no request {got} is kept: choose one of {known}; `whyslow requests --slowest 10` has more")]
    Request {
        /// What was asked.
        got: u64,
        /// Some that there are.
        known: String,
    },
    /// No request is kept at all.
    #[error("no request {got} is kept, nor any other: `whyslow requests` says what is known of them")]
    NoRequest {
        /// What was asked.
        got: u64,
    },
    /// The rows cannot be grouped so.
    #[error("`{view}` cannot be grouped by `{got}`: choose one of {known}")]
    By {
        /// The view.
        view: &'static str,
        /// What was asked.
        got: String,
        /// What there is.
        known: String,
    },
    /// There is no such column.
    #[error("`{view}` has no column `{got}` to sort by: choose one of {known}, or none")]
    Sort {
        /// The view.
        view: &'static str,
        /// What was asked.
        got: String,
        /// The columns.
        known: String,
    },
}

impl View {
    /// What the rows are grouped by. `tid` and `pid` are other words for thread and process.
    fn grouping(&self, ask: &Ask) -> Result<&'static str, AskError> {
        let Some(got) = ask.by.as_deref() else {
            return Ok(self.by.first().copied().unwrap_or_default());
        };
        let part = |part: &str| match part.trim() {
            "tid" => "thread".to_string(),
            "pid" => "process".to_string(),
            part => part.to_string(),
        };
        let plain: Vec<String> = got.split(',').map(part).collect();
        let plain = plain.join(",");
        let known = self.by.iter().find(|by| **by == plain);
        known.copied().ok_or_else(|| AskError::By {
            view: self.name,
            got: got.to_string(),
            known: self.by.join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Event, Loss, RecordedSpan, Sink, SourceId, SourceInfo, Timestamp};

    #[test]
    fn where_calls_are_missing_each_view_of_calls_says_so() {
        for (lost, told) in [(0, false), (32, true)] {
            let mut facts = Facts::default();
            let (from, to) = (Timestamp::new(0), Timestamp::new(2_000_000_000));
            let loss = Loss { table: "syscalls".into(), from, to, lost, produced: 100, refused: 0 };
            facts.push(Event::Span(RecordedSpan { from, to, calls: whyslow_model::Coverage::Full }));
            facts.push(Event::Loss(loss));
            let kind = whyslow_model::CaptureKind::Recording;
            facts.push(Event::Source(SourceInfo::new(SourceId::default(), "x", kind)));
            facts.finish();
            for view in VIEWS {
                let notes = view.of(&facts, &Ask::default()).unwrap().notes;
                let wanted = "32.0 % of the calls are missing: counts and times are lower bounds.";
                let found = notes.iter().any(|note| note == wanted);
                assert_eq!(found, told && view.of_calls, "{}: {notes:?}", view.name);
            }
        }
    }

    #[test]
    fn every_view_answers_every_grouping_without_facts() {
        for view in VIEWS {
            let groupings = view.by.iter().map(|by| Some(by.to_string())).chain([None]);
            for by in groupings {
                let table = (view.table)(&Facts::default(), &Ask { by, ..Ask::default() }).unwrap();
                assert_eq!(table.name, view.name);
                assert!(table.rows.is_empty());
                assert!(table.question.ends_with('?'));
            }
            let ask = Ask { by: Some("moon".to_string()), ..Ask::default() };
            assert!((view.table)(&Facts::default(), &ask).is_err() || view.by.is_empty());
            let ask = Ask { sort: Some("moon".to_string()), ..Ask::default() };
            assert!(matches!((view.table)(&Facts::default(), &ask), Err(AskError::Sort { .. })));
        }
    }
}

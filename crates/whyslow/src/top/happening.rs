//! What wakes the loop of the screen.

use super::look::Look;
use ratatui::crossterm::event::Event;
use whyslow_model::{Table, Tid};

/// What wakes the loop.
pub(super) enum Happening {
    /// A key, the mouse.
    Event(Event),
    /// A look that was asked for.
    Look(Box<Look>),
    /// What was found out about one process.
    Answer(Answer),
    /// A signal.
    Signal(i32),
    /// The last frame has left.
    Written,
    /// Nobody sees us any more.
    TerminalGone,
    /// A thread of ours ended that may not.
    Broken(&'static str),
}

/// What came of a question.
pub(crate) enum Answer {
    /// A table about a process, or why there is none.
    Table {
        /// The process.
        pid: Tid,
        /// Which view.
        view: &'static str,
        /// The table.
        table: Result<Table, String>,
    },
    /// A remark.
    Remark(String),
}

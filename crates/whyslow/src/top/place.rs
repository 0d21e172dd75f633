//! Where on the screen things stand, and what a press there asks for.

use super::action::Action;

/// Where things stand: for the mouse.
#[derive(Clone, Default, Debug)]
pub(super) struct Place {
    /// The line of the screen with the first row of the list.
    pub(super) top: u16,
    /// The row that stands there.
    pub(super) offset: usize,
    /// Lines with verdicts, from the top of the screen.
    pub(super) verdicts: usize,
    /// The verdict that stands first.
    pub(super) first_verdict: usize,
    /// Where each column begins, and its name.
    pub(super) columns: Vec<(u16, &'static str)>,
}

impl Place {
    /// What a press there asks for.
    pub(super) fn action(&self, column: u16, row: u16) -> Option<Action> {
        if usize::from(row) < self.verdicts {
            return Some(Action::ChooseVerdict(self.first_verdict + usize::from(row)));
        }
        if row + 1 == self.top {
            let pressed = self.columns.iter().rev().find(|(begins, _)| *begins <= column);
            return pressed.map(|(_, name)| Action::SortBy(name));
        }
        let line = row.checked_sub(self.top)?;
        Some(Action::Choose(self.offset + usize::from(line)))
    }
}

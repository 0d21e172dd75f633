//! How a report is to look: what the caller knows about the terminal and the reader.

/// How a report is to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Colour and bold (SGR escapes). Only the terminal format heeds it.
    pub color: bool,
    /// Columns of the terminal; held within [`Style::MIN_WIDTH`] and [`Style::MAX_WIDTH`].
    pub width: usize,
    /// Notices in full, all threads, all notes, evidence uncut (`--verbose`).
    pub explain: bool,
    /// Do not replace secrets by `[redacted]`.
    pub show_secrets: bool,
}

impl Style {
    /// The narrowest terminal that is laid out for.
    pub const MIN_WIDTH: usize = 40;
    /// Beyond this, lines are too long to follow with the eye.
    pub const MAX_WIDTH: usize = 200;

    /// The width within its bounds.
    pub(crate) fn columns(&self) -> usize {
        self.width.clamp(Self::MIN_WIDTH, Self::MAX_WIDTH)
    }
}

impl Default for Style {
    /// Plain, 100 columns, short, redacted: what a pipe gets.
    fn default() -> Self {
        Style { color: false, width: 100, explain: false, show_secrets: false }
    }
}

//! What a key, the mouse or a child process asks for.

/// What a key, the mouse or a child process asks for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// End.
    Quit,
    /// Move the chosen row.
    Move(i64),
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Choose the row that stands at this line of the list; where it is chosen already, look into it.
    Choose(usize),
    /// The same with a verdict.
    ChooseVerdict(usize),
    /// To the verdicts, or back to the list.
    Verdicts,
    /// Look into the chosen row.
    Into,
    /// Back to where one came from.
    Back,
    /// Sort by the next column (1) or the one before (-1).
    SortNext(i64),
    /// Sort by this column; where the list is, turn the order round.
    SortBy(&'static str),
    /// Smallest first, or largest first again.
    Reverse,
    /// Children below their parents.
    Tree,
    /// Hold the picture, or go on with what is now.
    Pause,
    /// Hold it, and show the picture so many looks before (negative) or behind it.
    Step(i64),
    /// Begin to type a filter.
    Filter,
    /// A letter of the filter.
    Type(char),
    /// Take the last letter back.
    Erase,
    /// Keep the filter and go on.
    Accept,
    /// Show a table about the chosen process.
    About(&'static str),
    /// Record the chosen process.
    Record,
    /// Show the keys.
    Help,
    /// Look twice as often (-1) or half as often (1).
    Interval(i64),
    /// Stop, until the shell continues us.
    Suspend,
    /// Draw all anew: something else wrote to the screen.
    Redraw,
}

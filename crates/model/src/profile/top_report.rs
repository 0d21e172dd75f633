//! Tables that people paste instead of profiles: what `go tool pprof -top` or `list` printed. They have sums, and no stacks.

/// A printed figure: as it stands there, and what it can mean.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// As it was printed: `1.03mins`.
    pub text: String,
    /// Its value in [`TopReport::unit`].
    pub value: i64,
    /// How far the true value may be from it, for it was rounded: half of the last printed digit.
    pub within: i64,
}

/// A row of a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopRow {
    /// The function, or whatever was grouped by.
    pub name: String,
    /// What it spent itself.
    pub flat: Printed,
    /// What it spent with all that it called.
    pub cum: Printed,
}

/// A line of a listed function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListedLine {
    /// The line's number in its file.
    pub number: u64,
    /// Spent on the line itself; `None` where a dot stands.
    pub flat: Option<Printed>,
    /// Spent on it with all that it called.
    pub cum: Option<Printed>,
    /// The source.
    pub source: String,
}

/// A listed function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The function.
    pub function: String,
    /// Its file.
    pub file: String,
    /// What its lines spent themselves.
    pub flat: Printed,
    /// What they spent with all that they called.
    pub cum: Printed,
    /// Its lines.
    pub lines: Vec<ListedLine>,
}

/// A table as pprof prints it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TopReport {
    /// What was counted: `cpu`, `inuse_space`; empty where the table does not say.
    pub kind: String,
    /// Unit of all values: `nanoseconds`, `bytes` or `count`.
    pub unit: &'static str,
    /// The sum over the whole profile, not over the rows; `None` where the table does not say.
    pub total: Option<Printed>,
    /// How long was profiled, ns; `None` where the table does not say.
    pub duration_ns: Option<i64>,
    /// The program's file, or empty.
    pub file: String,
    /// The rows, in their order.
    pub rows: Vec<TopRow>,
    /// The functions of a `list`.
    pub listings: Vec<Listing>,
}

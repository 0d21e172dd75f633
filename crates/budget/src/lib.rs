//! Budgets: limits per unit of work (`stat <= 10/request`, `bytes_written <= 2 MB/run`, `p99 <= 50 ms`, `finding:n-plus-one-queries = none`),
//! read from a file, judged on what was measured of one run or several, and told to people and to CI.
//!
//! What cannot be judged is *not judged*, with the reason, and never kept: a recording without requests, counts of which some are missing,
//! times that a tracer stretched.

mod amounts;
mod baseline;
mod file;
pub mod formats;
mod judge;
mod limit;
mod measure;
mod names;
mod spread;

pub use amounts::Quantity;
pub use baseline::{Baseline, BaselineError, BaselineFigure, usual};
pub use file::{Budget, BudgetError, DefinedLimit, WorkUnit};
pub use formats::{BUDGET_FORMATS, BudgetFormat};
pub use judge::{BudgetReport, JudgedLimit, LimitOutcome, judge};
pub use limit::{BudgetLimit, Comparator, LimitKey, LimitSubject};
pub use measure::{Gauge, RunFigures};

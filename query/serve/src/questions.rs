//! What answers questions in SQL: the engine, which this crate does not know.

use serde_json::Value;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

/// What one question may take.
#[derive(Clone, Copy, Debug)]
pub struct QuestionLimits {
    /// Rows of the answer.
    pub rows: usize,
    /// Bytes of the answer.
    pub bytes: usize,
    /// Time.
    pub time: Duration,
}

/// An answer, or why there is none, in words for people.
pub type AnswerFuture = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// Answers questions over recordings.
pub trait Questions: Send + Sync + 'static {
    /// The answer as JSON: `columns` (`name`, `type`), `rows` (arrays of cells: number, text, null), `truncated`, `seconds`. Dropping the
    /// future stops the work. Only what reads is answered.
    fn ask(&self, recording: PathBuf, sql: String, limits: QuestionLimits) -> AnswerFuture;

    /// What there is to ask, as JSON: `tables` with `name`, `about`, `columns`; `macros` with `name`, `about`.
    fn tables(&self, recording: PathBuf) -> AnswerFuture;
}

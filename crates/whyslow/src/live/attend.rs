//! Who attends a recording by BPF: told of each tick while it goes on, as the flight recorder is.

use std::path::Path;
use whyslow_model::Event;
use whyslow_record::{Options, Session};

/// Attends a recording.
pub(crate) trait Attend {
    /// Changes how is recorded.
    fn adjust(&self, options: &mut Options);
    /// The recording has begun, of what is told in words.
    ///
    /// # Errors
    /// Where it cannot attend.
    fn begin(&mut self, session: &Session, words: &str) -> anyhow::Result<()>;
    /// The sampler of the host tells.
    fn figure(&mut self, event: Event<'_>);
    /// A tick. Returns what is to be said.
    ///
    /// # Errors
    /// Where the recording cannot go on.
    fn tick(&mut self, session: &mut Session) -> anyhow::Result<Vec<String>>;
    /// Somebody sent SIGUSR1.
    fn asked(&mut self);
    /// The recording ends. Returns what is to be said.
    fn end(&mut self, session: &mut Session) -> Vec<String>;
    /// Where it writes to.
    fn folder(&self) -> &Path;
}

//! Who else may ask for a window: `whyslow dump` by a socket of the recorder, and others by HTTP. Both run as threads, and hand what
//! is asked to the recorder, which answers when the recording is there.

mod http;
mod socket;

pub use http::{Token, listen as listen_http};
pub use socket::{Listening, RingRecorder, dump, listen as listen_socket, recorders};

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The longest reason that is taken, bytes.
const MOST_REASON: usize = 500;
/// How long who asks waits for the recording.
const WAIT: Duration = Duration::from_mins(5);

/// What was asked for.
#[derive(Debug)]
pub struct Asked {
    kind: &'static str,
    reason: String,
    answer: Sender<Result<PathBuf, String>>,
}

impl Asked {
    /// How it was asked: `dump`, `http`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Why, in words that follow "because".
    pub fn reason(&self) -> String {
        self.reason.clone()
    }

    /// Tells where the recording is, or why there is none.
    pub fn answer(self, with: Result<PathBuf, String>) {
        // Who asked may be gone.
        let _ = self.answer.send(with);
    }
}

/// What is asked, in order.
pub struct Asks {
    from: Receiver<Asked>,
    to: AskSender,
}

/// Hands what is asked to the recorder.
#[derive(Clone)]
pub struct AskSender(Sender<Asked>);

impl Default for Asks {
    fn default() -> Asks {
        let (to, from) = channel();
        Asks { from, to: AskSender(to) }
    }
}

impl Asks {
    /// For who listens.
    pub fn sender(&self) -> AskSender {
        self.to.clone()
    }

    /// The next one.
    pub fn take(&mut self) -> Option<Asked> {
        self.from.try_recv().ok()
    }
}

impl AskSender {
    /// Asks, and waits until the recording is there.
    fn ask(&self, kind: &'static str, who: &str, reason: &str) -> Result<PathBuf, String> {
        let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
        let mut end = reason.len().min(MOST_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let reason = match reason[..end].trim() {
            "" => format!("{who} asked for it"),
            why => format!("{who} asked for it ({why})"),
        };
        let (answer, answered) = channel();
        self.0.send(Asked { kind, reason, answer }).map_err(|_| "the recorder has ended".to_string())?;
        answered.recv_timeout(WAIT).unwrap_or_else(|_| Err("the recorder did not answer".to_string()))
    }
}

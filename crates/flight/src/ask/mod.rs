//! Who else may ask for a window: `whyslow dump` by a socket of the recorder, and others by HTTP, who may ask for a recording in detail too
//! where that is on. Both run as threads, and hand what is asked to the recorder, which answers when the recording is there.

mod http;
mod socket;

pub use http::{Token, listen as listen_http};
pub use socket::{Listening, RingRecorder, dump, listen as listen_socket, recorders};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The longest reason that is taken, bytes.
const MOST_REASON: usize = 500;
/// How long who asks waits for the recording.
const WAIT: Duration = Duration::from_mins(5);

/// What is wished for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// The window that the ring holds.
    Window,
    /// A recording in detail, from now on, for so long.
    Detail(Duration),
}

/// What was asked for.
#[derive(Debug)]
pub struct Asked {
    kind: &'static str,
    wish: Wish,
    reason: String,
    /// Of a recording in detail: no other one begins before this goes.
    turn: Option<Turn>,
    answer: Sender<Result<PathBuf, String>>,
}

impl Asked {
    /// How it was asked: `dump`, `http`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// What for.
    pub fn wish(&self) -> Wish {
        self.wish
    }

    /// Why, in words that follow "because".
    pub fn reason(&self) -> String {
        self.reason.clone()
    }

    /// Tells where the recording is, or why there is none.
    pub fn answer(self, with: Result<PathBuf, String>) {
        let Asked { answer, turn, .. } = self;
        // Who is answered may ask again at once.
        drop(turn);
        // Who asked may be gone.
        let _ = answer.send(with);
    }
}

/// What is asked, in order.
pub struct Asks {
    from: Receiver<Asked>,
    to: AskSender,
}

/// Hands what is asked to the recorder.
#[derive(Clone)]
pub struct AskSender {
    to: Sender<Asked>,
    detail: Arc<DetailGate>,
}

/// Recordings in detail: whether they may be asked for, and whether one is under way.
#[derive(Default, Debug)]
struct DetailGate {
    is_open: AtomicBool,
    is_taken: AtomicBool,
}

/// The one recording in detail that there may be at a time: the next one may come once this goes.
#[derive(Debug)]
struct Turn(Arc<DetailGate>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.is_taken.store(false, Ordering::Release);
    }
}

/// Why who asks for a recording in detail gets none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoDetail {
    /// They are off here.
    Off,
    /// Another one is under way.
    Taken,
    /// It failed.
    Failed(String),
}

impl Default for Asks {
    fn default() -> Asks {
        let (to, from) = channel();
        Asks { from, to: AskSender { to, detail: Arc::default() } }
    }
}

impl Asks {
    /// For who listens.
    pub fn sender(&self) -> AskSender {
        self.to.clone()
    }

    /// Whether recordings in detail may be asked for from now on; at first they may not.
    pub fn let_record(&self, may: bool) {
        self.to.detail.is_open.store(may, Ordering::Release);
    }

    /// The next one.
    pub fn take(&mut self) -> Option<Asked> {
        self.from.try_recv().ok()
    }
}

impl AskSender {
    /// Asks for the window that the ring holds, and waits until the recording is there.
    fn ask(&self, kind: &'static str, who: &str, reason: &str) -> Result<PathBuf, String> {
        let asked = format!("{who} asked for it");
        self.send((kind, Wish::Window), because(&asked, reason), None)
    }

    /// Asks for a recording in detail of that length, and waits until it is there.
    pub(crate) fn record(
        &self,
        kind: &'static str,
        who: &str,
        reason: &str,
        length: Duration,
    ) -> Result<PathBuf, NoDetail> {
        if !self.detail.is_open.load(Ordering::Acquire) {
            return Err(NoDetail::Off);
        }
        if self.detail.is_taken.swap(true, Ordering::AcqRel) {
            return Err(NoDetail::Taken);
        }
        let turn = Turn(self.detail.clone());
        let asked = format!("{who} asked for a recording of {} s in detail", length.as_secs());
        self.send((kind, Wish::Detail(length)), because(&asked, reason), Some(turn)).map_err(NoDetail::Failed)
    }

    fn send(
        &self,
        (kind, wish): (&'static str, Wish),
        reason: String,
        turn: Option<Turn>,
    ) -> Result<PathBuf, String> {
        let (answer, answered) = channel();
        let asked = Asked { kind, wish, reason, turn, answer };
        self.to.send(asked).map_err(|_| "the recorder has ended".to_string())?;
        let longest = match wish {
            Wish::Window => WAIT,
            Wish::Detail(length) => WAIT + length,
        };
        answered.recv_timeout(longest).unwrap_or_else(|_| Err("the recorder did not answer".to_string()))
    }
}

/// What was asked for, with the reason that a person or program gave: on one line, and cut.
fn because(asked: &str, reason: &str) -> String {
    let reason: String = reason.chars().filter(|c| !c.is_control()).collect();
    let mut end = reason.len().min(MOST_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    match reason[..end].trim() {
        "" => asked.to_string(),
        why => format!("{asked} ({why})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_recording_in_detail_at_a_time_and_none_where_they_are_off() {
        let mut asks = Asks::default();
        let sender = asks.sender();
        let length = Duration::from_secs(2);
        assert_eq!(sender.record("http", "a test", "", length), Err(NoDetail::Off));
        asks.let_record(true);
        let asker = std::thread::spawn({
            let sender = sender.clone();
            move || sender.record("http", "a test", "slow\ncheckout", length)
        });
        let asked = loop {
            if let Some(asked) = asks.take() {
                break asked;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(asked.wish(), Wish::Detail(length));
        assert_eq!(asked.reason(), "a test asked for a recording of 2 s in detail (slowcheckout)");
        assert_eq!(sender.record("http", "a test", "", length), Err(NoDetail::Taken));
        asked.answer(Ok(PathBuf::from("/x/y.whyslow")));
        assert_eq!(asker.join().expect("joined"), Ok(PathBuf::from("/x/y.whyslow")));
        // What was given up makes way, too.
        let asker = std::thread::spawn(move || sender.record("http", "a test", "", length));
        loop {
            if asks.take().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(matches!(asker.join().expect("joined"), Err(NoDetail::Failed(_))));
        asks.let_record(false);
        assert_eq!(asks.sender().record("http", "a test", "", length), Err(NoDetail::Off));
        assert!(!asks.sender().detail.is_taken.load(Ordering::Acquire));
    }
}

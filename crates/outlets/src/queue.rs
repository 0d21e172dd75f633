//! Messages on their way to one receiver: a bounded queue and a thread that sends. A receiver that is away is tried again, later each time;
//! what does not fit meanwhile goes, the oldest first, and is counted.

use crate::post::Posted;
use crate::sums::OutletCounts;
use crate::url::OutletUrl;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Messages that wait at most.
const MOST_MESSAGES: usize = 500;
/// Bytes of them at most: some of what the agent may take of memory.
const MOST_BYTES: usize = 8 << 20;
/// From a failure to the next try; twice as long each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Notes that wait to be said at most.
const MOST_NOTES: usize = 8;

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct OutMessage {
    pub(crate) to: OutletUrl,
    pub(crate) media: &'static str,
    pub(crate) body: Arc<Vec<u8>>,
}

#[derive(Default)]
struct Inner {
    /// Each with its number.
    waiting: VecDeque<(u64, OutMessage)>,
    bytes: usize,
    next: u64,
    counts: OutletCounts,
    notes: VecDeque<String>,
    /// When nothing is tried any more.
    end: Option<Instant>,
    ended: bool,
    is_away: bool,
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queue.
pub(crate) struct SendQueue {
    name: &'static str,
    shared: Arc<Shared>,
}

impl SendQueue {
    /// Starts the thread, which sends by `send`.
    pub(crate) fn start(
        name: &'static str,
        send: impl FnMut(&OutMessage) -> Posted + Send + 'static,
    ) -> io::Result<SendQueue> {
        let shared = Arc::new(Shared::default());
        let of_thread = shared.clone();
        std::thread::Builder::new()
            .name(format!("whyslow-{name}"))
            .spawn(move || work(name, &of_thread, send))?;
        Ok(SendQueue { name, shared })
    }

    /// Adds a message; the oldest go where there is no room.
    pub(crate) fn push(&self, message: OutMessage) {
        let mut inner = self.shared.lock();
        let before = inner.counts.dropped;
        if message.body.len() > MOST_BYTES {
            inner.counts.dropped += 1;
        } else {
            inner.bytes += message.body.len();
            let number = inner.next;
            inner.next += 1;
            inner.waiting.push_back((number, message));
            while inner.waiting.len() > MOST_MESSAGES || inner.bytes > MOST_BYTES {
                inner.pop();
                inner.counts.dropped += 1;
            }
        }
        if before == 0 && inner.counts.dropped > 0 {
            let name = self.name;
            inner.note(format!("{name}: messages are given up: more wait than there is room for"));
        }
        self.shared.changed.notify_all();
    }

    pub(crate) fn counts(&self) -> OutletCounts {
        let inner = self.shared.lock();
        OutletCounts { waiting: inner.waiting.len() as u64, ..inner.counts }
    }

    /// What is to be said, once.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.shared.lock().notes.drain(..).collect()
    }

    /// Sends what waits, each message once, and no longer than until then.
    pub(crate) fn close(&self, until: Instant) {
        let mut inner = self.shared.lock();
        inner.end = Some(until);
        self.shared.changed.notify_all();
        while !inner.ended {
            let Some(rest) = until.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())
            else {
                return;
            };
            inner = self.shared.changed.wait_timeout(inner, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for SendQueue {
    fn drop(&mut self) {
        let mut inner = self.shared.lock();
        // Who closed it has said until when.
        inner.end.get_or_insert_with(Instant::now);
        self.shared.changed.notify_all();
    }
}

impl Inner {
    fn pop(&mut self) -> Option<OutMessage> {
        let (_, message) = self.waiting.pop_front()?;
        self.bytes -= message.body.len();
        Some(message)
    }

    fn note(&mut self, text: String) {
        if self.notes.len() >= MOST_NOTES {
            self.notes.pop_front();
        }
        self.notes.push_back(text);
    }

    /// Counts what became of a message; true where it is done with.
    fn take(&mut self, name: &str, number: u64, posted: &Posted) -> bool {
        // It may have gone meanwhile for want of room.
        let is_there = self.waiting.front().is_some_and(|(first, _)| *first == number);
        match posted {
            Posted::Taken => {
                self.counts.sent += 1;
                if std::mem::take(&mut self.is_away) {
                    self.note(format!("{name}: the receiver takes messages again"));
                }
            }
            Posted::Later(why, _) => {
                self.counts.failures += 1;
                if !std::mem::replace(&mut self.is_away, true) {
                    self.note(format!("{name}: {why}; it is tried again"));
                }
                return false;
            }
            Posted::Refused(why) => {
                self.counts.failures += 1;
                self.counts.dropped += u64::from(is_there);
                if !std::mem::replace(&mut self.is_away, true) {
                    self.note(format!("{name}: {why}; the message is given up"));
                }
            }
        }
        if is_there {
            self.pop();
        }
        true
    }
}

fn work(name: &str, shared: &Shared, mut send: impl FnMut(&OutMessage) -> Posted) {
    let mut pause = FIRST_PAUSE;
    let mut inner = shared.lock();
    loop {
        let now = Instant::now();
        let is_over = inner.end.is_some_and(|end| now >= end);
        let Some((number, message)) = inner.waiting.front().cloned().filter(|_| !is_over) else {
            if inner.end.is_some() {
                break;
            }
            inner = shared.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        drop(inner);
        let posted = send(&message);
        inner = shared.lock();
        if inner.take(name, number, &posted) {
            pause = FIRST_PAUSE;
            continue;
        }
        if inner.end.is_some() {
            // It had its one try.
            inner.pop();
            inner.counts.dropped += 1;
            continue;
        }
        let asked = if let Posted::Later(_, Some(asked)) = posted { asked } else { Duration::ZERO };
        let until = Instant::now() + pause.max(asked);
        pause = (pause * 2).min(LONGEST_PAUSE);
        while inner.end.is_none() {
            let Some(rest) = until.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())
            else {
                break;
            };
            inner = shared.changed.wait_timeout(inner, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
    inner.counts.dropped += inner.waiting.len() as u64;
    inner.waiting.clear();
    inner.ended = true;
    drop(inner);
    shared.changed.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};

    const LONGEST: Duration = Duration::from_secs(60);

    fn message(text: &str) -> OutMessage {
        OutMessage {
            to: OutletUrl::new("http://h"),
            media: "text/plain",
            body: Arc::new(text.as_bytes().to_vec()),
        }
    }

    /// A queue whose sender tells what it was given, and answers what it is told to.
    fn queue() -> (SendQueue, Receiver<String>, Sender<Posted>) {
        let (told, was_told) = channel();
        let (answer, answers) = channel();
        let send = move |message: &OutMessage| {
            let _ = told.send(String::from_utf8_lossy(&message.body).into_owned());
            answers.recv().unwrap_or(Posted::Refused("the test is over".into()))
        };
        (SendQueue::start("test", send).expect("started"), was_told, answer)
    }

    fn wait_for(queue: &SendQueue, wanted: OutletCounts) {
        let began = Instant::now();
        while queue.counts() != wanted {
            assert!(began.elapsed() < LONGEST, "{:?}, not {wanted:?}", queue.counts());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn one_that_is_away_is_tried_again_and_what_is_refused_is_given_up() {
        let (queue, told, answer) = queue();
        ["a", "b", "c"].iter().for_each(|text| queue.push(message(text)));
        let next = || told.recv_timeout(LONGEST).expect("sent");
        assert_eq!(next(), "a");
        answer.send(Posted::Later("away".into(), None)).expect("answered");
        assert_eq!(next(), "a");
        answer.send(Posted::Taken).expect("answered");
        assert_eq!(next(), "b");
        answer.send(Posted::Refused("no".into())).expect("answered");
        assert_eq!(next(), "c");
        answer.send(Posted::Taken).expect("answered");
        wait_for(&queue, OutletCounts { sent: 2, failures: 2, dropped: 1, waiting: 0 });
        let notes = queue.notes();
        assert!(notes[0].contains("away; it is tried again"), "{notes:?}");
        assert!(notes[1].contains("takes messages again") && notes[2].contains("given up"), "{notes:?}");
        assert!(queue.notes().is_empty());
    }

    #[test]
    fn the_oldest_go_where_there_is_no_room() {
        let (queue, told, answer) = queue();
        queue.push(message("first"));
        assert_eq!(told.recv_timeout(LONGEST).expect("sent"), "first");
        (0..MOST_MESSAGES + 4).for_each(|number| queue.push(message(&number.to_string())));
        let counts = queue.counts();
        assert_eq!((counts.dropped, counts.waiting), (5, MOST_MESSAGES as u64));
        // The one that was under way went too; that it was taken is counted all the same.
        answer.send(Posted::Taken).expect("answered");
        assert_eq!(told.recv_timeout(LONGEST).expect("sent"), "4");
        assert_eq!(queue.counts().sent, 1);
        queue.push(OutMessage { body: Arc::new(vec![0; MOST_BYTES + 1]), ..message("") });
        assert_eq!(queue.counts().dropped, 6);
    }

    #[test]
    fn what_waits_at_the_end_has_one_try() {
        let (queue, told, answer) = queue();
        ["a", "b"].iter().for_each(|text| queue.push(message(text)));
        assert_eq!(told.recv_timeout(LONGEST).expect("sent"), "a");
        let queue = Arc::new(queue);
        let closed = queue.clone();
        let closer = std::thread::spawn(move || {
            closed.close(Instant::now() + LONGEST);
            closed.counts()
        });
        while queue.shared.lock().end.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        answer.send(Posted::Later("away".into(), Some(LONGEST))).expect("answered");
        assert_eq!(told.recv_timeout(LONGEST).expect("sent"), "b");
        answer.send(Posted::Taken).expect("answered");
        let counts = closer.join().expect("closed");
        assert_eq!((counts.sent, counts.dropped, counts.waiting), (1, 1, 0));
    }
}

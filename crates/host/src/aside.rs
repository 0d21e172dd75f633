//! Work that may hang (a file system that does not answer, a process whose memory is locked), done by a thread of its own:
//! the sampler takes what is ready and goes on.

use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// An answer, and the CPU time it took (ns).
struct Done<A> {
    answer: A,
    cpu: u64,
}

/// A thread that answers one question after the other.
pub(crate) struct Aside<Q, A> {
    questions: Sender<Q>,
    answers: Receiver<Done<A>>,
    /// Questions without an answer.
    open: usize,
    /// When the last answer came, or the first question was asked.
    moved: Instant,
}

impl<Q: Send + 'static, A: Send + 'static> Aside<Q, A> {
    /// Starts it; `None` where the system gives no further thread.
    pub(crate) fn start(mut answer: impl FnMut(Q) -> A + Send + 'static) -> Option<Aside<Q, A>> {
        let (questions, asked) = channel::<Q>();
        let (done, answers) = channel();
        let work = move || {
            let clock = || {
                let time = clock_gettime(ClockId::ThreadCPUTime);
                time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
            };
            while let Ok(question) = asked.recv() {
                let began = clock();
                let answer = answer(question);
                if done.send(Done { answer, cpu: clock().saturating_sub(began) }).is_err() {
                    return;
                }
            }
        };
        // Not joined: a thread that hangs in the kernel would hang us too.
        std::thread::Builder::new().name("whyslow-aside".to_string()).spawn(work).ok()?;
        Some(Aside { questions, answers, open: 0, moved: Instant::now() })
    }

    /// Asks; false where the thread has ended.
    pub(crate) fn ask(&mut self, question: Q) -> bool {
        if self.open == 0 {
            self.moved = Instant::now();
        }
        let asked = self.questions.send(question).is_ok();
        self.open += usize::from(asked);
        asked
    }

    /// The answers that there are, waiting for all that were asked for until `patience` is over. Adds their CPU time.
    pub(crate) fn take(&mut self, patience: Duration, cpu: &mut u64, mut each: impl FnMut(A)) {
        let until = Instant::now() + patience;
        while self.open > 0 {
            match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Done { answer, cpu: used }) => {
                    *cpu += used;
                    self.open -= 1;
                    self.moved = Instant::now();
                    each(answer);
                }
                Err(RecvTimeoutError::Timeout) => return,
                // It panicked: what it had is lost.
                Err(RecvTimeoutError::Disconnected) => self.open = 0,
            }
        }
    }

    /// Questions without an answer, and for how long nothing came.
    pub(crate) fn behind(&self) -> (usize, Duration) {
        (self.open, if self.open > 0 { self.moved.elapsed() } else { Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_holds_nobody_up() {
        let mut aside = Aside::start(|ms: u64| {
            std::thread::sleep(Duration::from_millis(ms));
            ms
        })
        .expect("a thread");
        let (mut cpu, mut got) = (0, Vec::new());
        assert!(aside.ask(0) && aside.ask(700) && aside.ask(1));
        let began = Instant::now();
        aside.take(Duration::from_millis(100), &mut cpu, |ms| got.push(ms));
        assert!(began.elapsed() < Duration::from_millis(600), "{:?}", began.elapsed());
        assert_eq!((got.as_slice(), aside.behind().0), (&[0][..], 2));
        aside.take(Duration::from_secs(20), &mut cpu, |ms| got.push(ms));
        assert_eq!((got.as_slice(), aside.behind()), (&[0, 700, 1][..], (0, Duration::ZERO)));
    }
}

//! The thread that does what is slow for an unwinder: it opens files, reads their unwind information and looks for runtimes.

use crate::native::{Loader, Modules};
use crate::process::Process;
use crate::runtimes::{Detected, LanguageRuntime, RuntimeKind};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// What the thread is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Job {
    /// The code that a process has loaded by now.
    Code,
    /// Which runtime runs in it.
    Runtimes,
}

/// A process as long as it runs one program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Life {
    pub(super) pid: u32,
    /// Others of the same number have other ones.
    pub(super) number: u64,
}

/// What it found.
pub(super) enum Found {
    /// Its memory, and the code in it.
    Code(Process, Modules),
    /// The runtimes in it, and those that cannot be read: which, and why.
    Runtimes(Vec<Box<dyn LanguageRuntime>>, Vec<(String, String)>),
}

/// A job, with what is known of the process's code.
type Asked = (Life, Job, Option<Modules>);

/// The thread, seen from the unwinder. It ends when this is dropped.
pub(super) struct Background {
    jobs: SyncSender<Asked>,
    found: Receiver<(Life, Found)>,
}

impl Background {
    /// Jobs that wait; as many answers do.
    const WAITING: usize = 1024;

    /// Starts it. Where the kernel gives no thread, nothing is ever found.
    pub(super) fn start(bytes: usize, kinds: &'static [RuntimeKind]) -> Background {
        let (jobs, asked) = sync_channel(Background::WAITING);
        let (answers, found) = sync_channel(Background::WAITING);
        let thread = std::thread::Builder::new().name("unwind".to_owned());
        let _ = thread.spawn(move || work(&asked, &answers, bytes, kinds));
        Background { jobs, found }
    }

    /// Asks for a job, with what is known of the process's code; false where too many wait: ask again later.
    pub(super) fn ask(&self, life: Life, job: Job, known: Option<&Modules>) -> bool {
        !matches!(self.jobs.try_send((life, job, known.cloned())), Err(TrySendError::Full(_)))
    }

    /// An answer that is ready.
    pub(super) fn next(&self) -> Option<(Life, Found)> {
        self.found.try_recv().ok()
    }
}

fn work(
    asked: &Receiver<Asked>,
    answers: &SyncSender<(Life, Found)>,
    bytes: usize,
    kinds: &'static [RuntimeKind],
) {
    let mut loader = Loader::new(bytes);
    // Native stacks of all come before the runtimes of one.
    let (mut code, mut runtimes) = (VecDeque::new(), VecDeque::new());
    loop {
        if code.is_empty() && runtimes.is_empty() {
            match asked.recv() {
                Ok((life, Job::Code, known)) => code.push_back((life, known)),
                Ok((life, Job::Runtimes, _)) => runtimes.push_back(life),
                Err(_) => return,
            }
        }
        // What is taken here waits no less: a process has one job of a kind at a time.
        while let Ok((life, job, known)) = asked.try_recv() {
            match job {
                Job::Code => code.push_back((life, known)),
                Job::Runtimes => runtimes.push_back(life),
            }
        }
        let answer = if let Some((life, known)) = code.pop_front() {
            Process::open(life.pid).ok().map(|process| {
                let modules = loader.modules(&process, known.as_ref());
                (life, Found::Code(process, modules))
            })
        } else if let Some(life) = runtimes.pop_front() {
            Process::open(life.pid).ok().map(|process| (life, detect(&process, kinds)))
        } else {
            None
        };
        if answer.is_some_and(|answer| answers.send(answer).is_err()) {
            return;
        }
    }
}

fn detect(process: &Process, kinds: &[RuntimeKind]) -> Found {
    let (mut runtimes, mut unknown) = (Vec::new(), Vec::new());
    for kind in kinds {
        match (kind.detect)(process) {
            Detected::Absent => {}
            Detected::Found(runtime) => runtimes.push(runtime),
            Detected::Unknown(why) => unknown.push((kind.name.to_owned(), why)),
        }
    }
    Found::Runtimes(runtimes, unknown)
}

//! Sends the parts of a spool, oldest first, one after the other, however long the store is away. A part leaves the spool when the
//! store has it.

use crate::error::DepotError;
use crate::open::DepotOptions;
use crate::spool::Spool;
use crate::store::{Depot, PutOutcome};
use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How the uploader tries again.
#[derive(Clone, Copy, Debug)]
pub struct UploadOptions {
    /// The pause after the first failure; each further one doubles it.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

impl Default for UploadOptions {
    fn default() -> UploadOptions {
        UploadOptions { first_pause: Duration::from_secs(1), longest_pause: Duration::from_secs(300) }
    }
}

impl UploadOptions {
    /// The pause after so many failures in a row: between half and all of it, so that not all agents come back at once.
    fn pause(&self, failures: u32) -> Duration {
        let doubled = self.first_pause.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let most = doubled.min(self.longest_pause);
        most.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// What the uploader has done since it was started.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct UploadState {
    /// Parts uploaded.
    pub uploaded: u64,
    /// Their bytes.
    pub uploaded_bytes: u64,
    /// Of them those that were there already: the answer to an upload before was lost.
    pub repeated: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// What keeps it from uploading now.
    pub problem: Option<String>,
    /// How far our clock is ahead of the server's.
    pub clock_skew_ns: Option<i64>,
}

type Shared = Arc<Mutex<UploadState>>;

fn change(state: &Shared, change: impl FnOnce(&mut UploadState)) {
    change(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
}

/// A thread that uploads beside the agent.
pub struct Uploader {
    state: Shared,
    wake: watch::Sender<Wish>,
    thread: Option<JoinHandle<()>>,
}

/// What is wanted of the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Wish {
    /// Changes when parts have come.
    nudges: u64,
    /// To be gone by then.
    stop: Option<Instant>,
}

impl Uploader {
    /// Starts to upload what is in the spool, and what comes. `say` is told each new problem once, and when it is over.
    ///
    /// # Errors
    /// Where no thread can be made.
    pub fn start(
        spool: Arc<Spool>,
        url: &str,
        depot: &DepotOptions,
        options: UploadOptions,
        say: impl Fn(&str) + Send + 'static,
    ) -> std::io::Result<Uploader> {
        let state = Shared::default();
        let (wake, wishes) = watch::channel(Wish::default());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build()?;
        // The pauses here are longer than those of the library, and know when to stop.
        let depot = DepotOptions { retries: 0, ..depot.clone() };
        let mut run = Run {
            spool,
            url: url.to_string(),
            depot,
            options,
            store: None,
            state: state.clone(),
            wishes,
            failed: 0,
        };
        let thread = std::thread::Builder::new()
            .name("uploader".to_string())
            .spawn(move || runtime.block_on(async { run.forever(&say).await }))?;
        Ok(Uploader { state, wake, thread: Some(thread) })
    }

    /// Says that parts have come.
    pub fn nudge(&self) {
        self.wake.send_modify(|wish| wish.nudges += 1);
    }

    /// What it has done.
    pub fn state(&self) -> UploadState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it: what waits is sent for at most `patience`, and the rest stays in the spool for the next start.
    pub fn stop(mut self, patience: Duration) -> UploadState {
        self.end(patience);
        self.state()
    }

    fn end(&mut self, patience: Duration) {
        self.wake.send_modify(|wish| wish.stop = Some(Instant::now() + patience));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Uploader {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(Duration::ZERO);
        }
    }
}

/// What one step came to.
enum Step {
    Sent,
    /// The part made place for others meanwhile: that says nothing about the store.
    Gone,
    /// None waits.
    Nothing,
}

struct Run {
    spool: Arc<Spool>,
    url: String,
    depot: DepotOptions,
    options: UploadOptions,
    store: Option<Depot>,
    state: Shared,
    wishes: watch::Receiver<Wish>,
    /// Failures in a row.
    failed: u32,
}

impl Run {
    async fn forever(&mut self, say: &dyn Fn(&str)) {
        let mut told = None;
        loop {
            let Wish { stop, .. } = *self.wishes.borrow_and_update();
            if stop.is_some_and(|stop| Instant::now() >= stop) {
                return;
            }
            let Some(sent) = self.unless_stopped().await else { return };
            match sent {
                Ok(Step::Gone) => {}
                Ok(Step::Sent) => {
                    self.failed = 0;
                    if told.take().is_some() {
                        say("the store takes parts again");
                    }
                }
                Ok(Step::Nothing) if stop.is_some() => return,
                Ok(Step::Nothing) => drop(self.wishes.changed().await),
                Err(error) => {
                    self.failed = self.failed.saturating_add(1);
                    let problem = error.to_string();
                    // The words change from try to try (how long it took, which part): it is one problem.
                    let kind = Some(std::mem::discriminant(&error));
                    if told != kind {
                        say(&problem);
                        told = kind;
                    }
                    change(&self.state, |state| {
                        state.failures += 1;
                        state.problem = Some(problem);
                    });
                    self.rest().await;
                }
            }
        }
    }

    /// One part more; `None` where the patience ended before.
    async fn unless_stopped(&mut self) -> Option<Result<Step, DepotError>> {
        let mut wishes = self.wishes.clone();
        let ended = async move {
            loop {
                let stop = wishes.borrow_and_update().stop;
                match stop {
                    Some(stop) => return tokio::time::sleep_until(stop.into()).await,
                    None if wishes.changed().await.is_err() => return,
                    None => {}
                }
            }
        };
        tokio::select! {
            sent = self.one() => Some(sent),
            () = ended => None,
        }
    }

    /// Waits after a failure; new parts are no reason to try sooner, the wish to stop is.
    async fn rest(&mut self) {
        let until = tokio::time::Instant::now() + self.options.pause(self.failed);
        loop {
            if self.wishes.borrow_and_update().stop.is_some() {
                // A few more tries while there is patience.
                return tokio::time::sleep_until(
                    until.min(tokio::time::Instant::now() + self.options.first_pause),
                )
                .await;
            }
            tokio::select! {
                () = tokio::time::sleep_until(until) => return,
                changed = self.wishes.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Sends the oldest part.
    async fn one(&mut self) -> Result<Step, DepotError> {
        let Some(name) = self.spool.oldest() else { return Ok(Step::Nothing) };
        if self.store.is_none() {
            self.store = Some(Depot::open(&self.url, &self.depot)?);
        }
        let Some(store) = &self.store else { return Ok(Step::Nothing) };
        let sent = send(&self.spool, store, &name).await;
        change(&self.state, |state| state.clock_skew_ns = store.clock_skew_ns());
        let Some((outcome, bytes)) = sent? else { return Ok(Step::Gone) };
        change(&self.state, |state| {
            state.uploaded += 1;
            state.uploaded_bytes += bytes;
            state.repeated += u64::from(outcome == PutOutcome::AlreadyThere);
            state.problem = None;
        });
        Ok(Step::Sent)
    }
}

/// Sends one part; `None` where it is not in the spool any more.
async fn send(
    spool: &Spool,
    store: &Depot,
    name: &whyslow_parts::PartName,
) -> Result<Option<(PutOutcome, u64)>, DepotError> {
    let bytes = match spool.read(name) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            spool.done(name);
            return Ok(None);
        }
        // A disk that cannot be read may be mended; the parts behind wait, so that their order is kept.
        Err(error) => {
            return Err(DepotError::Away { url: store.url().to_string(), reason: error.to_string() });
        }
    };
    let length = bytes.len() as u64;
    match store.create(name, bytes.into()).await {
        Ok(outcome) => {
            spool.done(name);
            Ok(Some((outcome, length)))
        }
        Err(error @ DepotError::Other { .. }) => {
            // It will never be taken, and the others must not wait for it.
            spool.lose(name);
            Err(error)
        }
        Err(error) => Err(error),
    }
}

/// Sends all that waits now, once: how many parts and bytes.
///
/// # Errors
/// At the first part that the store does not take: it and those after it stay in the spool.
pub async fn upload_all(spool: &Spool, store: &Depot) -> Result<UploadState, DepotError> {
    let mut state = UploadState::default();
    while let Some(name) = spool.oldest() {
        if let Some((outcome, bytes)) = send(spool, store, &name).await? {
            state.uploaded += 1;
            state.uploaded_bytes += bytes;
            state.repeated += u64::from(outcome == PutOutcome::AlreadyThere);
        }
    }
    state.clock_skew_ns = store.clock_skew_ns();
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let options = UploadOptions::default();
        for (failures, seconds) in [(1, 1), (2, 2), (5, 16), (9, 256), (10, 300), (4_000_000, 300)] {
            let pause = options.pause(failures);
            assert!(pause <= Duration::from_secs(seconds), "{failures}: {pause:?}");
            assert!(pause >= Duration::from_secs(seconds) / 2, "{failures}: {pause:?}");
        }
    }
}

//! The thread that takes windows from their folder, adds them to the sums, and gives them to each outlet.

use crate::error::OutletError;
use crate::handover::{Handover, Wants};
use crate::outlets::{OUTLETS, Outlet, OutletSettings};
use crate::sums::{AgentFigures, OutletSums};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often figures of the outlets are looked at where no window comes.
const LOOK: Duration = Duration::from_secs(10);
/// Notes that wait to be said at most.
const MOST_NOTES: usize = 32;

/// What the thread is told.
enum Order {
    /// A window may be there.
    Look,
    /// Send what waits, no longer than until then, and end.
    End(Instant),
}

/// The outlets that are open.
pub struct Outlets {
    sums: Arc<Mutex<OutletSums>>,
    notes: Arc<Mutex<Vec<String>>>,
    orders: SyncSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Outlets {
    /// Opens those that the settings name, for windows that are handed over below `state`. One that cannot be opened is said by
    /// [`Outlets::notes`], and the others go on.
    pub fn start(state: &Path, settings: &OutletSettings, figures: AgentFigures) -> Outlets {
        let sums = Arc::new(Mutex::new(OutletSums::new(settings.series as usize)));
        locked(&sums).see_agent(figures);
        let notes = Arc::new(Mutex::new(Vec::new()));
        let (orders, ordered) = sync_channel(1);
        let mut outlets = Outlets { sums, notes, orders, thread: None };
        let folder = Handover::at(state);
        if !settings.is_any_on() {
            folder.close();
            return outlets;
        }
        match outlets.open(folder, settings, ordered) {
            Ok(thread) => outlets.thread = Some(thread),
            Err(error) => note(&outlets.notes, OutletError::Run(error).to_string()),
        }
        outlets
    }

    fn open(
        &self,
        folder: Handover,
        settings: &OutletSettings,
        ordered: Receiver<Order>,
    ) -> io::Result<JoinHandle<()>> {
        folder.open(Wants { stacks: OUTLETS.iter().any(|kind| (kind.wants_stacks)(settings)) })?;
        let mut open: Vec<Box<dyn Outlet>> = Vec::new();
        for result in OUTLETS.iter().flat_map(|kind| (kind.open)(settings, &self.sums)) {
            match result {
                Ok(outlet) => open.push(outlet),
                Err(error) => note(&self.notes, error.to_string()),
            }
        }
        let mut work = Work { folder, outlets: open, sums: self.sums.clone(), notes: self.notes.clone() };
        std::thread::Builder::new().name("whyslow-outlets".to_string()).spawn(move || work.run(&ordered))
    }

    /// A window was told.
    pub fn look(&self) {
        // Where it is looked for already, this is one more reason to.
        let _ = self.orders.try_send(Order::Look);
    }

    /// What the agent says of itself now.
    pub fn see(&self, figures: AgentFigures) {
        locked(&self.sums).see_agent(figures);
    }

    /// What is to be said, once.
    pub fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.notes))
    }

    /// Sends what waits, no longer than that, and ends.
    pub fn finish(&mut self, longest: Duration) {
        let Some(thread) = self.thread.take() else { return };
        let until = Instant::now() + longest;
        if self.orders.send(Order::End(until)).is_ok() {
            let _ = thread.join();
        }
    }
}

impl Drop for Outlets {
    fn drop(&mut self) {
        self.finish(Duration::ZERO);
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(notes: &Mutex<Vec<String>>, text: String) {
    let mut notes = locked(notes);
    if notes.len() < MOST_NOTES {
        notes.push(text);
    }
}

struct Work {
    folder: Handover,
    outlets: Vec<Box<dyn Outlet>>,
    sums: Arc<Mutex<OutletSums>>,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Work {
    fn run(&mut self, ordered: &Receiver<Order>) {
        loop {
            self.take_windows();
            self.look_at_outlets();
            match ordered.recv_timeout(LOOK) {
                Ok(Order::Look) | Err(RecvTimeoutError::Timeout) => {}
                Ok(Order::End(until)) => {
                    self.take_windows();
                    self.outlets.iter_mut().for_each(|outlet| outlet.close(until));
                    return self.look_at_outlets();
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn take_windows(&mut self) {
        let (waiting, gone) = self.folder.waiting();
        locked(&self.sums).windows_dropped(gone);
        for path in waiting {
            let window = match Handover::take(&path) {
                Ok(window) => window,
                Err(error) => {
                    locked(&self.sums).windows_dropped(1);
                    note(&self.notes, format!("outlets were not given a window: {error}"));
                    continue;
                }
            };
            let mut sums = locked(&self.sums);
            sums.take(&window);
            self.outlets.iter_mut().for_each(|outlet| outlet.take(&window, &sums));
        }
    }

    fn look_at_outlets(&mut self) {
        let mut sums = locked(&self.sums);
        sums.see_outlets(self.outlets.iter().map(|outlet| (outlet.name(), outlet.counts())));
        for outlet in &mut self.outlets {
            outlet.notes().into_iter().for_each(|text| note(&self.notes, text));
        }
    }
}

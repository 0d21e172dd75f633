//! The loop of the screen: it waits for what happens (a key, a sample, an answer, a signal, room on the line), and draws when
//! something did. Nothing changes on the screen that did not change in fact, and nobody is woken for nothing.

use super::about::Recorder;
use super::action::Action;
use super::app::App;
use super::asleep::Sleepers;
use super::draw::{self, Looks};
use super::happening::{Answer, Happening};
use super::keys;
use super::look::Look;
use super::place::Place;
use super::terminal::Terminal;
use crate::status::Status;
use anyhow::{Context, bail};
use ratatui::crossterm::event;
use rustix::event::{PollFd, PollFlags, poll};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};
use whyslow_host::{Sampler, own_cpu};

/// Looking more often than this costs more than it tells.
pub(super) const SHORTEST: Duration = Duration::from_millis(100);
/// An hour: longer is another tool's work.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);
/// The first rates are over so long.
const FIRST: Duration = Duration::from_millis(300);
/// Until it is looked again for a key that the library has overlooked.
const OVERLOOKED: Duration = Duration::from_millis(50);
/// Nobody sees us: as a shell tells the end by SIGHUP.
const GONE: Status = Status::Command(128 + SIGHUP as u8);
/// Happenings on their way: whoever sends more waits.
const WAITING: usize = 256;

/// Shows the host until somebody ends it.
pub(super) fn watch(sampler: Sampler, interval: Duration, app: App, looks: Looks) -> anyhow::Result<Status> {
    let input = input()?;
    let (tell, happenings) = mpsc::sync_channel(WAITING);
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])
        .context("signals cannot be taken")?;
    let (ask, asked) = mpsc::channel();
    let terminal = Terminal::open(tell.clone()).context("the terminal cannot be drawn on")?;
    spawn("sampler", &tell, move |tell| sample(sampler, &asked, tell))?;
    spawn("input", &tell, move |tell| read(&input, tell))?;
    spawn("signals", &tell, move |tell| {
        for signal in signals.forever() {
            if tell.send(Happening::Signal(signal)).is_err() {
                return;
            }
        }
    })?;
    let mut watch = Watch {
        app,
        interval,
        looks,
        terminal,
        place: Place::default(),
        recorder: Recorder::new(tell),
        changed: true,
        ask,
        is_asked: false,
        due: Instant::now() + FIRST,
    };
    let result = watch.run(&happenings);
    let Watch { terminal, recorder, .. } = watch;
    // Before the recordings are waited for: the shell's line is there at once.
    drop(terminal);
    for remark in recorder.end() {
        let _ = writeln!(std::io::stderr(), "whyslow: {}", crate::output::plain(&remark));
    }
    result
}

/// Where keys come from: standard input where that is a terminal, else the terminal that we belong to.
fn input() -> anyhow::Result<OwnedFd> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(stdin.as_fd().try_clone_to_owned()?);
    }
    let tty = File::open("/dev/tty")
        .context("no terminal gives keys\nnext: whyslow top --once, with --json for scripts")?;
    Ok(tty.into())
}

/// A thread whose panic ends the screen, in good order.
fn spawn(
    name: &'static str,
    tell: &SyncSender<Happening>,
    body: impl FnOnce(&SyncSender<Happening>) + Send + 'static,
) -> anyhow::Result<()> {
    let tell = tell.clone();
    let run = move || {
        if catch_unwind(AssertUnwindSafe(|| body(&tell))).is_err() {
            // Nobody listens any more when the screen is closed.
            let _ = tell.send(Happening::Broken(name));
        }
    };
    std::thread::Builder::new().name(name.to_string()).spawn(run).context("a thread cannot be started")?;
    Ok(())
}

/// Looks whenever it is asked to, which was due at that time. The sample before the first has levels, and rates since boot.
fn sample(mut sampler: Sampler, asked: &Receiver<Instant>, tell: &SyncSender<Happening>) {
    sampler.sample();
    let mut before = own_cpu();
    let mut sleepers = Sleepers::default();
    let mut is_first = true;
    while let Ok(due) = asked.recv() {
        let late = due.elapsed();
        let sample = sampler.sample();
        let used = super::since(before);
        before = own_cpu();
        let mut look = Look { late, is_first, ..Look::of(sample, used) };
        sleepers.tell(&mut look);
        is_first = false;
        if tell.send(Happening::Look(Box::new(look))).is_err() {
            return;
        }
    }
}

/// Reads keys. A terminal that is gone is seen here: the library would read nothing again and again.
fn read(input: &OwnedFd, tell: &SyncSender<Happening>) {
    let gone = |tell: &SyncSender<Happening>| drop(tell.send(Happening::TerminalGone));
    loop {
        let mut files = [PollFd::new(input, PollFlags::IN)];
        match poll(&mut files, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return gone(tell),
            Ok(_) if files[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) => {
                return gone(tell);
            }
            Ok(_) => {}
        }
        let mut is_read = false;
        while let Ok(true) = event::poll(Duration::ZERO) {
            is_read = true;
            let Ok(event) = event::read() else { return gone(tell) };
            if tell.send(Happening::Event(event)).is_err() {
                return;
            }
        }
        if !is_read {
            // A key at the very moment of a change of size: the library (crossterm 0.29) was told of both, took one, and
            // reads the key when the next one comes.
            std::thread::sleep(OVERLOOKED);
        }
    }
}

struct Watch {
    app: App,
    interval: Duration,
    looks: Looks,
    terminal: Terminal,
    place: Place,
    recorder: Recorder,
    changed: bool,
    ask: Sender<Instant>,
    is_asked: bool,
    due: Instant,
}

impl Watch {
    fn run(&mut self, happenings: &Receiver<Happening>) -> anyhow::Result<Status> {
        loop {
            if self.changed && self.terminal.is_ready() {
                let interval = in_words(self.interval);
                let Watch { terminal, app, place, looks, .. } = self;
                terminal.draw(|frame| *place = draw::draw(frame, app, &interval, *looks))?;
                self.changed = false;
            }
            let first = match self.wait() {
                None => happenings.recv().ok(),
                Some(time) => match happenings.recv_timeout(time) {
                    Ok(happening) => Some(happening),
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => None,
                },
            };
            let Some(first) = first else { bail!("nothing happens any more: a fault of whyslow") };
            // All that is there before it is drawn once: a held key, a wheel.
            let more = happenings.try_iter().take(WAITING);
            for happening in std::iter::once(first).chain(more) {
                if let Some(status) = self.take(happening)? {
                    return Ok(status);
                }
            }
        }
    }

    /// Asks for a look where one is due; how long until the next one is, where none is under way. While the line takes
    /// nothing there is no look at all: nobody would see it.
    fn wait(&mut self) -> Option<Duration> {
        if self.is_asked || !self.terminal.is_ready() {
            return None;
        }
        let now = Instant::now();
        if self.due > now {
            return Some(self.due - now);
        }
        self.is_asked = self.ask.send(self.due).is_ok();
        self.due += self.interval;
        if self.due < now {
            self.due = now + self.interval;
        }
        None
    }

    /// Takes one happening; the status where it ends us.
    fn take(&mut self, happening: Happening) -> anyhow::Result<Option<Status>> {
        match happening {
            Happening::Event(event) => {
                self.changed = true;
                if let Some(action) = keys::action(&event, self.app.typing, &self.place) {
                    return self.act(&action);
                }
            }
            Happening::Look(look) => {
                self.is_asked = false;
                self.changed |= self.app.see(*look);
            }
            Happening::Answer(answer) => {
                self.changed = true;
                match answer {
                    Answer::Table { pid, view, table } => self.app.fill(pid, view, table),
                    Answer::Remark(remark) => self.app.remark = remark,
                }
            }
            Happening::Signal(SIGTSTP) => self.terminal.suspend()?,
            Happening::Signal(SIGCONT) => {
                // The kernel sends it on a hang-up too.
                if self.terminal.enter().is_err() {
                    return Ok(Some(GONE));
                }
                self.changed = true;
            }
            Happening::Signal(SIGWINCH) => self.changed = true,
            Happening::Signal(SIGINT) => return Ok(Some(Status::Done)),
            Happening::Signal(signal) => return Ok(Some(Status::Command(128 + signal as u8))),
            Happening::Written => {}
            Happening::TerminalGone => return Ok(Some(GONE)),
            Happening::Broken(name) => bail!("the thread `{name}` ended: a fault of whyslow"),
        }
        Ok(None)
    }

    /// Carries an action out; the status where it is the end.
    fn act(&mut self, action: &Action) -> anyhow::Result<Option<Status>> {
        self.app.act(action);
        match action {
            Action::Quit => return Ok(Some(Status::Done)),
            Action::Suspend => self.terminal.suspend()?,
            Action::Redraw => self.terminal.clear()?,
            Action::Interval(by) => {
                let new = if *by < 0 { self.interval / 2 } else { self.interval * 2 };
                self.interval = new.clamp(SHORTEST, LONGEST);
                self.due = self.due.min(Instant::now() + self.interval);
            }
            Action::About(view) => {
                if let Some((pid, name)) = self.app.process()
                    && self.app.ask(pid, name, view)
                {
                    self.recorder.ask(pid, view);
                }
            }
            Action::Record => {
                if let Some((pid, name)) = self.app.process() {
                    self.app.remark = self.recorder.keep(pid, &name);
                }
            }
            _ => {}
        }
        Ok(None)
    }
}

/// `1 s`, `500 ms`.
fn in_words(interval: Duration) -> String {
    match interval.as_millis() {
        ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
        ms => format!("{ms} ms"),
    }
}

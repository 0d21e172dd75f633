//! The terminal while the screen is up: taken, given back on every way out (an end, an error, a panic, a stop), and written
//! to by a thread of its own, so that a line that is slow or stuck holds nothing else up.

use super::happening::Happening;
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::style::{Print, ResetColor};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{execute, queue};
use signal_hook::consts::SIGTSTP;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Presses and the wheel, with positions in decimal (xterm's modes 1000 and 1006): not each move of the mouse, which would
/// be a message a cell over ssh.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// How long a line that takes nothing is waited for when the screen ends.
const PATIENCE: Duration = Duration::from_secs(1);

/// What panicked while the screen was up; it is told when the screen is down, for it would be lost on it.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
static UP: AtomicBool = AtomicBool::new(false);

/// The terminal, ours until it is dropped.
pub(super) struct Terminal {
    drawn: ratatui::Terminal<CrosstermBackend<Line>>,
    unwritten: Arc<AtomicUsize>,
    up: bool,
}

impl Terminal {
    /// Takes the terminal. What becomes of the writing is told to `tell`.
    ///
    /// # Errors
    /// If it cannot be written to, or has no raw mode.
    pub(super) fn open(tell: SyncSender<Happening>) -> io::Result<Terminal> {
        keep_panics();
        let unwritten = Arc::new(AtomicUsize::new(0));
        // Not by the `Stdout` of the library: its lock would be held by a write that is stuck.
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let (frames, to_write) = mpsc::channel();
        let left = Arc::clone(&unwritten);
        std::thread::Builder::new()
            .name("terminal".to_string())
            .spawn(move || write_all(stdout, &to_write, &left, &tell))?;
        let line = Line { frame: Vec::new(), frames, unwritten: Arc::clone(&unwritten) };
        let drawn = ratatui::Terminal::new(CrosstermBackend::new(line))?;
        let mut terminal = Terminal { drawn, unwritten, up: false };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Takes the terminal again, after [`Terminal::suspend`] or after another stop: whoever had it meanwhile may have
    /// changed its modes.
    ///
    /// # Errors
    /// As for [`Terminal::open`].
    pub(super) fn enter(&mut self) -> io::Result<()> {
        // The library sets the mode only where it thinks that it is not set. In the background this stops us, as it should.
        disable_raw_mode()?;
        enable_raw_mode()?;
        UP.store(true, Ordering::Relaxed);
        self.up = true;
        execute!(self.drawn.backend_mut(), EnterAlternateScreen, Hide, Print(MOUSE_ON))?;
        self.clear()
    }

    /// True where the last frame has left, so that another may follow. What is not drawn meanwhile is never missed: the next
    /// frame has it.
    pub(super) fn is_ready(&self) -> bool {
        self.up && self.unwritten.load(Ordering::Acquire) == 0
    }

    /// Draws what changed.
    ///
    /// # Errors
    /// If the size of the terminal is not to be had.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.drawn.draw(draw).map(|_| ())
    }

    /// Draws all anew the next time.
    ///
    /// # Errors
    /// As for [`Terminal::draw`].
    pub(super) fn clear(&mut self) -> io::Result<()> {
        // Its `clear` would ask the terminal where the cursor is, and wait for the answer.
        let size = self.drawn.size()?;
        self.drawn.resize(size.into())
    }

    /// Gives the terminal back and stops this process, as Ctrl-Z does elsewhere. Who continues us sends SIGCONT: then
    /// comes [`Terminal::enter`].
    ///
    /// # Errors
    /// If the signal is refused.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        self.leave();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)
    }

    fn leave(&mut self) {
        if !self.up {
            return;
        }
        self.up = false;
        // A terminal that is gone takes nothing, and needs nothing.
        let out = self.drawn.backend_mut();
        let _ =
            queue!(out, Print(MOUSE_OFF), ResetColor, LeaveAlternateScreen, Show).and_then(|()| out.flush());
        let until = Instant::now() + PATIENCE;
        while self.unwritten.load(Ordering::Acquire) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = disable_raw_mode();
        UP.store(false, Ordering::Relaxed);
        for said in SAID.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = writeln!(io::stderr(), "{}", crate::output::plain(&said));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Keeps what a panic says until the screen is down.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if UP.load(Ordering::Relaxed) {
                SAID.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
            } else {
                others(info);
            }
        }));
    });
}

/// Collects a frame, and hands it to the thread that writes.
struct Line {
    frame: Vec<u8>,
    frames: Sender<Vec<u8>>,
    unwritten: Arc<AtomicUsize>,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        self.unwritten.fetch_add(1, Ordering::AcqRel);
        if self.frames.send(std::mem::take(&mut self.frame)).is_err() {
            // The thread has said so. No error here: ratatui would print it, onto the terminal that is gone.
            self.unwritten.fetch_sub(1, Ordering::AcqRel);
        }
        Ok(())
    }
}

fn write_all(
    mut stdout: File,
    frames: &Receiver<Vec<u8>>,
    unwritten: &AtomicUsize,
    tell: &SyncSender<Happening>,
) {
    for frame in frames {
        let written = stdout.write_all(&frame);
        unwritten.fetch_sub(1, Ordering::AcqRel);
        match written {
            // Where there is no room for the message, others are on their way and wake as well.
            Ok(()) => drop(tell.try_send(Happening::Written)),
            Err(_) => {
                // Nobody listens any more when the screen is closed.
                let _ = tell.send(Happening::TerminalGone);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::pty::Pty;
    use std::process::Command;

    const IN_PTY: &str = "WHYSLOW_TEST_IN_PTY";

    /// Runs itself on a terminal of its own, and panics there.
    #[test]
    fn a_panic_gives_the_terminal_back_and_is_told_after() {
        if std::env::var_os(IN_PTY).is_some() {
            let (tell, _happenings) = mpsc::sync_channel(8);
            let mut terminal = Terminal::open(tell).expect("a terminal");
            terminal.draw(|_| panic!("for the test")).expect("no error");
        }
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        let name = "top::terminal::tests::a_panic_gives_the_terminal_back_and_is_told_after";
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(IN_PTY, "1");
        // Of a terminal that nobody has changed: this one's may be set before it is looked at.
        let modes = Pty::start(&Command::new("true"), 80, 24).modes();
        let mut pty = Pty::start(&command, 80, 24);
        assert!(!pty.end().success());
        pty.wait_until_written("what panicked is told", |text| text.contains("for the test"));
        let text = String::from_utf8_lossy(&pty.written).into_owned();
        let end = text.find("\x1b[?1049l").expect("the other screen ends");
        let told = text.find("for the test").expect("what panicked is told");
        assert!(text[..end].contains("\x1b[?1000l") && end < told, "{text:?}");
        assert_eq!(pty.modes(), modes);
    }
}

//! A program on a terminal of its own, for tests: its keys, its screen, its signals. The screen understands what crossterm
//! writes: places, text, clearing.

// Two test programs share it, and neither uses all.
#![allow(dead_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// For what must come, on however slow a machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program on a terminal.
pub(crate) struct Pty {
    /// The other end of its terminal; `None` once it is hung up.
    master: Option<File>,
    /// Kept open, so that its modes can be asked for when the program has ended.
    slave: File,
    child: Child,
    /// All that was written so far.
    pub(crate) written: Vec<u8>,
    screen: Screen,
}

impl Pty {
    /// Starts `command` as the leader of a session on a new terminal of that size.
    pub(crate) fn start(command: &Command, columns: u16, rows: u16) -> Pty {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).expect("rights to it");
        unlockpt(&master).expect("it opens");
        let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("plain letters");
        let slave = File::options().read(true).write(true).open(name).expect("its other end");
        // setsid(1) makes it the controlling terminal, and becomes the program.
        let mut started = Command::new("setsid");
        started.arg("--ctty").arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => started.env(name, value),
                None => started.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            started.current_dir(folder);
        }
        let end = || Stdio::from(slave.try_clone().expect("a copy"));
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&slave, size).expect("a size");
        let child =
            started.stdin(end()).stdout(end()).stderr(end()).spawn().expect("setsid(1) of util-linux");
        Pty {
            master: Some(master.into()),
            slave,
            child,
            written: Vec::new(),
            screen: Screen::new(columns, rows),
        }
    }

    /// The program's number.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The modes of the terminal.
    pub(crate) fn modes(&self) -> String {
        let Termios { input_modes, output_modes, local_modes, .. } = tcgetattr(&self.slave).expect("modes");
        format!("{input_modes:?} {output_modes:?} {local_modes:?}")
    }

    /// Types.
    pub(crate) fn keys(&mut self, keys: &str) {
        let master = self.master.as_mut().expect("it is not hung up");
        master.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Changes the size of the terminal; the kernel sends SIGWINCH.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(self.master.as_ref().expect("it is not hung up"), size).expect("a size");
        self.screen = Screen::new(columns, rows);
    }

    /// Reads what comes, at most that long; how many bytes came. While nobody calls this, the line is stuck.
    pub(crate) fn read_for(&mut self, time: Duration) -> usize {
        let until = Instant::now() + time;
        let before = self.written.len();
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if self.read_once(left).is_none() {
                break;
            }
        }
        self.written.len() - before
    }

    /// `None` when the program's end is closed.
    fn read_once(&mut self, time: Duration) -> Option<()> {
        let master = self.master.as_mut()?;
        let timeout = Timespec::try_from(time).expect("a short time");
        let mut files = [PollFd::from_borrowed_fd(master.as_fd(), PollFlags::IN)];
        if poll(&mut files, Some(&timeout)).expect("poll") > 0 {
            let mut bytes = [0; 16 * 1024];
            let count = master.read(&mut bytes).ok().filter(|count| *count > 0)?;
            self.written.extend_from_slice(&bytes[..count]);
            self.screen.take(&bytes[..count]);
        }
        Some(())
    }

    /// Waits until the screen shows that; panics with the screen where it does not come.
    pub(crate) fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as wanted.
    pub(crate) fn wait_until(&mut self, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen.text();
            if is_there(&screen) {
                return;
            }
            assert!(Instant::now() < until, "no `{what}` on the screen:\n{screen}");
            self.read_for(Duration::from_millis(20));
        }
    }

    /// Waits until what was written so far is as wanted; it comes from the kernel some time after it was written.
    pub(crate) fn wait_until_written(&mut self, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = String::from_utf8_lossy(&self.written).into_owned();
            if is_there(&text) {
                return;
            }
            assert!(Instant::now() < until, "{what}: {text:?}");
            self.read_for(Duration::from_millis(20));
        }
    }

    /// Reads until nothing came for half a second.
    pub(crate) fn settle(&mut self) {
        let until = Instant::now() + PATIENCE;
        while self.read_for(Duration::from_millis(500)) > 0 {
            assert!(Instant::now() < until, "it goes on writing");
        }
    }

    /// The screen as text.
    pub(crate) fn text(&self) -> String {
        self.screen.text()
    }

    /// Waits for the end while it reads what comes; panics where the program does not end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.ended(|pty| {
            pty.read_for(Duration::from_millis(20));
        })
    }

    /// The same on a terminal that takes nothing any more.
    pub(crate) fn end_unread(&mut self) -> ExitStatus {
        self.ended(|_| std::thread::sleep(Duration::from_millis(20)))
    }

    /// Types that again and again until the screen is as wanted.
    pub(crate) fn wait_by(&mut self, keys: &str, what: &str, is_there: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_there(&self.screen.text()) {
            assert!(Instant::now() < until, "no `{what}` on the screen:\n{}", self.screen.text());
            self.keys(keys);
            self.read_for(Duration::from_millis(200));
        }
    }

    /// Types that again and again until it ends.
    pub(crate) fn end_by(&mut self, keys: &str) -> ExitStatus {
        self.ended(|pty| {
            pty.keys(keys);
            pty.read_for(Duration::from_millis(200));
        })
    }

    fn ended(&mut self, meanwhile: impl Fn(&mut Pty)) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return status;
            }
            assert!(Instant::now() < until, "it does not end");
            meanwhile(self);
        }
    }

    /// The line is cut: the kernel sends SIGHUP.
    pub(crate) fn hang_up(&mut self) {
        self.master = None;
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it is there");
    }

    /// Its state, a letter as in /proc, and the CPU time that it used so far, in ticks.
    pub(crate) fn state_and_cpu(&self) -> (char, u64) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("it is there");
        let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
        let ticks = |at: usize| fields[at].parse::<u64>().expect("ticks");
        (fields[0].chars().next().expect("a state"), ticks(11) + ticks(12))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a terminal shows.
struct Screen {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Bytes of a sequence or a letter that has not come whole.
    begun: Vec<u8>,
}

impl Screen {
    fn new(columns: u16, rows: u16) -> Screen {
        let cells = vec![vec![' '; columns.into()]; rows.into()];
        Screen { cells, row: 0, column: 0, begun: Vec::new() }
    }

    fn text(&self) -> String {
        let lines: Vec<String> =
            self.cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_string()).collect();
        lines.join("\n")
    }

    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.begun.push(byte);
            if self.begun[0] == 0x1b {
                let is_end = match self.begun.as_slice() {
                    [_] | [_, b'['] => false,
                    [_, b'[', .., last] => (0x40..=0x7e).contains(last),
                    _ => true,
                };
                if is_end {
                    let sequence = String::from_utf8_lossy(&std::mem::take(&mut self.begun)).into_owned();
                    self.carry_out(&sequence);
                }
            } else if let Ok(text) = std::str::from_utf8(&self.begun) {
                let letter = text.chars().next().expect("a letter");
                self.begun.clear();
                self.put(letter);
            } else if self.begun.len() > 4 {
                self.begun.clear();
            }
        }
    }

    fn carry_out(&mut self, sequence: &str) {
        let inner = sequence.trim_start_matches("\x1b[");
        let Some(last) = inner.chars().last() else { return };
        let mut numbers =
            inner[..inner.len() - 1].split(';').map(|number| number.parse::<usize>().unwrap_or(1));
        match last {
            'H' => {
                self.row = numbers.next().unwrap_or(1).saturating_sub(1);
                self.column = numbers.next().unwrap_or(1).saturating_sub(1);
            }
            'J' => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
    }

    fn put(&mut self, letter: char) {
        match letter {
            '\r' => self.column = 0,
            '\n' => self.row += 1,
            _ => {
                let cell = self.cells.get_mut(self.row).and_then(|line| line.get_mut(self.column));
                if let Some(cell) = cell {
                    *cell = letter;
                }
                self.column += 1;
            }
        }
    }
}

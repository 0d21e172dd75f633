//! One process and all that it starts: what it writes is kept, its time is bounded, and nothing of it outlives it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpgid, kill_process, kill_process_group, pidfd_open};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The variable in the environment of all that a run starts. What left the group of its test is found by it.
const VARIABLE: &str = "WHYSLOW_TEST_RUN";
/// Between being asked to end and being killed, for what has to be taken down again.
const GRACE: Duration = Duration::from_secs(3);
/// Of an endless output this much is kept of the beginning, and as much of the end.
const KEPT: usize = 1 << 20;
/// How often a process that waits sees that the run is to stop.
const GLANCE: Duration = Duration::from_millis(200);

/// What marks the processes of one run, or of one test of it: a path, so that what a test's own runs start is the test's too.
#[derive(Debug)]
pub(crate) struct Mark(String);

/// Between the parts of a mark; no test has it in its name.
const SEPARATOR: char = '\u{1}';

impl Mark {
    pub(crate) fn of_this_run() -> Mark {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let own = format!("{}-{}", std::process::id(), now.as_nanos());
        Mark(std::env::var(VARIABLE).map_or(own.clone(), |outer| format!("{outer}{SEPARATOR}{own}")))
    }

    /// Marks a command as one of the run.
    pub(crate) fn put_on(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    fn of_test(&self, name: &str) -> Mark {
        Mark(format!("{}{SEPARATOR}{name}", self.0))
    }

    /// Kills all that has the mark, until there is none (they may be starting others).
    pub(crate) fn kill_all(&self) {
        self.kill_beside(None);
    }

    /// [`Mark::kill_all`]; the commands of those that were not of `group`, as `ps` names them.
    fn kill_beside(&self, group: Option<Pid>) -> Vec<String> {
        let mut killed: Vec<(Pid, String)> = Vec::new();
        for _ in 0..20 {
            let found = self.processes();
            if found.is_empty() {
                break;
            }
            for (pid, name) in found {
                // What is of the group has been killed and may take a moment to die.
                let is_outside = group.is_none() || getpgid(Some(pid)).ok() != group;
                // One that takes its time to die is found again.
                let is_new = !killed.iter().any(|(known, _)| *known == pid);
                if kill_process(pid, Signal::KILL).is_ok() && is_outside && is_new {
                    killed.push((pid, name));
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        killed.into_iter().map(|(_, name)| name).collect()
    }

    fn is_on(&self, environment: &[u8]) -> bool {
        environment.split(|&byte| byte == 0).any(|variable| {
            let value = variable.strip_prefix(VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            let rest = value.and_then(|value| value.strip_prefix(self.0.as_bytes()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(SEPARATOR.to_string().as_bytes()))
        })
    }

    /// Processes with the mark, and their names. A dead one has no environment.
    fn processes(&self) -> Vec<(Pid, String)> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(pid) = number.and_then(Pid::from_raw) else { continue };
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if self.is_on(&environment) && pid != rustix::process::getpid() {
                let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
                found.push((pid, name.trim().to_string()));
            }
        }
        found
    }
}

/// How a process ended.
#[derive(Debug)]
pub(crate) enum End {
    Exited(ExitStatus),
    /// It was killed: its time was over.
    TimedOut,
    /// It was killed: the run was stopped.
    Stopped,
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    /// Standard output and standard error, as they came.
    pub(crate) output: String,
    pub(crate) took: Duration,
    /// Processes that it left behind, outside of its group.
    pub(crate) left: Vec<String>,
}

/// Runs `command` as the test `name`, at most for `limit`.
pub(crate) fn run(
    mut command: Command,
    name: &str,
    limit: Duration,
    mark: &Mark,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let start = Instant::now();
    let mark = mark.of_test(name);
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&reader, true)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let mut child = command.env(VARIABLE, &mark.0).spawn()?;
    // It holds our ends of the pipe for writing.
    drop(command);
    let group = Pid::from_child(&child);
    let alive = pidfd_open(group, PidfdFlags::empty())?;
    let mut output = Output::default();
    let mut killed = None;
    loop {
        let mut waited_for =
            [PollFd::new(&alive, PollFlags::IN), PollFd::from_borrowed_fd(reader.as_fd(), PollFlags::IN)];
        // Once all that can write has ended the pipe is always ready: only the end is left to wait for.
        let waited_for = if output.is_whole { &mut waited_for[..1] } else { &mut waited_for[..] };
        let time = Timespec { tv_sec: 0, tv_nsec: GLANCE.as_nanos() as i64 };
        match poll(waited_for, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_ended = !waited_for[0].revents().is_empty();
        output.read_from(&reader);
        if has_ended {
            break;
        }
        killed = killed.or_else(|| {
            let is_stopped = stop.load(Ordering::Relaxed);
            let is_late = start.elapsed() > limit;
            (is_stopped || is_late).then(|| {
                let _ = kill_process_group(group, Signal::TERM);
                (Instant::now(), if is_late { End::TimedOut } else { End::Stopped })
            })
        });
        if killed.as_ref().is_some_and(|(when, _)| when.elapsed() > GRACE) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
    // Before it is waited for: so long the number of the group is its own.
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait()?;
    let left = mark.kill_beside(Some(group));
    output.read_from(&reader);
    Ok(Ended {
        end: killed.map_or(End::Exited(status), |(_, end)| end),
        output: output.text(),
        took: start.elapsed(),
        left,
    })
}

/// What a process wrote: all of it, or beginning and end.
#[derive(Default)]
struct Output {
    begin: Vec<u8>,
    end: Vec<u8>,
    is_cut: bool,
    /// Nobody can write to it any more.
    is_whole: bool,
}

impl Output {
    fn read_from(&mut self, mut reader: impl Read) {
        let mut piece = [0; 1 << 14];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => self.is_whole = true,
                Ok(length) => {
                    self.push(&piece[..length]);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Nothing there at the moment.
                Err(_) => {}
            }
            return;
        }
    }

    fn push(&mut self, piece: &[u8]) {
        let (begin, end) = piece.split_at(piece.len().min(KEPT - self.begin.len()));
        self.begin.extend(begin);
        self.end.extend(end);
        if self.end.len() > 2 * KEPT {
            self.end.drain(..self.end.len() - KEPT);
            self.is_cut = true;
        }
    }

    fn text(self) -> String {
        let cut = if self.is_cut { "\n[… the middle of the output is not kept …]\n" } else { "" };
        [&String::from_utf8_lossy(&self.begin), cut, &String::from_utf8_lossy(&self.end)].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn of_shell(script: &str, limit_ms: u64) -> Ended {
        let mark = Mark::of_this_run();
        run(shell(script), "a/test", Duration::from_millis(limit_ms), &mark, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn both_outputs_are_kept_in_order() {
        let ended = of_shell("echo one; echo two >&2; echo three; exit 3", 10_000);
        assert_eq!(ended.output, "one\ntwo\nthree\n");
        assert!(matches!(ended.end, End::Exited(status) if status.code() == Some(3)), "{ended:?}");
        assert!(ended.left.is_empty());
    }

    #[test]
    fn an_endless_output_is_cut_in_the_middle() {
        let ended = of_shell("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last", 20_000);
        assert!(ended.output.starts_with("first\n") && ended.output.ends_with("\nlast\n"));
        assert!(ended.output.len() < 4 * KEPT && ended.output.contains("not kept"));
    }

    /// Whether a process whose words are `sleep SECONDS` is there.
    fn sleeps(seconds: &str) -> bool {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let words = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            words == format!("sleep\0{seconds}\0")
        })
    }

    #[test]
    fn what_forks_is_killed_with_all_its_children_when_its_time_is_over() {
        // One child in the group, one that left it, and nobody who reacts to being asked.
        let seconds = format!("{}.25", 100_000 + std::process::id());
        let script = format!("trap '' TERM; sleep {seconds} & setsid sleep {seconds} & wait; wait");
        let ended = of_shell(&script, 300);
        assert!(matches!(ended.end, End::TimedOut), "{ended:?}");
        assert!(ended.took >= Duration::from_millis(300) && ended.took < GRACE * 3, "{ended:?}");
        assert_eq!(ended.left, ["sleep"]);
        assert!(!sleeps(&seconds));
    }

    #[test]
    fn what_a_test_leaves_behind_is_killed_and_does_not_hold_it_up() {
        let seconds = format!("{}.75", 100_000 + std::process::id());
        let ended =
            of_shell(&format!("sleep {seconds} & setsid sleep {seconds} & sleep 0.2; echo done"), 60_000);
        assert!(matches!(ended.end, End::Exited(status) if status.success()), "{ended:?}");
        assert!(ended.took < Duration::from_secs(30));
        assert_eq!(ended.output, "done\n");
        assert!(!sleeps(&seconds));
    }

    #[test]
    fn a_run_that_is_stopped_stops_its_tests() {
        let stop = AtomicBool::new(true);
        let ended =
            run(shell("sleep 60"), "a/test", Duration::from_secs(60), &Mark::of_this_run(), &stop).unwrap();
        assert!(matches!(ended.end, End::Stopped) && ended.took < Duration::from_secs(30), "{ended:?}");
    }
}

//! In what processes sleep: the kernel function that each waits in (/proc/PID/wchan), in a word. The kernel counts no time for
//! such sleeps: a word tells of the moment of the look.

use super::look::{Look, Task};
use std::collections::HashMap;
use std::fs;
use whyslow_model::{Metric, Tid};

/// Processes that are asked in one look: each is a call that makes the kernel walk a stack (about 5 µs).
const MOST: usize = 128;
/// One that did nothing is asked again in one of so many looks.
const EVERY: u64 = 5;

/// Kernel functions by how their names begin, without leading underscores, and what is waited for there.
const SLEEPS: &[(&str, &str)] = &[
    ("locks_lock_inode_wait", FILE_LOCK),
    ("flock_lock_inode_wait", FILE_LOCK),
    ("posix_lock_inode_wait", FILE_LOCK),
    ("fcntl_setlk", FILE_LOCK),
    ("futex", "futex"),
    ("inet_csk_accept", "clients"),
    ("inet_csk_wait_for_connect", "clients"),
    ("unix_accept", "clients"),
    ("ep_poll", "events"),
    ("do_epoll_wait", "events"),
    ("poll_schedule_timeout", "events"),
    ("do_poll", "events"),
    ("do_sys_poll", "events"),
    ("do_select", "events"),
    ("io_cqring_wait", "events"),
    ("read_events", "events"),
    ("sk_wait_data", "socket"),
    ("sk_stream_wait", "socket"),
    ("skb_wait_for_more_packets", "socket"),
    ("skb_recv", "socket"),
    ("tcp_", "socket"),
    ("inet_wait_for_connect", "connect"),
    ("inet_stream_connect", "connect"),
    ("unix_stream", "socket"),
    ("unix_wait_for_peer", "socket"),
    ("anon_pipe", "pipe"),
    ("pipe_", "pipe"),
    ("fifo_open", "pipe"),
    ("hrtimer_nanosleep", "timer"),
    ("do_nanosleep", "timer"),
    ("common_nsleep", "timer"),
    ("do_wait", "child"),
    ("kernel_wait4", "child"),
    ("n_tty_read", "terminal"),
    ("do_sigtimedwait", "signal"),
    ("sigsuspend", "signal"),
    ("do_sigsuspend", "signal"),
    ("do_signal_stop", "stopped"),
    ("fuse_", "FUSE"),
    ("request_wait_answer", "FUSE"),
    ("rpc_wait", "NFS"),
    ("nfs_", "NFS"),
];
const FILE_LOCK: &str = "file lock";
/// Terminals and TCP sockets sleep in the same function: the descriptor of the call tells them apart.
const WOKEN: &str = "wait_woken";

/// What is known of sleepers from one look to the next.
#[derive(Default)]
pub(super) struct Sleepers {
    known: HashMap<Tid, Known>,
    looks: u64,
}

struct Known {
    word: Option<&'static str>,
    seen: u64,
}

impl Sleepers {
    /// Tells of the sleeping processes of a look what they sleep in.
    pub(super) fn tell(&mut self, look: &mut Look) {
        self.looks += 1;
        let mut left = MOST;
        for task in look.processes.iter_mut().filter(|task| is_sleeper(task)) {
            let known = self.known.get_mut(&task.pid);
            let did_something = task.cpu().is_none_or(|cpu| cpu > 0.0);
            let due = did_something || (self.looks + u64::from(task.pid)).is_multiple_of(EVERY);
            task.asleep = match known {
                Some(known) if !due || left == 0 => {
                    known.seen = self.looks;
                    known.word
                }
                None if left == 0 => None,
                _ => {
                    left -= 1;
                    let word = ask(task.pid);
                    self.known.insert(task.pid, Known { word, seen: self.looks });
                    word
                }
            };
        }
        let now = self.looks;
        self.known.retain(|_, known| known.seen == now);
    }
}

/// Kernel threads have no memory of their own, and sleep until they are wanted.
fn is_sleeper(task: &Task) -> bool {
    task.state() == "S" && task.row.get(Metric::Rss).is_some_and(|rss| rss > 0.0)
}

fn ask(pid: Tid) -> Option<&'static str> {
    let wchan = fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?;
    if wchan.trim() == WOKEN { by_descriptor(pid) } else { word(wchan.trim()) }
}

/// What is waited for in that kernel function; `None` for those that no word is known of.
fn word(wchan: &str) -> Option<&'static str> {
    let bare = wchan.trim_start_matches('_');
    SLEEPS.iter().find(|(begins, _)| bare.starts_with(begins)).map(|(_, word)| *word)
}

/// By the first argument of the call that it is in (proc(5): the call's number, then its arguments in hexadecimal).
fn by_descriptor(pid: Tid) -> Option<&'static str> {
    let call = fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    let first = call.split(' ').nth(1)?.strip_prefix("0x")?;
    let fd = u64::from_str_radix(first, 16).ok()?;
    let path = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    let path = path.to_string_lossy();
    match path.strip_prefix("/dev/") {
        _ if path.starts_with("socket:") => Some("socket"),
        Some(device) if ["tty", "pts", "console"].iter().any(|of| device.starts_with(of)) => Some("terminal"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::look::tests::{look, task};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn functions_of_kernels_old_and_new() {
        for (wchan, told) in [
            ("futex_do_wait", Some("futex")),
            ("futex_wait_queue_me", Some("futex")),
            ("poll_schedule_timeout.constprop.0", Some("events")),
            ("anon_pipe_read", Some("pipe")),
            ("__skb_wait_for_more_packets", Some("socket")),
            ("locks_lock_inode_wait", Some("file lock")),
            ("do_wait", Some("child")),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(word(wchan), told, "{wchan}");
        }
    }

    /// A child of ours that waits for what we never write.
    #[test]
    fn a_sleeper_is_told_what_it_sleeps_in() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat runs");
        let mut sleepers = Sleepers::default();
        let until = Instant::now() + Duration::from_secs(20);
        let asleep = loop {
            let mut look = look(
                Vec::new(),
                vec![task(child.id(), 1, "cat", &[(Metric::Rss, 1e6)]), task(1, 0, "init", &[])],
            );
            sleepers.tell(&mut look);
            // One without memory of its own is not asked.
            assert_eq!(look.processes[1].asleep, None);
            if look.processes[0].asleep.is_some() || Instant::now() > until {
                break look.processes[0].asleep;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        child.kill().and_then(|()| child.wait()).expect("a child of ours");
        // Where another's stack may not be looked at (a container), nothing is told.
        assert!(matches!(asleep, Some("pipe" | "socket") | None), "{asleep:?}");
        assert_eq!(sleepers.known.len(), 1);
        sleepers.tell(&mut look(Vec::new(), Vec::new()));
        assert!(sleepers.known.is_empty());
    }
}

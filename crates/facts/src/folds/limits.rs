//! Calls refused because there were too many open descriptors.

use crate::exemplar::Exemplars;
use crate::pattern::pattern_of;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use crate::{Fold, When};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Errno, Syscall, Timestamp};

/// The refused calls of one process.
#[derive(Debug)]
pub struct Refused {
    /// The process.
    pub process: ProcessId,
    /// EMFILE (the process's limit) or ENFILE (the system's).
    pub errno: Errno,
    /// The calls.
    pub calls: CallStats,
    /// Of these, accept: clients that are not served.
    pub accepts: u64,
    /// The call that was refused first.
    pub syscall: Syscall,
    /// The thread that was refused first.
    pub tid: Tid,
    /// The file that was refused first, its numbers as a pattern; `None` where the calls name none.
    pub path: Option<String>,
    /// The first.
    pub first: Timestamp,
    /// The last.
    pub last: Timestamp,
    /// Descriptors known to be open at the first refusal.
    pub open: u64,
    /// What most of these lead to, the most frequent first.
    pub open_to: Vec<(String, u64)>,
    /// Lines.
    pub lines: Exemplars,
}

/// Refusals by process and error. Bounded: a host has one limit a process, and only processes at theirs count.
#[derive(Debug, Default)]
pub struct LimitRefusals {
    refused: Vec<Refused>,
}

impl LimitRefusals {
    const MAX_ROWS: usize = 256;

    /// The processes that were refused, the most often refused first.
    pub fn refused(&self) -> Vec<&Refused> {
        let mut rows: Vec<_> = self.refused.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.calls.count));
        rows
    }

    #[cold]
    fn refused_call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let known = |row: &Refused| row.process == seen.process && row.errno == call.errno;
        let at = match self.refused.iter().position(known) {
            Some(at) => at,
            None if self.refused.len() >= Self::MAX_ROWS => return,
            None => {
                let (open, open_to) = open_now(seen.process, world);
                self.refused.push(Refused {
                    process: seen.process,
                    errno: call.errno,
                    calls: CallStats::default(),
                    accepts: 0,
                    syscall: call.syscall,
                    tid: call.tid,
                    path: None,
                    first: call.ts,
                    last: call.ts,
                    open,
                    open_to,
                    lines: Exemplars::default(),
                });
                self.refused.len() - 1
            }
        };
        let row = &mut self.refused[at];
        row.calls.record(call.dur, true, 0);
        row.accepts += matches!(call.syscall, Syscall::ACCEPT | Syscall::ACCEPT4) as u64;
        row.last = call.ts;
        if let (None, Some(file)) = (&row.path, seen.file) {
            row.path = Some(pattern_of(&world.files.get(file).path).into_owned());
        }
        row.lines.see(call);
    }
}

/// How many descriptors of `process` are known to be open, and what most lead to.
fn open_now(process: ProcessId, world: &World) -> (u64, Vec<(String, u64)>) {
    let mut targets: HashMap<String, u64> = HashMap::new();
    let mut open = 0;
    for (_, id) in world.threads.process(process).slots.iter() {
        open += 1;
        let Some(life) = world.fds.get(id) else { continue };
        let target = match (life.peer(), life.target(world)) {
            (Some(peer), _) if life.origin == crate::Origin::Accept => {
                format!("clients at {}", crate::folds::peers::host_of(peer))
            }
            (Some(peer), _) => peer.to_string(),
            (None, Some(path)) => pattern_of(&path).into_owned(),
            (None, None) => format!("{} (unknown end)", life.kind.word()),
        };
        *targets.entry(target).or_default() += 1;
    }
    let mut targets: Vec<(String, u64)> = targets.into_iter().collect();
    targets.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    targets.truncate(3);
    (open, targets)
}

impl Fold for LimitRefusals {
    fn wants(&self, syscall: Syscall) -> bool {
        const MAKE_DESCRIPTORS: &[&str] = &[
            "accept",
            "accept4",
            "creat",
            "dup",
            "dup2",
            "dup3",
            "epoll_create",
            "epoll_create1",
            "eventfd",
            "eventfd2",
            "fcntl",
            "fcntl64",
            "inotify_init",
            "inotify_init1",
            "memfd_create",
            "open",
            "openat",
            "openat2",
            "pipe",
            "pipe2",
            "signalfd",
            "signalfd4",
            "socket",
            "socketpair",
            "timerfd_create",
        ];
        MAKE_DESCRIPTORS.contains(&syscall.info().name)
    }

    fn when(&self, _: Syscall) -> When {
        When::Failed
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if matches!(seen.call.errno, Errno::EMFILE | Errno::ENFILE) {
            self.refused_call(seen, world);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Ret, Sink};

    #[test]
    fn the_file_that_was_refused_is_known() {
        let mut facts = Facts::default();
        let refused = Call {
            tid: 1,
            ret: Ret::Value(-1),
            errno: Errno::EMFILE,
            ..Call::new("openat", r#"AT_FDCWD, "/srv/in/part-7.txt", O_RDONLY"#)
        };
        facts.push(Event::Call(&refused));
        facts.finish();
        assert_eq!(facts.limits.refused()[0].path.as_deref(), Some("/srv/in/part-{n}.txt"));
    }

    #[test]
    fn the_first_refusal_tells_what_is_open() {
        let mut facts = Facts::default();
        let accept = r#"3, {sa_family=AF_INET, sin_port=htons(4000), sin_addr=inet_addr("10.0.0.9")}, [16]"#;
        for fd in 4..20 {
            facts.push(Event::Call(&Call { tid: 1, ret: Ret::Value(fd), ..Call::new("accept", accept) }));
        }
        for _ in 0..5 {
            let refused = Call {
                tid: 1,
                ret: Ret::Value(-1),
                errno: Errno::EMFILE,
                ..Call::new("accept", "3, NULL, NULL")
            };
            facts.push(Event::Call(&refused));
        }
        facts.finish();
        let rows = facts.limits.refused();
        assert_eq!((rows.len(), rows[0].calls.count, rows[0].accepts), (1, 5, 5));
        assert_eq!(rows[0].open_to[0], ("clients at 10.0.0.9".to_string(), 16));
    }
}

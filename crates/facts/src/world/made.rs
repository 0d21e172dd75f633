//! Calls that make descriptors without a path: sockets, pipes, epoll, eventfd.

use super::*;

impl World {
    pub(super) fn on_other(&mut self, seen: &mut Seen<'_>) {
        let call = seen.call;
        match call.syscall {
            Syscall::SOCKET => self.made(seen, sockets::kind_of_socket_args(call.args), Origin::Socket),
            Syscall::EPOLL_CREATE | Syscall::EPOLL_CREATE1 => {
                self.made(seen, FdKind::Epoll, Origin::Anonymous)
            }
            Syscall::EVENTFD | Syscall::EVENTFD2 => self.made(seen, FdKind::Event, Origin::Anonymous),
            Syscall::TIMERFD_CREATE => self.made(seen, FdKind::Timer, Origin::Anonymous),
            Syscall::SIGNALFD | Syscall::SIGNALFD4 => self.made(seen, FdKind::Signal, Origin::Anonymous),
            Syscall::INOTIFY_INIT | Syscall::INOTIFY_INIT1 => {
                self.made(seen, FdKind::Inotify, Origin::Anonymous)
            }
            Syscall::PIDFD_OPEN | Syscall::IO_URING_SETUP | Syscall::USERFAULTFD => {
                self.made(seen, FdKind::Anonymous, Origin::Anonymous);
            }
            // Of a mapping only whose it is: it neither reads nor writes.
            Syscall::MMAP | Syscall::MMAP2 => {
                let fd = call.arg(4).and_then(text::descriptor).filter(|(fd, _)| *fd >= 0);
                let life = fd.and_then(|(fd, _)| self.threads.process(seen.process).slots.get(fd));
                seen.file = life.and_then(|life| self.fds.get_mut(life)?.file);
            }
            Syscall::PIPE | Syscall::PIPE2 => self.made_pair(seen, 0, FdKind::Pipe),
            Syscall::SOCKETPAIR => self.made_pair(seen, 3, sockets::kind_of_socket_args(call.args)),
            Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK => self.cloned(seen),
            Syscall::CLOSE_RANGE => {
                let from = call.arg(0).and_then(text::number);
                let to = call.arg(1).and_then(text::number);
                if let (Some(from), Some(to), false) =
                    (from, to, call.failed() || contains(call.args, b"CLOSE_RANGE_CLOEXEC"))
                {
                    for life in self.threads.process_mut(seen.process).slots.take_range(from, to) {
                        self.unref(life, call.ts);
                    }
                }
            }
            Syscall::GETCWD => {
                if let Some((path, false)) = text::quoted(call.args).filter(|_| !call.failed()) {
                    self.threads.process_mut(seen.process).cwd = Some(text::lossy(path).into());
                }
            }
            _ => {}
        }
    }

    pub(super) fn made(&mut self, seen: &mut Seen<'_>, kind: FdKind, origin: Origin) {
        if let Some(fd) = seen.call.ok().and_then(|ret| i32::try_from(ret).ok()) {
            let life = FdLife::new(seen.process, fd, kind, origin);
            self.open_life(seen, fd, life, contains(seen.call.args, b"CLOEXEC"));
        }
    }

    /// `pipe2([3, 4], O_CLOEXEC)`, `socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4])`.
    pub(super) fn made_pair(&mut self, seen: &mut Seen<'_>, arg: usize, kind: FdKind) {
        if seen.call.ok() != Some(0) {
            return;
        }
        let Some(pair) = seen.call.arg(arg).and_then(|text| text.strip_prefix(b"[")) else {
            return;
        };
        let cloexec = contains(seen.call.args, b"CLOEXEC");
        let mut first = None;
        for fd in text::arguments(pair).filter_map(text::descriptor).map(|(fd, _)| fd).take(2) {
            let life = FdLife::new(seen.process, fd, kind, Origin::Pair);
            self.open_life(seen, fd, life, cloexec);
            match (first, seen.life) {
                (Some(one), Some(other)) => self.join_ends(one, other),
                (_, made) => first = made,
            }
        }
    }

    fn join_ends(&mut self, one: LifeId, other: LifeId) {
        for (end, far) in [(one, other), (other, one)] {
            if let Some(life) = self.fds.get_mut(end) {
                life.other_end = Some(far);
            }
        }
    }
}

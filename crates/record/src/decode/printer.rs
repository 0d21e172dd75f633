//! One call being printed: finds its memory, and hands each argument to what prints its kind.

use super::arg::Arg;
use super::constants;
use super::put::Put;
use super::table::Row;
use super::{Names, PrintOptions, data, files, process, signals, sockets, times, waits};
use crate::raw::{MemoryPiece, RawCall, RawFlags, pieces};

/// What a printer of an argument works with.
pub(super) struct Printer<'c> {
    /// The text of the arguments.
    pub(super) out: &'c mut Vec<u8>,
    /// The text behind the result.
    pub(super) note: &'c mut Vec<u8>,
    /// Room for a reduced payload.
    pub(super) reduced: &'c mut Vec<u8>,
    pub(super) call: &'c RawCall<'c>,
    pub(super) row: &'static Row,
    pub(super) names: &'c dyn Names,
    pub(super) options: &'c PrintOptions,
}

impl<'c> Printer<'c> {
    /// Prints all arguments, and behind the result what they say of it.
    pub(super) fn arguments(&mut self) {
        for (n, arg) in self.row.args.iter().enumerate() {
            let before = self.out.len();
            if before > 0 {
                self.out.put(", ");
            }
            let start = self.out.len();
            self.argument(n, *arg);
            if self.out.len() == start {
                self.out.truncate(before);
            }
        }
        // Several arguments may have added to one note.
        if !self.note.is_empty() {
            self.note.put(")");
        }
    }

    /// Prints one argument; nothing where the others say that there is none.
    #[inline]
    fn argument(&mut self, n: usize, arg: Arg) {
        let value = self.call.args[n];
        match arg {
            Arg::Unused => {}
            Arg::Fd => self.fd(value as i32),
            Arg::DirFd => self.directory(value as i32),
            Arg::Path => self.path(n),
            Arg::Text => self.text(n),
            Arg::Signed32 => self.out.signed(value as i32 as i64),
            Arg::Signed => self.out.signed(value as i64),
            Arg::Unsigned32 => self.out.unsigned(value as u32 as u64),
            Arg::Unsigned => self.out.unsigned(value),
            Arg::Hex => self.out.hex(value),
            Arg::Id => match value as u32 {
                u32::MAX => self.out.put("-1"),
                id => self.out.unsigned(id as u64),
            },
            Arg::Pointer => self.out.pointer(value),
            Arg::Mode => self.out.octal(value as u32 as u64),
            Arg::Flags(table) => table.flags(value as u32 as u64, self.out),
            Arg::Flags64(table) => table.flags(value, self.out),
            Arg::Constant(table) => table.constant(value as u32 as u64, self.out),
            Arg::IpcCreate(table) => files::flags_and_mode(table, value as u32, self.out),
            Arg::IpcKey => match value as u32 {
                0 => self.out.put("IPC_PRIVATE"),
                key => self.out.hex(key as u64),
            },
            Arg::ReturnedPath => data::returned_path(self, n),
            Arg::ReturnedText => data::returned_text(self, n),
            Arg::OpenFlags => files::open_flags(value as u32, self.out),
            Arg::OpenMode => files::open_mode(self, n),
            Arg::FileMode => files::mode(value as u32, self.out),
            Arg::Device => files::device_argument(self, n),
            Arg::OpenHow => files::open_how(self, n),
            Arg::Stat => self.structure(n, files::stat),
            Arg::Statx => self.structure(n, files::statx),
            Arg::StatxFlags => files::statx_flags(value as u32, self.out),
            Arg::Statfs => self.structure(n, files::statfs),
            Arg::MountData => self.text(n),
            Arg::Entries => data::entries(self, n),
            Arg::OffsetPointer => self.structure(n, data::number_in_brackets),
            Arg::OffsetMoved | Arg::LengthMoved => data::moved(self, n),
            Arg::NumberPointer(_) => self.structure(n, data::number_in_brackets),
            Arg::IoctlCommand => files::ioctl_command(value as u32, self.out),
            Arg::IoctlArgument => files::ioctl_argument(self, n),
            Arg::FcntlArgument => files::fcntl_argument(self, n),
            Arg::FdPair => data::fd_pair(self, n),
            Arg::ReadData => data::read(self, n),
            Arg::WrittenData(length) => data::written(self, n, self.call.args[length as usize]),
            Arg::ReadBuffers => data::buffers(self, n, true),
            Arg::WrittenBuffers => data::buffers(self, n, false),
            Arg::MessageSent => sockets::message(self, n, false),
            Arg::MessageReceived => sockets::message(self, n, true),
            Arg::MessagesSent => sockets::messages(self, n, false),
            Arg::MessagesReceived => sockets::messages(self, n, true),
            Arg::Address => self.structure(n, sockets::address),
            Arg::SocketType => sockets::socket_type(value as u32, self.out),
            Arg::Protocol => sockets::protocol(self.call.args[0] as u32, value as u32, self.out),
            Arg::SocketOption => {
                sockets::option_name(self.call.args[1] as u32, value as u32, self.out);
            }
            Arg::SocketValue => sockets::option_value(self, n),
            Arg::MapFlags => files::map_flags(value as u32, self.out),
            Arg::MremapTarget => {
                // MREMAP_FIXED, MREMAP_DONTUNMAP
                if self.call.args[3] & 6 != 0 {
                    self.out.pointer(value);
                }
            }
            Arg::Timespec => self.structure(n, times::timespec),
            Arg::TimespecLeft => times::left(self, n),
            Arg::TimespecMoved => times::moved(self, n, times::timespec),
            Arg::TimevalMoved => times::moved(self, n, times::timeval),
            Arg::Timespecs => self.structure(n, times::timespecs),
            Arg::Timeval => self.structure(n, times::timeval),
            Arg::Timevals => self.structure(n, times::timevals),
            Arg::TimerSpec => self.structure(n, times::timer_spec),
            Arg::TimerValue => self.structure(n, times::timer_value),
            Arg::Signal => signals::signal(value as u32, self.out),
            Arg::SigSet => self.structure(n, signals::set),
            Arg::SigSetPair => self.structure(n, signals::set_pair),
            Arg::SigAction => self.structure(n, signals::action),
            Arg::SigInfo => self.structure(n, signals::info),
            Arg::SigStack => self.structure(n, signals::stack),
            Arg::SigEvent => self.structure(n, signals::event),
            Arg::PollFds => waits::poll_fds(self, n),
            Arg::FdSet => waits::fd_set(self, n),
            Arg::EpollEvent => waits::epoll_event_argument(self, n),
            Arg::EpollEvents => waits::epoll_events(self, n),
            Arg::FutexRest => waits::futex_rest(self, n),
            Arg::SemaphoreOperations => self.structure(n, waits::semaphore_operations),
            Arg::Clone => process::clone(self),
            Arg::CloneArguments => process::clone_arguments(self, n),
            Arg::Strings => data::strings(self, n),
            Arg::Environment => data::environment(self, n),
            Arg::WaitStatus => process::wait_status(self, n),
            Arg::Usage => self.structure(n, process::usage),
            Arg::Limits => self.structure(n, process::limits),
            Arg::CpuSet => self.structure(n, process::cpu_set),
            Arg::SchedulingParam => self.structure(n, process::scheduling_param),
            Arg::Groups => process::groups(self, n),
            Arg::Uname => self.structure(n, process::uname),
            Arg::Sysinfo => self.structure(n, process::sysinfo),
            Arg::Times => self.structure(n, process::cpu_times),
            Arg::CapabilityHeader => self.structure(n, process::capability_header),
            Arg::CapabilityData => self.structure(n, process::capability_data),
            Arg::PrctlArgument => process::prctl_argument(self, n),
            Arg::PrctlRest => process::prctl_rest(self, n),
            Arg::SyslogAction => process::syslog_action(value as u32, self.out),
            Arg::UringParams => self.structure(n, waits::uring_params),
        }
    }

    /// The pieces of the program's memory.
    pub(super) fn pieces(&self) -> impl Iterator<Item = MemoryPiece<'c>> + use<'c> {
        pieces(self.call.memory)
    }

    /// Part `part` of what argument `n` points to, as the program handed it over where that is kept.
    pub(super) fn part(&self, n: usize, part: u8) -> Option<MemoryPiece<'c>> {
        self.pieces().find(|piece| piece.arg as usize == n && piece.part == part && !piece.fault)
    }

    /// What argument `n` points to, as the program handed it over where that is kept.
    pub(super) fn first(&self, n: usize) -> Option<&'c [u8]> {
        self.part(n, 0).map(|piece| piece.bytes)
    }

    /// What argument `n` points to, as the kernel left it.
    pub(super) fn last(&self, n: usize) -> Option<&'c [u8]> {
        self.pieces()
            .filter(|piece| piece.arg as usize == n && piece.part == 0 && !piece.fault)
            .last()
            .map(|piece| piece.bytes)
    }

    /// True where the call returned, and no error.
    pub(super) fn succeeded(&self) -> bool {
        !self.call.flags.contains(RawFlags::NO_EXIT) && !(-4095..0).contains(&self.call.ret)
    }

    /// What it returned, where it succeeded.
    pub(super) fn returned(&self) -> Option<u64> {
        self.succeeded().then_some(self.call.ret as u64)
    }

    /// Prints the address in argument `n`.
    pub(super) fn address(&mut self, n: usize) {
        self.out.pointer(self.call.args[n]);
    }

    /// Prints what argument `n` points to by `print`, which says whether the bytes were enough; else its address.
    pub(super) fn structure(&mut self, n: usize, print: fn(&[u8], &mut Vec<u8>) -> Option<()>) {
        let start = self.out.len();
        if let Some(bytes) = self.first(n) {
            if print(bytes, self.out).is_some() {
                return;
            }
            self.out.truncate(start);
        }
        self.address(n);
    }

    /// A descriptor, with its name where names are shown.
    pub(super) fn fd(&mut self, fd: i32) {
        self.out.signed(fd as i64);
        fd_name(self.names, self.options, self.call.pid, fd, self.out);
    }

    /// A directory descriptor.
    pub(super) fn directory(&mut self, fd: i32) {
        if fd == libc::AT_FDCWD {
            self.out.put("AT_FDCWD");
            fd_name(self.names, self.options, self.call.pid, fd, self.out);
        } else {
            self.fd(fd);
        }
    }

    /// A path, whole.
    fn path(&mut self, n: usize) {
        match self.part(n, 0) {
            Some(piece) => self.out.quoted(piece.bytes, piece.cut),
            None => self.address(n),
        }
    }

    /// A string, cut at the limit.
    pub(super) fn text(&mut self, n: usize) {
        match self.part(n, 0) {
            Some(piece) => {
                let shown = piece.bytes.len().min(self.options.string_limit);
                self.out.quoted(&piece.bytes[..shown], piece.cut || shown < piece.bytes.len());
            }
            None => self.address(n),
        }
    }
}

/// `<name>` behind a descriptor, where names are shown and it has one.
pub(super) fn fd_name(names: &dyn Names, options: &PrintOptions, pid: u32, fd: i32, out: &mut Vec<u8>) {
    if !options.fd_names {
        return;
    }
    if let Some(name) = names.fd(pid, fd) {
        out.put("<");
        out.escaped(name.as_bytes());
        out.put(">");
    }
}

/// `u16` at `at` of a struct.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// `u32` at `at` of a struct.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// `u64` at `at` of a struct.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Names a signal, or prints its number.
pub(super) fn constant_or_number(table: &constants::Table, value: u32, out: &mut Vec<u8>) {
    match table.name(value as u64) {
        Some(name) => out.put(name),
        None => out.signed(value as i32 as i64),
    }
}

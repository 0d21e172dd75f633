//! Each argument of a call, handed to what prints its kind.

use super::arg::Arg;
use super::printer::Printer;
use super::put::Put;
use super::{data, files, process, signals, sockets, times, waits};

impl Printer<'_> {
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
}

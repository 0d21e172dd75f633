//! The kinds of arguments: what an argument is decides how it is printed.

use super::constants::ValueTable;

/// What one argument of a syscall is. Where it points to memory and that was not kept or not readable, the address
/// is printed, as strace does; for payload an empty string with `...` behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A register that does not count (the upper half of an offset).
    Unused,
    /// A descriptor: `3`, with names `3</etc/passwd>`.
    Fd,
    /// A directory: a descriptor or `AT_FDCWD`.
    DirFd,
    /// A path, whole.
    Path,
    /// A string, cut at the limit for strings.
    Text,
    /// A path that the kernel wrote, its NUL counted in the result (`getcwd`).
    ReturnedPath,
    /// A path that the kernel wrote, as long as the result says (`readlink`).
    ReturnedText,
    /// 32 bits with a sign.
    Signed32,
    /// 64 bits with a sign.
    Signed,
    /// 32 bits.
    Unsigned32,
    /// 64 bits.
    Unsigned,
    /// 64 bits in hexadecimal.
    Hex,
    /// A user or group; -1 is "leave as it is".
    Id,
    /// An address that is not looked behind.
    Pointer,
    /// Access bits: `0644`.
    Mode,
    /// Flags, 32 bits.
    Flags(&'static ValueTable),
    /// Flags, 64 bits.
    Flags64(&'static ValueTable),
    /// One of some values, 32 bits.
    Constant(&'static ValueTable),
    /// Flags with access bits below them (`shmget`).
    IpcCreate(&'static ValueTable),
    /// Key of a System V object.
    IpcKey,
    /// Flags of `open`.
    OpenFlags,
    /// Access bits of `open`: there only where the flags create a file.
    OpenMode,
    /// Type and access bits of a file.
    FileMode,
    /// A device: there only where the file is one.
    Device,
    /// `struct open_how`.
    OpenHow,
    /// `struct stat`.
    Stat,
    /// `struct statx`.
    Statx,
    /// Flags of `statx`.
    StatxFlags,
    /// `struct statfs`.
    Statfs,
    /// Data of a mount.
    MountData,
    /// Directory entries.
    Entries,
    /// An offset in memory.
    OffsetPointer,
    /// An offset in memory that the call moves on.
    OffsetMoved,
    /// Command of `ioctl`.
    IoctlCommand,
    /// Argument of `ioctl`.
    IoctlArgument,
    /// Argument of `fcntl`.
    FcntlArgument,
    /// Two descriptors that the kernel made.
    FdPair,
    /// A number of so many bytes in memory.
    NumberPointer(u8),
    /// Data that the kernel wrote.
    ReadData,
    /// Data of the program, its length in the argument of that number.
    WrittenData(u8),
    /// Buffers that the kernel filled.
    ReadBuffers,
    /// Buffers of the program.
    WrittenBuffers,
    /// `struct msghdr` that is sent.
    MessageSent,
    /// `struct msghdr` that is received.
    MessageReceived,
    /// An array of `struct mmsghdr` that is sent.
    MessagesSent,
    /// An array of `struct mmsghdr` that is received.
    MessagesReceived,
    /// A socket address.
    Address,
    /// A length in memory that the kernel changes.
    LengthMoved,
    /// Type of a socket with its flags.
    SocketType,
    /// Protocol of a socket: depends on the family.
    Protocol,
    /// Name of a socket option: depends on the level.
    SocketOption,
    /// Value of a socket option.
    SocketValue,
    /// Type and flags of a mapping.
    MapFlags,
    /// New address of `mremap`: there only where the flags ask for it.
    MremapTarget,
    /// `struct timespec`.
    Timespec,
    /// `struct timespec` of the time left: written only where a signal ended the call.
    TimespecLeft,
    /// `struct timespec` that the kernel changes to the time left.
    TimespecMoved,
    /// Two of them: access and modification.
    Timespecs,
    /// `struct timeval`.
    Timeval,
    /// `struct timeval` that the kernel changes to the time left.
    TimevalMoved,
    /// Two of them: access and modification.
    Timevals,
    /// `struct itimerspec`.
    TimerSpec,
    /// `struct itimerval`.
    TimerValue,
    /// A signal.
    Signal,
    /// A set of signals.
    SigSet,
    /// Address and size of a set of signals, in memory (`pselect6`).
    SigSetPair,
    /// The kernel's `struct sigaction`.
    SigAction,
    /// `siginfo_t`.
    SigInfo,
    /// `stack_t`.
    SigStack,
    /// `struct sigevent`.
    SigEvent,
    /// An array of `struct pollfd`.
    PollFds,
    /// A set of descriptors.
    FdSet,
    /// `struct epoll_event`.
    EpollEvent,
    /// An array of them that the kernel wrote.
    EpollEvents,
    /// What follows the operation of `futex`.
    FutexRest,
    /// All arguments of `clone`, which strace prints in another order.
    Clone,
    /// `struct clone_args`.
    CloneArguments,
    /// An array of strings.
    Strings,
    /// An array of strings that are only counted.
    Environment,
    /// Status of a child.
    WaitStatus,
    /// `struct rusage`.
    Usage,
    /// `struct rlimit`.
    Limits,
    /// A set of CPUs.
    CpuSet,
    /// `struct sched_param`.
    SchedulingParam,
    /// Groups, their number in the first argument.
    Groups,
    /// `struct utsname`.
    Uname,
    /// `struct sysinfo`.
    Sysinfo,
    /// `struct tms`.
    Times,
    /// `struct __user_cap_header_struct`.
    CapabilityHeader,
    /// `struct __user_cap_data_struct`.
    CapabilityData,
    /// The second argument of `prctl`.
    PrctlArgument,
    /// The others of `prctl`.
    PrctlRest,
    /// Action of `syslog`.
    SyslogAction,
    /// An array of `struct sembuf`.
    SemaphoreOperations,
    /// `struct io_uring_params`.
    UringParams,
}

//! What to keep of a call's memory, as data: one row a syscall, loaded into the BPF programs as a table and read by the
//! ptrace recorder. The rows stand in [`crate::decode::table`], beside the text they are printed as.
//!
//! What both recorders keep to, besides the row: a pointer below 4096 is none (a flag, a small number, NULL) and gives no
//! piece; the pieces of one call stand in the order *entered, then returned*, and within these in the order of the row, so
//! that where one argument has a piece of each, the first is what the program handed over.

/// At most so many pieces a call.
pub const MAX_PIECES: usize = 6;

/// Strings kept of an array of strings.
pub const MAX_STRINGS: usize = 16;

/// Elements kept of an array of buffers.
pub const MAX_BUFFERS: usize = 8;

/// When a piece is read. The kernel has touched the memory by the time the call returns, so that reading then never
/// faults for a page not yet there; only what the call destroys is read when it is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum When {
    /// When the call returns.
    Exit = 0,
    /// When it is entered (the arguments of `execve`).
    Enter = 1,
    /// When it returns, only if it succeeded (`ret >= 0`): what the kernel wrote.
    Success = 2,
}

/// How the size of a piece is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Size {
    /// A string, up to its NUL; `cap` bytes at most.
    Text = 0,
    /// `scale` bytes.
    Fixed = 1,
    /// The value of argument `of` times `scale`.
    Arg = 2,
    /// The returned value times `scale`.
    Ret = 3,
    /// The `u32` that argument `of` points to (`socklen_t *`).
    ArgPointer = 4,
    /// An array of pointers to strings up to a null pointer (`argv`): a part a string, at most
    /// [`MAX_STRINGS`], of at most `cap` bytes each.
    TextArray = 5,
    /// An array of `struct iovec`, its length in argument `of`. Part 0 is the array itself, up to [`MAX_BUFFERS`]
    /// elements of 16 bytes, whatever the piece says of payload; part n + 1 what buffer n holds, up to `cap` bytes in
    /// all, no more than the call moved.
    Iovec = 6,
    /// A `struct msghdr`. Part 0 is the struct itself (56 bytes), part 1 the address (`msg_name`, 128 bytes at most),
    /// part 2 the array of buffers (up to [`MAX_BUFFERS`] elements), part 3 the control data (64 bytes at most), these
    /// whatever the piece says of payload; part n + 4 what buffer n holds, up to `cap` bytes in all, no more than the
    /// call moved. Of an array of `struct mmsghdr` only the first.
    Message = 7,
}

/// One piece of memory to keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptMemory {
    /// The argument that points to it, from 0.
    pub arg: u8,
    /// When to read it.
    pub when: When,
    /// How large it is.
    pub size: Size,
    /// The argument that [`Size::Arg`], [`Size::ArgPointer`] and [`Size::Iovec`] mean.
    pub of: u8,
    /// Bytes a unit.
    pub scale: u16,
    /// At most so many bytes; what is beyond is cut.
    pub cap: u16,
    /// True for payload: kept only where payload is asked for, and cut at its limit instead of `cap`. Only of sockets
    /// and pipes where the call works on files too.
    pub payload: bool,
}

/// What to keep of one syscall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallSpec {
    /// How many of the argument registers it has.
    pub args: u8,
    /// The pieces.
    pub pieces: &'static [KeptMemory],
    /// True where it changes what later calls mean (open, close, dup, socket, connect, accept, fork, exec, chdir): it
    /// is recorded in full even where the rest is only counted.
    pub state: bool,
}

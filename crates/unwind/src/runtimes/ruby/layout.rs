//! Where the parts of Ruby's structures are, by version. x86-64; computed from the bindings that the
//! crate rbspy-ruby-structs 0.55 has of the headers of every release (vm_core.h, ractor_core.h, thread_pthread.h, iseq.h): within a
//! minor version they are the same.

/// How a thread of the system is told for a thread of Ruby.
#[derive(Clone, Copy, Debug)]
pub(super) enum Native {
    /// `rb_thread_struct.thread_id`, a `pthread_t` of glibc, whose `tid` is at [`PTHREAD_TID`].
    Pthread(u64),
    /// `rb_thread_struct.tid`.
    Tid(u64),
    /// `rb_thread_struct.nt`, and `rb_native_thread.tid`.
    Shared(u64, u64),
}

/// `struct pthread.tid` of glibc 2.4 to 2.41 on x86-64 (nptl/descr.h); checked against the threads of the process.
pub(super) const PTHREAD_TID: u64 = 0x2d0;

/// Where the parts are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The list of threads in `rb_vm_struct` (2.7), or the one of ractors.
    pub list: u64,
    /// In `rb_ractor_struct`: its node in the list of the VM, and its list of threads; none before 3.0.
    pub ractor: Option<(u64, u64)>,
    /// `rb_thread_struct.vm`.
    pub vm: u64,
    /// `rb_thread_struct.ec`.
    pub context: u64,
    pub native: Native,
    /// Size of a `rb_control_frame_struct`.
    pub frame_size: usize,
    /// `rb_iseq_constant_body.insns_info`.
    pub lines: usize,
    /// Size of an `iseq_insn_info_entry`, which begins with the line.
    pub line_size: u64,
    /// Strings have their length behind the header always; before, short ones have it in their flags.
    pub length_in_front: bool,
}

/// The layout of a version `major.minor`.
pub(super) fn of(version: (u32, u32)) -> Option<Layout> {
    let v27 = Layout {
        list: 312,
        ractor: None,
        vm: 24,
        context: 32,
        native: Native::Pthread(72),
        frame_size: 56,
        lines: 120,
        line_size: 8,
        length_in_front: false,
    };
    let v30 =
        Layout { list: 8, ractor: Some((568, 304)), vm: 32, context: 40, native: Native::Pthread(80), ..v27 };
    let v31 = Layout { native: Native::Tid(88), frame_size: 64, line_size: 12, ..v30 };
    let v32 =
        Layout { context: 48, native: Native::Shared(40, 16), lines: 112, length_in_front: true, ..v31 };
    let v33 = Layout { ractor: Some((432, 256)), native: Native::Shared(40, 24), frame_size: 56, ..v32 };
    match version {
        (2, 7) => Some(v27),
        (3, 0) => Some(v30),
        (3, 1) => Some(v31),
        (3, 2) => Some(v32),
        (3, 3 | 4) => Some(v33),
        _ => None,
    }
}

//! Frames that pprof takes out of legacy profiles: allocators, lock primitives and signal handlers, whose callers are meant
//! (github.com/google/pprof, profile/legacy_profile.go). Regular expressions over whole names.

/// Of a CPU profile and everything else.
pub(super) const CPU: &str =
    "ProfileData::Add|ProfileData::prof_handler|CpuProfiler::prof_handler|__pthread_sighandler|__restore";

/// Of a heap profile.
pub(super) const ALLOCATION: &str = concat!(
    "calloc|cfree|malloc|free|memalign|do_memalign|(__)?posix_memalign|pvalloc|valloc|realloc|",
    "tcmalloc::.*|tc_calloc|tc_cfree|tc_malloc|tc_free|tc_memalign|tc_posix_memalign|tc_pvalloc|tc_valloc|",
    "tc_realloc|tc_new|tc_delete|tc_newarray|tc_deletearray|tc_new_nothrow|tc_newarray_nothrow|",
    "malloc_zone_malloc|malloc_zone_calloc|malloc_zone_valloc|malloc_zone_realloc|malloc_zone_memalign|",
    "malloc_zone_free|",
    r"runtime\..*|",
    "BaseArena::.*|(::)?do_malloc_no_errno|(::)?do_malloc_pages|(::)?do_malloc|DoSampledAllocation|",
    "MallocedMemBlock::MallocedMemBlock|_M_allocate|__builtin_(vec_)?delete|__builtin_(vec_)?new|",
    "__gnu_cxx::new_allocator::allocate|__libc_malloc|__malloc_alloc_template::allocate|allocate|cpp_alloc|",
    r"operator new(\[\])?|simple_alloc::allocate",
);

/// Of a heap profile, though the list above has them: Go's runtime in the middle of a stack.
pub(super) const ALLOCATION_KEEP: &str = r"runtime\.panic|runtime\.reflectcall|runtime\.call[0-9]*";

/// Of a contention profile.
pub(super) const LOCK: &str = concat!(
    "RecordLockProfileData|(base::)?RecordLockProfileData.*|(base::)?SubmitMutexProfileData.*|",
    "(base::)?SubmitSpinLockProfileData.*|(base::Mutex::)?AwaitCommon.*|(base::Mutex::)?Unlock.*|",
    "(base::Mutex::)?UnlockSlow.*|(base::Mutex::)?ReaderUnlock.*|(base::MutexLock::)?~MutexLock.*|",
    "(Mutex::)?AwaitCommon.*|(Mutex::)?Unlock.*|(Mutex::)?UnlockSlow.*|(Mutex::)?ReaderUnlock.*|",
    "(MutexLock::)?~MutexLock.*|(SpinLock::)?Unlock.*|(SpinLock::)?SlowUnlock.*|",
    "(SpinLockHolder::)?~SpinLockHolder.*",
);

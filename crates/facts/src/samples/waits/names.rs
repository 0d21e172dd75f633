//! Functions that tell what a thread waits for, by language. Sources: OpenJDK 8 to 25 (src/hotspot/share/runtime, java.base), CPython 3.8 to 3.13
//! (Lib, Modules/_threadmodule.c, Python/ceval_gil.*), glibc 2.28 to 2.40 (nptl), Rust's std/src/sys, V8 10 to 13, Go 1.20 to 1.26, Ruby 3.1 (thread.c).

use Told::{Lock, Timer, Unclear, Work};

/// What a function tells of a wait below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Told {
    /// Its caller waits for a lock.
    Lock,
    /// Its caller sleeps.
    Timer,
    /// It waits for something to do.
    Work,
    /// It is made of locks and may wait for anything: conditions, latches, joins.
    Unclear,
}

/// Functions that tell the same.
pub(super) struct Listed {
    pub(super) told: Told,
    /// The language's module; empty for native code.
    pub(super) module: &'static str,
    /// What the source file's name ends with.
    pub(super) file: &'static str,
    /// In full, or `start*`. Native names are without parameters and without underscores before them.
    pub(super) names: &'static [&'static str],
}

const fn of(told: Told, module: &'static str, file: &'static str, names: &'static [&'static str]) -> Listed {
    Listed { told, module, file, names }
}

/// The list. The first that fits counts.
pub(super) static LISTED: &[Listed] = &[
    // The C library.
    of(
        Unclear,
        "",
        "",
        &["pthread_cond_wait*", "pthread_cond_timedwait*", "pthread_cond_clockwait*", "pthread_barrier_wait"],
    ),
    of(
        Lock,
        "",
        "",
        &[
            "pthread_mutex_lock*",
            "pthread_mutex_timedlock*",
            "pthread_mutex_clocklock*",
            "pthread_rwlock_rdlock*",
            "pthread_rwlock_wrlock*",
            "pthread_rwlock_timed*",
            "pthread_rwlock_clock*",
            "lll_lock_wait*",
        ],
    ),
    of(Timer, "", "", &["nanosleep", "clock_nanosleep", "usleep", "sleep", "thrd_sleep"]),
    // Processes that take turns at accept (mod_mpm_prefork).
    of(Work, "", "", &["apr_proc_mutex_lock"]),
    // Rust.
    of(
        Lock,
        "",
        "",
        &[
            "std::sys::sync::mutex::*",
            "std::sys::sync::rwlock::*",
            "std::sys::unix::locks::futex_mutex::*",
            "std::sys::unix::locks::futex_rwlock::*",
            "parking_lot::raw_mutex::*",
            "parking_lot::raw_rwlock::*",
        ],
    ),
    of(Timer, "", "", &["std::thread::sleep*", "std::thread::functions::sleep*"]),
    // Workers without a task: tokio 1 (runtime/scheduler/multi_thread), rayon-core 1.12.
    of(
        Work,
        "",
        "",
        &[
            "tokio::runtime::scheduler::multi_thread::park::*",
            "tokio::runtime::scheduler::multi_thread::worker::Context::park*",
            "rayon_core::registry::WorkerThread::wait_until_out_of_work*",
        ],
    ),
    // The Java virtual machine: its own threads.
    of(
        Work,
        "",
        "",
        &[
            "GangWorker::*",
            "WorkerThread::*",
            "ConcurrentGCThread::*",
            "WatcherThread::*",
            "VMThread::*",
            "CompileQueue::get",
            "CompileBroker::compiler_thread_loop",
            "ServiceThread::*",
            "NMethodSweeper::sweeper_loop",
            "NotificationThread::*",
            "MonitorDeflationThread::*",
            "StringDedupProcessor::*",
            "os::signal_wait",
            "signal_thread_entry",
            "AttachListener::*",
            "attach_listener_thread_entry",
        ],
    ),
    // What it does for a method: monitors, and being held at a safepoint. Without symbols all of it has one name, and may be for a
    // collection or the compiler as well: of a monitor the reader of its frames tells.
    of(Lock, "[java]", "", &["(monitorenter)"]),
    of(Unclear, "", "", &["[libjvm.so]"]),
    of(
        Lock,
        "",
        "",
        &[
            "ObjectMonitor::enter*",
            "ObjectMonitor::Enter*",
            "ObjectSynchronizer::enter*",
            "ObjectSynchronizer::fast_enter",
            "ObjectSynchronizer::slow_enter",
            "InterpreterRuntime::monitorenter",
            "SharedRuntime::complete_monitor_locking_C",
            "SharedRuntime::monitor_enter_helper",
            "Runtime1::monitorenter",
            "SafepointSynchronize::block",
            "SafepointMechanism::*",
        ],
    ),
    of(Timer, "", "", &["JavaThread::sleep*", "JVM_Sleep"]),
    // Java.
    of(
        Work,
        "[java]",
        "",
        &[
            "java.util.concurrent.ThreadPoolExecutor.getTask",
            "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.*",
            "java.util.concurrent.ForkJoinPool.awaitWork",
            "java.util.concurrent.ForkJoinPool.idleAwaitWork",
            "java.util.concurrent.ForkJoinPool.runWorker",
            "java.util.concurrent.LinkedBlockingQueue.take",
            "java.util.concurrent.LinkedBlockingQueue.poll",
            "java.util.concurrent.LinkedBlockingDeque.take*",
            "java.util.concurrent.LinkedBlockingDeque.poll*",
            "java.util.concurrent.ArrayBlockingQueue.take",
            "java.util.concurrent.ArrayBlockingQueue.poll",
            "java.util.concurrent.PriorityBlockingQueue.take",
            "java.util.concurrent.PriorityBlockingQueue.poll",
            "java.util.concurrent.DelayQueue.take",
            "java.util.concurrent.DelayQueue.poll",
            "java.util.concurrent.SynchronousQueue.take",
            "java.util.concurrent.SynchronousQueue.poll",
            "java.util.concurrent.LinkedTransferQueue.take",
            "java.util.concurrent.LinkedTransferQueue.poll",
            "java.util.TimerThread.mainLoop",
            "java.lang.ref.Reference.waitForReferencePendingList",
            "java.lang.ref.ReferenceQueue.remove*",
            // Threads that share a listener take turns by a lock of its own.
            "java.net.ServerSocket.accept",
            "java.net.AbstractPlainSocketImpl.accept",
            "sun.nio.ch.NioSocketImpl.accept",
            "sun.nio.ch.ServerSocketChannelImpl.accept",
        ],
    ),
    of(
        Unclear,
        "[java]",
        "",
        &[
            "java.lang.Object.wait*",
            "java.lang.Thread.join*",
            "java.lang.ProcessImpl.waitFor*",
            "java.util.concurrent.CountDownLatch.*",
            "java.util.concurrent.CyclicBarrier.*",
            "java.util.concurrent.Phaser.*",
            "java.util.concurrent.Exchanger.*",
            "java.util.concurrent.Semaphore.*",
            "java.util.concurrent.FutureTask.*",
            "java.util.concurrent.CompletableFuture.*",
            "java.util.concurrent.ForkJoinTask.*",
            "java.util.concurrent.ThreadPoolExecutor.awaitTermination",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.*",
            "java.util.concurrent.locks.AbstractQueuedLongSynchronizer$ConditionObject.*",
            "java.util.concurrent.locks.LockSupport.*",
            "jdk.internal.misc.Unsafe.park",
            "sun.misc.Unsafe.park",
        ],
    ),
    of(
        Lock,
        "[java]",
        "",
        &[
            "java.util.concurrent.locks.ReentrantLock*",
            "java.util.concurrent.locks.ReentrantReadWriteLock*",
            "java.util.concurrent.locks.StampedLock.*",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire*",
            "java.util.concurrent.locks.AbstractQueuedSynchronizer.tryAcquire*",
            "java.util.concurrent.locks.AbstractQueuedLongSynchronizer.acquire*",
        ],
    ),
    of(Timer, "[java]", "", &["java.lang.Thread.sleep*", "java.util.concurrent.TimeUnit.sleep"]),
    // Python. Up to 3.10 methods are told without their class.
    of(Work, "[python]", "/queue.py", &["Queue.get", "get"]),
    of(Work, "[python]", "/multiprocessing/queues.py", &["Queue.get", "SimpleQueue.get", "get"]),
    of(Work, "[python]", "/multiprocessing/pool.py", &["worker"]),
    of(Work, "[python]", "/concurrent/futures/thread.py", &["_worker"]),
    of(
        Unclear,
        "[python]",
        "/threading.py",
        &[
            "Condition.wait*",
            "Event.wait",
            "Barrier.*",
            "Semaphore.acquire",
            "Thread.join",
            "Thread._wait_for_tstate_lock",
            "wait*",
            "join",
            "acquire",
            "_wait_for_tstate_lock",
            "_shutdown",
        ],
    ),
    of(Work, "", "", &["simplequeue_get*", "queue_SimpleQueue_get*"]),
    // `PyThread_acquire_lock_timed` is not here: queues in C end in it, too. The lock of the interpreter is, and what takes it again.
    of(
        Lock,
        "",
        "",
        &[
            "acquire_timed",
            "lock_PyThread_acquire_lock",
            "rlock_acquire*",
            "multiprocessing_SemLock_acquire*",
            "take_gil",
            "PyEval_RestoreThread",
        ],
    ),
    // Ruby's `Monitor` waits for its lock in a library of its own; to wait for a condition, monitor.rb calls it.
    of(Unclear, "[ruby]", "/monitor.rb", &["wait*"]),
    of(Lock, "", "", &["[monitor.so]"]),
    // Ruby: a thread whose turn is over waits for the interpreter's lock. `Mutex#lock` and `sleep` have no name in a stripped library.
    of(Lock, "", "", &["rb_threadptr_execute_interrupts"]),
    // Node.js: Atomics.wait.
    of(
        Lock,
        "",
        "",
        &[
            "v8::internal::FutexEmulation::Wait*",
            "v8::internal::Builtin_AtomicsWait*",
            "Builtins_AtomicsWait*",
        ],
    ),
    // Go.
    of(Lock, "[go]", "", &["sync.(*Mutex).*", "sync.(*RWMutex).*", "internal/sync.(*Mutex).*"]),
    of(Timer, "[go]", "", &["time.Sleep"]),
    of(
        Work,
        "[go]",
        "",
        &[
            "runtime.findRunnable",
            "runtime.stopm",
            "runtime.templateThread",
            "runtime.sysmon",
            "net.(*TCPListener).Accept*",
            "net.(*UnixListener).Accept*",
        ],
    ),
];

/// First frames of threads: a stack that ends in one of them is known to its beginning.
pub(super) const BEGINNINGS: &[&str] = &[
    "clone",
    "clone3",
    "start",
    "start_thread",
    "libc_start_main",
    "libc_start_main_impl",
    "java.lang.Thread.run",
    "runtime.goexit",
    "runtime.mcall",
    "runtime.mstart",
    "Thread._bootstrap",
    "<module>",
    "<main>",
];

//! What a wait is of, and which waits are for work.

use hashbrown::HashSet;
use whyslow_facts::folds::account::{CallKey, CallTime, ObjectKind};
use whyslow_facts::folds::slow_files::{SlowFiles, asks_device};
use whyslow_facts::samples::WaitShares;
use whyslow_facts::{Facts, Origin, ProcessId, WaitKind};
use whyslow_model::syscall::Moves;
use whyslow_model::{Nanos, Syscall, TimeState};

/// The state of who waits in a call: by what it works on, else by what such a call waits for.
pub(crate) fn of_wait(waits: Option<WaitKind>, object: ObjectKind) -> TimeState {
    match object {
        ObjectKind::File => TimeState::File,
        ObjectKind::Pipe => TimeState::Pipe,
        ObjectKind::Timer => TimeState::Timer,
        ObjectKind::Peer => TimeState::Peer,
        ObjectKind::Clients => TimeState::Client,
        ObjectKind::Listener => TimeState::Accept,
        ObjectKind::Lock | ObjectKind::FileLock | ObjectKind::Semaphore => TimeState::Lock,
        ObjectKind::Child | ObjectKind::Thread => TimeState::Child,
        ObjectKind::Event | ObjectKind::Terminal | ObjectKind::Signal => TimeState::Event,
        ObjectKind::Several => TimeState::Poll,
        ObjectKind::Nothing | ObjectKind::Descriptor => match waits {
            Some(WaitKind::Lock) => TimeState::Lock,
            Some(WaitKind::Network) => TimeState::Peer,
            Some(WaitKind::Pipe) => TimeState::Pipe,
            Some(WaitKind::Timer) => TimeState::Timer,
            Some(WaitKind::Child) => TimeState::Child,
            Some(WaitKind::Poll) => TimeState::Poll,
            Some(WaitKind::Accept) => TimeState::Accept,
            Some(WaitKind::Other) => TimeState::Event,
            None if object == ObjectKind::Descriptor => TimeState::File,
            None => TimeState::KernelWait,
        },
    }
}

/// The state of time in a call that waits for nobody, where no scheduler tells whether it ran: a call on a file that takes longer
/// than any work of the kernel waits for the device.
pub(crate) fn of_unsplit(time: &CallTime, object: ObjectKind) -> TimeState {
    let mean = Nanos::new(time.parts.total() / time.calls.count.max(1));
    of_work(time.key.syscall, object, if time.is_at_most { Nanos::UNKNOWN } else { mean })
}

/// The same of a call that took so long.
pub(crate) fn of_work(call: Syscall, object: ObjectKind, took: Nanos) -> TimeState {
    let is_slow = || took.is_known() && took >= SlowFiles::SLOW && object == ObjectKind::File;
    if asks_device(call) || is_slow() { TimeState::File } else { TimeState::InCall }
}

/// The state of sleep that no signal ends, in a call: of what asks for a device it is for that.
pub(crate) fn of_sleeping_work(key: CallKey, object: ObjectKind) -> TimeState {
    if asks_device(key.syscall) { TimeState::File } else { of_wait(key.waits, object) }
}

/// The processes that take connections, or have taken some.
pub(crate) fn serving(facts: &Facts) -> HashSet<ProcessId> {
    let lives = facts.world.fds.iter().map(|(_, life)| life);
    let served = lives.filter(|life| life.listening || life.origin == Origin::Accept);
    served.map(|life| life.process).collect()
}

/// What a thread's process is: some waits are for work in a server and none in a program that serves nobody.
#[derive(Clone, Copy, Default)]
pub(crate) struct Owner {
    /// It takes connections, or has taken some.
    pub(crate) serves: bool,
    /// It has other threads that do something.
    pub(crate) has_others: bool,
    /// It has child processes that do something.
    pub(crate) has_children: bool,
    /// Work waited in one of its queues in nearly all samples.
    pub(crate) is_wanted: bool,
}

/// Samples from which on stacks say what a thread's waits are for.
const ENOUGH_STACKS: u64 = 3;
/// The part of a thread's waits that has to be for locks and times, by their stacks, for these not to be waits for work.
const MOSTLY_CALLED_FOR: f64 = 0.6;
/// The part from which on nearly all are for one of the two.
const NEARLY_ALL: f64 = 0.9;

/// The part of waits that is for locks and times, which the program's own code called for; `None` where stacks do not tell.
fn called_for(stacks: Option<&WaitShares>) -> Option<f64> {
    let stacks = stacks.filter(|stacks| stacks.count >= ENOUGH_STACKS)?;
    let part = stacks.called_for_ns() as f64 / stacks.total_ns().max(1) as f64;
    (part >= MOSTLY_CALLED_FOR).then_some(part)
}

/// The state of waits at a futex: a lock or a time where nearly all stacks say so, which know more than the call's time limit.
pub(crate) fn of_stacks(state: TimeState, waits: Option<WaitKind>, stacks: Option<&WaitShares>) -> TimeState {
    let is_futex = matches!(state, TimeState::Lock | TimeState::Timer) && waits == Some(WaitKind::Lock);
    let Some(stacks) = stacks.filter(|stacks| is_futex && called_for(Some(stacks)).is_some()) else {
        return state;
    };
    let nearly_all = |ns: u64| ns as f64 >= NEARLY_ALL * stacks.called_for_ns() as f64;
    match (nearly_all(stacks.lock_ns), nearly_all(stacks.timer_ns)) {
        (true, _) => TimeState::Lock,
        (_, true) => TimeState::Timer,
        _ => state,
    }
}

/// Of the time that a thread waited in one way, what it waited for work, ns. `told_ns` is all that is told of the thread, `stacks` are those
/// of its waits in that call.
pub(crate) fn for_work(
    state: TimeState,
    object: ObjectKind,
    time: &CallTime,
    waited_ns: u64,
    told_ns: u64,
    owner: Owner,
    stacks: Option<&WaitShares>,
) -> u64 {
    // Who has no other thread does not wait for work while work waits. Of several threads nobody tells whose work it is.
    if owner.is_wanted && !owner.has_others {
        return 0;
    }
    let reads = time.key.syscall.info().moves != Moves::Write;
    match state {
        TimeState::Accept | TimeState::Event => waited_ns,
        // Who joins a thread does nothing meanwhile: that thread's time is in the account itself.
        TimeState::Child if object == ObjectKind::Thread && owner.has_others => waited_ns,
        // So does who waits for a child from some moment on to the end, or for most of its life at once, as a shell does for its command;
        // or the master of a server for its workers, whose threads nothing told apart from its own.
        TimeState::Child
            if object == ObjectKind::Child
                && (time.under_way || slept_at_once(time, told_ns))
                && (owner.has_children || owner.serves && owner.has_others) =>
        {
            waited_ns
        }
        TimeState::Client if reads => waited_ns,
        TimeState::Poll if owner.serves => waited_ns,
        // A lock that another thread holds is none; nor is a condition of who is alone, nor a wait too short to be told apart. Workers of a
        // pool wait for work with a time limit, too.
        TimeState::Lock | TimeState::Timer if owner.has_others && time.key.waits == Some(WaitKind::Lock) => {
            let told = time.short_ns.saturating_add(time.held_ns);
            // Whose own code calls for a lock or a sleep does not wait for work, whatever the lock's word says.
            let called_for = called_for(stacks).map_or(0, |part| (waited_ns as f64 * part) as u64);
            waited_ns.saturating_sub(told.max(called_for))
        }
        TimeState::Timer if is_of_runtime(stacks) || time.pace.is_kept() => waited_ns,
        // Who sleeps for most of its life beside children that do something looks after them.
        TimeState::Timer if owner.has_children && slept_at_once(time, told_ns) => waited_ns,
        _ => 0,
    }
}

/// True where nearly all stacks are of a runtime's own threads.
fn is_of_runtime(stacks: Option<&WaitShares>) -> bool {
    stacks.is_some_and(|stacks| {
        stacks.count >= ENOUGH_STACKS && stacks.work_ns as f64 >= NEARLY_ALL * stacks.total_ns() as f64
    })
}

/// True where one wait of these took half of that time: no look at something is between.
fn slept_at_once(time: &CallTime, told_ns: u64) -> bool {
    let longest = if time.under_way { time.parts.total() } else { time.calls.max().or_zero() };
    told_ns > 0 && longest >= told_ns / 2
}

//! Sleeps, and what the thread looks at when it wakes up. A sleep is a wait that only its time limit ends, whatever the call: runtimes
//! sleep in nanosleep, in a poll of a descriptor of their own, or in a futex; a shell waits for a child that sleeps.

mod in_turns;
mod limits;

pub(super) use limits::asked_for;

use crate::Fold;
use crate::exemplar::{Exemplar, Exemplars};
use crate::world::ids::FileId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use in_turns::LooksInTurns;
use limits::{is_until, may_tell_of, period};
use std::hash::BuildHasher;
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Moves, PathArg};
use whyslow_model::{Call, Errno, FdKind, Nanos, Syscall, Timestamp};

/// Sleeps of one length by one thread.
#[derive(Clone, Debug)]
pub struct Sleep {
    /// The process.
    pub process: ProcessId,
    /// The thread; of looks in turns that of the first.
    pub tid: Tid,
    /// Threads of the process take turns: which one sleeps and which one looks differs.
    pub in_turns: bool,
    /// Of these, looks by another thread than the one that looked before, or that waited for the timer.
    pub turns: u64,
    /// The call.
    pub syscall: Syscall,
    /// The length asked for; unknown for sleeps until a point in time, which are one row a thread, and for waits that their time limit ended,
    /// which are one row for each length that they took.
    pub period: Nanos,
    /// When the first began.
    pub first: Timestamp,
    /// When the last ended.
    pub last: Timestamp,
    /// Sleeps.
    pub times: u64,
    /// Of these, those whose duration is known.
    pub timed: u64,
    /// Time in them, ns.
    pub slept_ns: u64,
    /// Sleeps right before which the thread had looked at something, and the answer was "not yet".
    pub checks: u64,
    /// Sleeps after which it moved data or took a connection before it slept again.
    pub fruitful: u64,
    /// What it looked at right before it slept.
    pub check: Option<Box<SleepCheck>>,
    /// A sleep followed on that look: a later one is compared with it.
    is_settled: bool,
    /// Checks of that same thing, or of files beside it.
    pub same_checks: u64,
    /// The checks were of different files of one folder.
    pub varies: bool,
    /// Sleeps after which the thread looked again at just what it had looked at before, whatever the answer was then.
    pub again: u64,
    /// Sleeps right behind which the thread asked, without waiting, for a child that had ended, and was told of one: it had ended meanwhile.
    pub reaped: u64,
    /// Sleeps right before which the thread had woken another one, or sent something: it gave work away, and sleeps instead of being told of its
    /// result.
    pub handed_over: u64,
    /// Lines of sleeps.
    pub exemplars: Exemplars,
}

/// What a thread looked at before it slept.
#[derive(Clone, Debug)]
pub struct SleepCheck {
    /// The call.
    pub syscall: Syscall,
    /// Its answer.
    pub errno: Errno,
    /// The path or the other end, if known.
    pub target: Option<String>,
    /// The descriptor.
    pub fd: Option<i32>,
    /// The line.
    pub exemplar: Exemplar,
    file: Option<FileId>,
}

impl SleepCheck {
    /// The folder of what is looked at.
    pub fn folder(&self) -> Option<&str> {
        folder(self.target.as_deref()?)
    }
}

/// The folder of a path.
fn folder(path: &str) -> Option<&str> {
    path.rfind('/').filter(|at| *at > 0).map(|at| &path[..at])
}

impl Sleep {
    fn new(seen: &Seen<'_>, period: Nanos) -> Sleep {
        Sleep {
            process: seen.process,
            tid: seen.call.tid,
            in_turns: false,
            turns: 0,
            syscall: seen.call.syscall,
            period,
            first: seen.call.ts,
            last: Timestamp::UNKNOWN,
            times: 0,
            timed: 0,
            slept_ns: 0,
            checks: 0,
            fruitful: 0,
            check: None,
            is_settled: false,
            same_checks: 0,
            varies: false,
            again: 0,
            reaped: 0,
            handed_over: 0,
            exemplars: Exemplars::default(),
        }
    }

    /// How long one is: as asked for, or the mean of those until a point in time.
    pub fn length(&self) -> Nanos {
        match self.slept_ns.checked_div(self.timed) {
            Some(mean) if !self.period.is_known() => Nanos::new(mean),
            _ => self.period,
        }
    }

    /// True where a sleep is so short beside those before that the point in time that it was for had nearly come: it keeps a pace, and waits
    /// for nothing.
    fn is_long_beside(&self, dur: Nanos) -> bool {
        /// Those of one purpose scatter less: a timer comes late by its slack (50 us), or by a turn of another thread.
        const PART: u64 = 10;
        let mean = self.slept_ns.checked_div(self.timed);
        dur.get().zip(mean).is_some_and(|(dur, mean)| dur < mean / PART)
    }

    /// True where a wait that its time limit ended took about as long as those before: others are for another purpose.
    fn is_as_long(&self, call: &Call<'_>) -> bool {
        /// A part of the mean that it may be longer or shorter.
        const PART: u64 = 4;
        let is_child = matches!(call.syscall, Syscall::WAIT4 | Syscall::WAITID);
        let mean = self.slept_ns.checked_div(self.timed).filter(|_| !is_child);
        let (Some(mean), Some(dur)) = (mean, call.dur.get()) else { return true };
        self.syscall == call.syscall && dur.abs_diff(mean) <= mean / PART
    }

    /// Time in sleeps; unknown where no duration is.
    pub fn slept(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.slept_ns) }
    }
}

/// Sleeps by thread and length.
#[derive(Debug, Default)]
pub struct Sleeps {
    /// The rows.
    pub rows: Vec<Sleep>,
    threads: Vec<Awake>,
    /// The rows of each thread, by their places.
    of_thread: HashMap<(ProcessId, Tid), Vec<u32>, foldhash::fast::RandomState>,
    in_turns: LooksInTurns,
}

/// What a thread did since its last sleep.
#[derive(Clone, Copy, Debug, Default)]
struct Awake {
    /// The row of that sleep, from 1; 0: it did not sleep.
    row: u32,
    /// Useful calls of the thread when it fell asleep.
    useful: u64,
    /// Its last look found nothing, at that many useful calls.
    in_vain: Option<u64>,
    /// That look was at what the row knows.
    same: bool,
    /// What it had looked at in vain before it slept, until it looks at something again.
    before: Option<Look>,
    /// What it looked at last, in vain, and when.
    now: Option<Look>,
    looked: Timestamp,
    /// The last thing that it did was to give something to another thread or process.
    gave: bool,
}

/// Something that was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Look {
    syscall: Syscall,
    file: Option<FileId>,
    /// Hash of its path: where there are very many files, the places of some are given to others. 0 where it is not compared.
    path: u64,
    fd: Option<i32>,
}

impl Look {
    fn of(seen: &Seen<'_>, world: &World) -> Look {
        let path =
            |file: FileId| foldhash::fast::FixedState::default().hash_one(&*world.files.get(file).path);
        // As long as none is given away, the place tells.
        let named = seen.file.filter(|_| world.files.merged_paths > 0);
        Look {
            syscall: seen.call.syscall,
            file: seen.file,
            path: named.map_or(0, path),
            fd: seen.fd.filter(|_| seen.file.is_none()),
        }
    }
}

impl Sleeps {
    /// Rows kept: threads times lengths. Lengths that vary (a computed back-off) soon fill them and then stay unseen.
    const MAX_ROWS: usize = 4096;
    /// Lengths of one thread.
    const MAX_LENGTHS: usize = 256;

    fn slept(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let Some(period) = period(seen, world) else { return };
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, Awake::default());
        }
        let useful = world.threads.thread(seen.thread).useful;
        let last = self.threads[at];
        let row = self.rows.get((last.row as usize).wrapping_sub(1));
        let is_short = row.is_some_and(|row| row.period == period && row.is_long_beside(call.dur));
        if is_short && is_until(call) {
            return;
        }
        if useful != last.useful
            && let Some(row) = self.rows.get_mut((last.row as usize).wrapping_sub(1))
        {
            row.fruitful += 1;
        }
        let fits = |row: &Sleep| {
            !row.in_turns
                && row.tid == call.tid
                && row.process == seen.process
                && row.period == period
                && (period.is_known() || is_until(call) || row.is_as_long(call))
        };
        let row = match self.rows.get((last.row as usize).wrapping_sub(1)) {
            Some(row) if fits(row) => last.row,
            _ => {
                let own = self.of_thread.entry((seen.process, call.tid)).or_default();
                let known = own.iter().copied().find(|at| self.rows.get(*at as usize).is_some_and(fits));
                match known {
                    Some(at) => at + 1,
                    None if self.rows.len() < Self::MAX_ROWS && own.len() < Self::MAX_LENGTHS => {
                        own.push(self.rows.len() as u32);
                        self.rows.push(Sleep::new(seen, period));
                        self.rows.len() as u32
                    }
                    None => 0,
                }
            }
        };
        // Who polls descriptors is told of these: that one had nothing is no look in vain.
        let is_told = !period.is_known()
            && is_poll(call.syscall)
            && last.now.and_then(|look| look.fd).is_some_and(|fd| may_tell_of(call, fd));
        let checked = last.in_vain == Some(useful) && !is_told;
        let before = last.now.filter(|_| checked);
        self.threads[at] = Awake { row, useful, before, ..Awake::default() };
        // A look belongs to the sleep behind it; as it was made, the one before it was known alone.
        let looked = match checked && last.row != row {
            true => self.rows.get((last.row as usize).wrapping_sub(1)).and_then(|row| row.check.clone()),
            false => None,
        };
        if let Some(row) = self.rows.get_mut((row as usize).wrapping_sub(1)) {
            row.check = row.check.take().or(looked);
            row.times += 1;
            row.handed_over += last.gave as u64;
            row.checks += checked as u64;
            row.same_checks += (checked && last.same) as u64;
            // What came first was not what it looks at.
            let other = row.same_checks.saturating_mul(2) < row.checks;
            row.is_settled = (row.is_settled || checked) && !other;
            let dur = match call.syscall {
                // A shell may wait for the child's signal, and fetch what it left after that.
                Syscall::WAIT4 | Syscall::WAITID if checked => call.end().since(last.looked),
                _ => call.dur,
            };
            row.timed += dur.is_known() as u64;
            row.slept_ns = row.slept_ns.saturating_add(dur.or_zero());
            // How long the last one of a log without durations was is not known.
            if call.end().is_known() {
                row.last = call.end();
            }
            row.exemplars.see(call);
        }
    }

    /// A look for children that have ended, right behind a sleep, which found one.
    fn reaped(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let found = matches!(call.syscall, Syscall::WAIT4 | Syscall::WAITID)
            && call.ok().is_some_and(|pid| pid > 0)
            && memchr::memmem::find(call.args, b"WNOHANG").is_some()
            && period(seen, world).is_none();
        let Some(awake) = self.threads.get_mut(seen.thread.0 as usize).filter(|_| found) else { return };
        // The look itself counts as useful.
        let is_first = awake.now.is_none() && world.threads.thread(seen.thread).useful <= awake.useful + 1;
        if let Some(row) = self.rows.get_mut((awake.row as usize).wrapping_sub(1)).filter(|_| is_first) {
            row.reaped += 1;
            if row.check.is_none() {
                Self::looked(row, seen, world);
            }
        }
    }

    /// True where the look was at what `row` knows.
    fn looked(row: &mut Sleep, seen: &Seen<'_>, world: &World) -> bool {
        let call = seen.call;
        if !row.is_settled {
            let target = match seen.file {
                Some(file) => Some(world.files.get(file).path.to_string()),
                None => seen.life.and_then(|life| world.fds.get(life)).and_then(|life| life.target(world)),
            };
            row.check = Some(Box::new(SleepCheck {
                syscall: call.syscall,
                errno: call.errno,
                target,
                fd: seen.fd,
                exemplar: Exemplar::of(call),
                file: seen.file,
            }));
            return true;
        }
        let Some(check) = row.check.as_deref() else { return false };
        if check.syscall != call.syscall || check.fd.is_some() != seen.fd.is_some() {
            return false;
        }
        if check.file == seen.file {
            return true;
        }
        let (Some(known), Some(file)) = (check.folder(), seen.file) else { return false };
        let beside = folder(&world.files.get(file).path) == Some(known);
        row.varies |= beside;
        beside
    }
}

/// True where the call asked whether something has happened, and it had not.
fn says_not_yet(seen: &Seen<'_>) -> bool {
    let call = seen.call;
    match call.errno {
        Errno::EAGAIN | Errno::ECONNREFUSED | Errno::ENOMSG => return true,
        // The file that is waited for, the lock file that somebody else made, or what somebody still uses.
        Errno::ENOENT | Errno::EEXIST | Errno::EBUSY => {
            return call.syscall.info().path != PathArg::None || seen.fd.is_some();
        }
        _ => {}
    }
    if seen.same_answer {
        return true;
    }
    match call.syscall {
        Syscall::WAIT4 | Syscall::WAITID => {
            call.ok() == Some(0) && memchr::memmem::find(call.args, b"WNOHANG").is_some()
        }
        // Is it still there?
        Syscall::KILL => call.ok() == Some(0) && call.args.ends_with(b", 0"),
        syscall => syscall.info().moves == Moves::Read && call.ok() == Some(0),
    }
}

/// Whether a call gives something to another thread or process; `None` for those that say nothing of it: sleeps, and locks in passing. What a
/// program prints is for nobody who answers.
fn gives(seen: &Seen<'_>) -> Option<bool> {
    const STDERR: i32 = 2;
    let call = seen.call;
    match call.syscall {
        Syscall::FUTEX => {
            (call.ok()? > 0 && memchr::memmem::find(call.args, b"FUTEX_WAKE").is_some()).then_some(true)
        }
        syscall if is_sleep(syscall) => None,
        syscall => Some(
            syscall.info().moves == Moves::Write
                && call.ok().is_some_and(|sent| sent > 0)
                && seen.fd.is_some_and(|fd| fd > STDERR)
                && (seen.kind.is_socket() || matches!(seen.kind, FdKind::Pipe | FdKind::Event)),
        ),
    }
}

/// Other calls that ask without waiting: for a lock, a message, a semaphore.
const LOOKS: &[&str] =
    &["flock", "msgrcv", "msgsnd", "mq_timedreceive", "mq_timedsend", "semop", "semtimedop"];

impl Fold for Sleeps {
    fn wants(&self, syscall: Syscall) -> bool {
        let info = syscall.info();
        is_sleep(syscall)
            || info.path != PathArg::None
            || matches!(info.moves, Moves::Read | Moves::Write)
            || matches!(syscall, Syscall::CONNECT | Syscall::ACCEPT | Syscall::ACCEPT4 | Syscall::KILL)
            || matches!(syscall, Syscall::WAIT4 | Syscall::WAITID | Syscall::FCNTL)
            || LOOKS.contains(&info.name)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        self.in_turns.see(&mut self.rows, seen, world);
        let at = seen.thread.0 as usize;
        if let Some(gives) = gives(seen) {
            if at >= self.threads.len() {
                self.threads.resize(at + 1, Awake::default());
            }
            self.threads[at].gave = gives;
        }
        if is_sleep(seen.call.syscall) {
            return self.slept(seen, world);
        }
        if matches!(seen.call.syscall, Syscall::WAIT4 | Syscall::WAITID) {
            self.slept(seen, world);
        }
        let Some(awake) = self.threads.get_mut(seen.thread.0 as usize).filter(|awake| awake.row > 0) else {
            return;
        };
        awake.in_vain = None;
        let look = Look::of(seen, world);
        self.reaped(seen, world);
        let Some(awake) = self.threads.get_mut(seen.thread.0 as usize) else { return };
        // Who did something else first looks at what came of that. A look that finds something is useful itself.
        let found = u64::from(seen.call.ok().is_some_and(|moved| moved > 0));
        let at_once = world.threads.thread(seen.thread).useful <= awake.useful + found;
        if awake.before.take_if(|before| *before == look).is_some()
            && at_once
            && let Some(row) = self.rows.get_mut(awake.row as usize - 1)
        {
            row.again += 1;
        }
        awake.now = Some(look);
        if says_not_yet(seen)
            && let Some(row) = self.rows.get_mut(awake.row as usize - 1)
        {
            awake.in_vain = Some(world.threads.thread(seen.thread).useful);
            awake.looked = seen.call.end();
            awake.same = Self::looked(row, seen, world);
        }
    }
}

pub(super) fn is_sleep(syscall: Syscall) -> bool {
    is_poll(syscall) || matches!(syscall, Syscall::NANOSLEEP | Syscall::CLOCK_NANOSLEEP | Syscall::FUTEX)
}

fn is_poll(syscall: Syscall) -> bool {
    matches!(
        syscall,
        Syscall::POLL
            | Syscall::PPOLL
            | Syscall::SELECT
            | Syscall::PSELECT6
            | Syscall::EPOLL_WAIT
            | Syscall::EPOLL_PWAIT
    )
}

#[cfg(test)]
mod tests {
    use super::limits::timespec;
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, at_us: u64, dur_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        call.ts = Timestamp::new(at_us * 1_000);
        call.dur = Nanos::new(dur_us * 1_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }

    #[test]
    fn a_look_before_each_sleep_is_counted() {
        let mut facts = Facts::default();
        for i in 0..50 {
            push(
                &mut facts,
                i * 11_000,
                10_000,
                "clock_nanosleep",
                "CLOCK_REALTIME, 0, {tv_sec=0, tv_nsec=10000000}, NULL",
                0,
            );
            push(&mut facts, i * 11_000 + 10_100, 20, "stat", "\"/run/ready\", 0x7ffd", -2);
        }
        let row = &facts.sleeps.rows[0];
        let check = row.check.as_ref().unwrap();
        assert_eq!((row.times, row.checks, row.same_checks, row.slept_ns), (50, 49, 49, 500_000_000));
        assert_eq!((row.period, check.target.as_deref()), (Nanos::from_millis(10), Some("/run/ready")));
    }

    #[test]
    fn a_ppoll_that_its_limit_ends_is_a_sleep() {
        let mut facts = Facts::default();
        push(&mut facts, 0, 50_000, "ppoll", "NULL, 0, {tv_sec=0, tv_nsec=50000000}, NULL, 8", 0);
        push(
            &mut facts,
            60_000,
            50_000,
            "ppoll",
            "[{fd=3, events=POLLIN}], 1, {tv_sec=0, tv_nsec=50000000}, NULL, 8",
            0,
        );
        for (args, dur, ret) in [
            ("[{fd=3, events=POLLIN}], 1, {tv_sec=0, tv_nsec=50000000}, NULL, 8", 50_000, 1),
            ("[{fd=3, events=POLLIN}], 1, {tv_sec=0, tv_nsec=0}, NULL, 8", 2, 0),
        ] {
            push(&mut facts, 120_000, dur, "ppoll", args, ret);
        }
        let rows: Vec<_> =
            facts.sleeps.rows.iter().map(|row| (row.times, row.period, row.length())).collect();
        let length = Nanos::from_millis(50);
        assert_eq!(rows, [(1, length, length), (1, Nanos::UNKNOWN, length)]);
    }

    #[test]
    fn lengths_in_all_forms() {
        for text in [
            "{tv_sec=0, tv_nsec=10000000}, NULL",
            "{0, 10000000}, NULL",
            "0, NULL, NULL, NULL, {tv_sec=0, tv_usec=10000}",
        ] {
            assert_eq!(timespec(text.as_bytes()), Some(Nanos::from_millis(10)), "{text}");
        }
        for text in
            ["", "{", "{,", "{tv_sec=-1, tv_nsec=5}", "{tv_sec=99999999999999999999, tv_nsec=0}", "{0, 0}"]
        {
            assert_eq!(timespec(text.as_bytes()), None, "{text}");
        }
    }
}

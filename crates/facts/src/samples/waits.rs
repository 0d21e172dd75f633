//! What a thread waited for, as its stack tells: a lock or a time, for which its own code called, or work.
//!
//! Between the kernel and the innermost frame of the program stands what the program called for. Of the functions that are listed
//! the one nearest to the program's frame decides: a queue that waits is a queue, whichever lock it is made of.

mod names;

use super::kernel::call_of;
use super::{Function, Key, Samples, Weight};
use crate::world::ids::ProcessId;
use hashbrown::{HashMap, HashSet};
use names::{BEGINNINGS, LISTED, Told};
use whyslow_model::event::Tid;
use whyslow_model::{LANGUAGES, SampleKind, StackId};

/// What a stack says that its thread waited for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StackWait {
    /// A lock, for which the program's own code called.
    Lock,
    /// A time, for which the program's own code called.
    Timer,
    /// Something to do: a pool, a queue, a thread of the runtime.
    Work,
}

/// How long a thread waited in one system call, by what its stacks say; ns. Stacks that end before they tell are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitShares {
    /// Samples.
    pub count: u64,
    /// For locks.
    pub lock_ns: u64,
    /// For a time.
    pub timer_ns: u64,
    /// For work.
    pub work_ns: u64,
    /// In the program's own code, for what no function tells.
    pub unclear_ns: u64,
}

impl WaitShares {
    /// All of it, ns.
    pub fn total_ns(&self) -> u64 {
        let WaitShares { lock_ns, timer_ns, work_ns, unclear_ns, .. } = *self;
        [timer_ns, work_ns, unclear_ns].into_iter().fold(lock_ns, u64::saturating_add)
    }

    /// For locks and times, ns.
    pub fn called_for_ns(&self) -> u64 {
        self.lock_ns.saturating_add(self.timer_ns)
    }

    fn add(&mut self, wait: Option<StackWait>, ns: u64) {
        let of = match wait {
            Some(StackWait::Lock) => &mut self.lock_ns,
            Some(StackWait::Timer) => &mut self.timer_ns,
            Some(StackWait::Work) => &mut self.work_ns,
            None => &mut self.unclear_ns,
        };
        *of = of.saturating_add(ns);
        self.count = self.count.saturating_add(1);
    }
}

/// What each function tells of a wait, in the functions' order.
#[derive(Debug)]
pub(super) struct ToldBy(Box<[Option<Told>]>);

impl ToldBy {
    fn of(functions: &[Function]) -> ToldBy {
        ToldBy(functions.iter().map(told).collect())
    }

    fn get(&self, at: u32) -> Option<Told> {
        self.0.get(at as usize).copied().flatten()
    }
}

impl Samples {
    fn told_by(&self) -> &ToldBy {
        self.told_by.get_or_init(|| ToldBy::of(&self.functions))
    }

    /// What a sample's stack says that its thread waited for; the outer `None` where the stack does not tell whose wait it is.
    fn wait_of(&self, key: &Key) -> Option<Option<StackWait>> {
        let stack = self.stacks.get(&key.user?)?;
        let told_by = self.told_by();
        let of_work = |at: &u32| told_by.get(*at) == Some(Told::Work);
        let Some(level) = stack.iter().position(|at| self.is_own(*at)) else {
            return stack.iter().any(of_work).then_some(Some(StackWait::Work));
        };
        Some(match stack[..level].iter().rev().find_map(|at| told_by.get(*at)) {
            Some(Told::Lock) => Some(StackWait::Lock),
            Some(Told::Timer) => Some(StackWait::Timer),
            Some(Told::Work) => Some(StackWait::Work),
            Some(Told::Unclear) => None,
            // These two wait for locks on files only, whichever language calls them.
            None => matches!(call_of(self, key), Some("flock" | "fcntl")).then_some(StackWait::Lock),
        })
    }

    /// What a sample's stack says that its thread waited for.
    pub(super) fn stack_wait(&self, key: &Key) -> Option<StackWait> {
        (key.kind == SampleKind::OffCpu).then(|| self.wait_of(key)).flatten().flatten()
    }

    /// True where a sample's stack reaches the first frame of its thread.
    pub(super) fn is_whole(&self, key: &Key) -> bool {
        let last = key.user.and_then(|user| self.stacks.get(&user)?.last());
        last.is_some_and(|at| BEGINNINGS.contains(&bare(&self.functions[*at as usize].name)))
    }

    /// The stacks of each thread's waits by system call; `None` where the kernel's functions tell none.
    pub fn waits_by_call(&self) -> HashMap<(ProcessId, Tid), HashMap<Option<&str>, Weight>> {
        let mut all: HashMap<_, HashMap<Option<&str>, Weight>> = HashMap::new();
        for (key, weight) in self.rows.iter().filter(|(key, _)| key.kind == SampleKind::OffCpu) {
            let calls = all.entry((key.process, key.tid)).or_default();
            calls.entry(call_of(self, key)).or_default().join(*weight);
        }
        all
    }

    /// The processes with code of that language (`[go]`) on a stack.
    pub fn processes_of(&self, language: &str) -> HashSet<ProcessId> {
        let is_of_it = |at: &u32| self.functions[*at as usize].module.as_deref() == Some(language);
        let stacks = self.stacks.iter().filter(|(_, stack)| stack.iter().any(is_of_it));
        let stacks: HashSet<StackId> = stacks.map(|(id, _)| *id).collect();
        let rows = self.rows.keys().filter(|key| key.user.is_some_and(|user| stacks.contains(&user)));
        rows.map(|key| key.process).collect()
    }

    /// How long each thread waited in each system call, by what its stacks say.
    pub fn waits(&self) -> HashMap<(ProcessId, Tid, Option<&str>), WaitShares> {
        let mut all: HashMap<_, WaitShares> = HashMap::new();
        for (key, weight) in self.rows.iter().filter(|(key, _)| key.kind == SampleKind::OffCpu) {
            if let Some(wait) = self.wait_of(key) {
                let shares = all.entry((key.process, key.tid, call_of(self, key))).or_default();
                shares.add(wait, weight.ns);
                // A row stands for all samples of its stack.
                shares.count = shares.count.saturating_add(weight.count.saturating_sub(1));
            }
        }
        all
    }
}

fn told(function: &Function) -> Option<Told> {
    let module = function.module.as_deref().unwrap_or("");
    let language = if LANGUAGES.contains(&module) { module } else { "" };
    let file = function.file.as_deref().unwrap_or("");
    let name = if language.is_empty() { bare(&function.name) } else { &*function.name };
    let is_it = |listed: &str| match listed.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == listed,
    };
    let mut of_module = LISTED.iter().filter(|list| list.module == language && file.ends_with(list.file));
    of_module.find(|list| list.names.iter().any(|listed| is_it(listed))).map(|list| list.told)
}

/// A native function's name without its parameters, and without what the C library writes before its own names for one function.
fn bare(name: &str) -> &str {
    let name = match name.find('(') {
        Some(at) if at > 0 && !name[..at].ends_with("::") => &name[..at],
        _ => name,
    };
    name.strip_prefix("__GI_").unwrap_or(name).trim_start_matches('_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Event, Nanos, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp};

    /// Of a stack, innermost first: `module:function` or `module:function@file`.
    fn waits(frames: &[&str]) -> Option<WaitShares> {
        let mut facts = Facts::default();
        let frames = frames.iter().map(|frame| {
            let (module, function) = frame.split_once(':').unwrap();
            let (function, file) = function.split_once('@').unwrap_or((function, ""));
            let module = match module {
                "libc" => "/usr/lib/x86_64-linux-gnu/libc.so.6",
                "jvm" => "/opt/java/lib/server/libjvm.so",
                "py" => "/usr/bin/python3.11",
                "monitor" => "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/monitor.so",
                "app" => "/srv/app",
                language => language,
            };
            StackFrame {
                function: (function != "?").then(|| function.to_string()),
                module: Some(module.to_string()),
                place: (!file.is_empty()).then(|| format!("{file}:7")),
                ..StackFrame::default()
            }
        });
        facts.push(Event::Stack(Stack { id: StackId(1), frames: frames.collect(), cut: false }));
        facts.push(Event::Sample(SampledStack {
            kind: SampleKind::OffCpu,
            ts: Timestamp::new(1),
            cpu: 0,
            pid: 1,
            tid: 1,
            weight: Nanos::new(10),
            user: Some(StackId(1)),
            kernel: None,
        }));
        let process = facts.world.threads.find_process(1).unwrap();
        facts.samples.waits().get(&(process, 1, None)).copied()
    }

    const LOCK: WaitShares = WaitShares { count: 1, lock_ns: 10, timer_ns: 0, work_ns: 0, unclear_ns: 0 };
    const TIMER: WaitShares = WaitShares { lock_ns: 0, timer_ns: 10, ..LOCK };
    const WORK: WaitShares = WaitShares { lock_ns: 0, work_ns: 10, ..LOCK };
    const UNCLEAR: WaitShares = WaitShares { lock_ns: 0, unclear_ns: 10, ..LOCK };

    #[test]
    fn java_tells_monitors_locks_sleeps_pools_and_conditions_apart() {
        let cond = "libc:___pthread_cond_wait";
        let aqs = "[java]:java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire";
        let park = "[java]:java.util.concurrent.locks.LockSupport.park";
        let own = "[java]:shop.Orders.load@Orders.java";
        let entered =
            [cond, "jvm:ObjectMonitor::enter(JavaThread*)", "jvm:InterpreterRuntime::monitorenter", own];
        assert_eq!(waits(&entered), Some(LOCK));
        let lock = "[java]:java.util.concurrent.locks.ReentrantLock.lock";
        assert_eq!(waits(&[cond, "jvm:Unsafe_Park", park, aqs, lock, own]), Some(LOCK));
        // A machine without symbols may wait for a collection or the compiler: of a monitor the reader of its frames tells.
        assert_eq!(waits(&[cond, "jvm:?", own]), Some(UNCLEAR));
        assert_eq!(waits(&[cond, "jvm:?", "[java]:(monitorenter)", own]), Some(LOCK));
        let sleep = "[java]:java.lang.Thread.sleep";
        assert_eq!(waits(&[cond, "jvm:JavaThread::sleep(long)", sleep, own]), Some(TIMER));
        // A latch and a condition are made of the same parts, and may be waits for work.
        let latch = "[java]:java.util.concurrent.CountDownLatch.await";
        assert_eq!(waits(&[cond, park, aqs, latch, own]), Some(UNCLEAR));
        assert_eq!(waits(&[cond, "jvm:?", "[java]:java.lang.Object.wait", own]), Some(UNCLEAR));
        let condition = "[java]:java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await";
        let take = "[java]:java.util.concurrent.LinkedBlockingQueue.take";
        assert_eq!(waits(&[cond, park, condition, take, own]), Some(WORK));
        let accept = ["[java]:sun.nio.ch.NioSocketImpl.accept", "[java]:java.net.ServerSocket.accept", own];
        assert_eq!(waits(&[&[cond, park, aqs, lock], &accept[..]].concat()), Some(WORK));
        let pool = "[java]:java.util.concurrent.ThreadPoolExecutor.getTask";
        assert_eq!(waits(&[cond, park, condition, take, pool, "[java]:java.lang.Thread.run"]), Some(WORK));
    }

    #[test]
    fn threads_of_the_java_virtual_machine_wait_for_work() {
        for of in [
            "GangWorker::loop()",
            "ConcurrentGCThread::run()",
            "CompileQueue::get()",
            "os::signal_wait()",
            "ServiceThread::service_thread_entry(JavaThread*, JavaThread*)",
            "MonitorDeflationThread::monitor_deflation_thread_entry(JavaThread*, JavaThread*)",
            "NMethodSweeper::sweeper_loop()",
            "VMThread::wait_for_operation()",
            "WatcherThread::sleep() const",
        ] {
            let of = format!("jvm:{of}");
            let frames = ["libc:___pthread_cond_wait", &of, "jvm:Thread::call_run()", "libc:start_thread"];
            assert_eq!(waits(&frames), Some(WORK), "{of}");
        }
        // Not known to its beginning: nothing is said.
        assert_eq!(waits(&["libc:__futex_abstimed_wait_common"]), None);
    }

    #[test]
    fn python_tells_its_locks_from_its_queues_joins_and_from_code_without_names() {
        let own = "[python]:work@/srv/app/jobs.py";
        let timed = "py:PyThread_acquire_lock_timed";
        let lock = [timed, "py:acquire_timed", "py:lock_PyThread_acquire_lock"];
        let over = |frames: &[&'static str]| waits(&[&lock[..], frames, &[own]].concat());
        assert_eq!(over(&[]), Some(LOCK));
        let condition = "[python]:Condition.wait@/usr/lib/python3.11/threading.py";
        assert_eq!(over(&[condition]), Some(UNCLEAR));
        assert_eq!(over(&[condition, "[python]:get@/usr/lib/python3.9/queue.py"]), Some(WORK));
        assert_eq!(over(&["[python]:Thread.join@/usr/lib/python3.11/threading.py"]), Some(UNCLEAR));
        // Somebody's own `get` is no queue of the library.
        assert_eq!(over(&["[python]:get@/srv/app/store.py"]), Some(LOCK));
        // Both a lock and a queue in C lead here.
        assert_eq!(waits(&[timed, "py:?", own]), Some(UNCLEAR));
        assert_eq!(waits(&["libc:pthread_cond_timedwait", "py:take_gil", own]), Some(LOCK));
    }

    #[test]
    fn native_locks_and_sleeps_are_told_and_conditions_are_not() {
        let own = ["app:take_order", "app:main"];
        let over = |frames: &[&'static str]| waits(&[frames, &own].concat());
        assert_eq!(over(&["libc:__GI___lll_lock_wait", "libc:___pthread_mutex_lock"]), Some(LOCK));
        assert_eq!(over(&["libc:__GI___clock_nanosleep", "libc:usleep"]), Some(TIMER));
        let in_condition = ["libc:__lll_lock_wait", "libc:___pthread_cond_wait"];
        assert_eq!(over(&in_condition), Some(UNCLEAR));
        assert_eq!(over(&["app:std::sys::sync::mutex::futex::Mutex::lock_contended"]), Some(LOCK));
        let idle = ["app:tokio::runtime::scheduler::multi_thread::park::Parker::park", "libc:start_thread"];
        assert_eq!(waits(&idle), Some(WORK));
        let node = ["app:v8::internal::FutexEmulation::WaitSync(int)", "[node]:poll@/srv/app/a.js"];
        assert_eq!(waits(&node), Some(LOCK));
        // Ruby: the turn of a thread that computes; what a method in C waits for nobody tells.
        let turn = ["libc:___pthread_cond_timedwait64", "ruby:?", "ruby:rb_threadptr_execute_interrupts"];
        assert_eq!(waits(&[&turn[..], &["[ruby]:tally@/srv/a.rb"]].concat()), Some(LOCK));
        assert_eq!(waits(&[&turn[..2], &["[ruby]:tally@/srv/a.rb"]].concat()), Some(UNCLEAR));
        let monitor = ["libc:___pthread_cond_wait", "ruby:?", "monitor:?", "ruby:?"];
        assert_eq!(waits(&[&monitor[..], &["[ruby]:tally@/srv/a.rb"]].concat()), Some(LOCK));
        let condition = ["[ruby]:wait@/usr/lib/ruby/3.1.0/monitor.rb", "[ruby]:tally@/srv/a.rb"];
        assert_eq!(waits(&[&monitor[..], &condition[..]].concat()), Some(UNCLEAR));
        assert_eq!(waits(&["[go]:time.Sleep", "[go]:main.poll"]), Some(TIMER));
        assert_eq!(waits(&["[go]:sync.(*Mutex).Lock", "[go]:main.poll"]), Some(LOCK));
    }
}

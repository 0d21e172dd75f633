//! Stacks: which functions ran, and in which code threads waited.

mod calls_made;
mod code;
mod kernel;
mod objects;
mod sites;
mod waits;

use crate::world::ids::{ObjectId, ProcessId};
use hashbrown::HashMap;
use std::sync::OnceLock;
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, SampleKind, SampledStack, Stack, StackFrame, StackId};
use whyslow_profile::kinds::{Frame, FunctionRef, Roles, is_of_toolchain};

pub use code::CodeTime;
pub use kernel::SystemCallTime;
pub use sites::{Site, SiteTime};
pub use waits::{StackWait, WaitShares};

/// A function with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTime<'a> {
    /// Its name; of code without a symbol the module, or the address.
    pub name: &'a str,
    /// The file that holds its code.
    pub module: Option<&'a str>,
    /// Time in which it was the innermost function.
    pub flat: Nanos,
    /// Time in which it was anywhere on the stack.
    pub cum: Nanos,
}

/// Samples of one kind: how many, and for how much time they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Samples.
    pub count: u64,
    /// The time they stand for, ns.
    pub ns: u64,
}

impl Weight {
    fn add(&mut self, ns: u64) {
        self.join(Weight { count: 1, ns });
    }

    fn join(&mut self, other: Weight) {
        self.count = self.count.saturating_add(other.count);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Function {
    name: Box<str>,
    module: Option<Box<str>>,
    /// Of a frame of a language its source file: two of one name in two files are two. Of native ones that of a toolchain.
    file: Option<Box<str>>,
}

impl Function {
    fn as_ref(&self) -> FunctionRef<'_> {
        FunctionRef {
            name: &self.name,
            module: self.module.as_deref().unwrap_or(""),
            file: self.file.as_deref().unwrap_or(""),
            ..FunctionRef::default()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    process: ProcessId,
    tid: Tid,
    kind: SampleKind,
    user: Option<StackId>,
    kernel: Option<StackId>,
    /// What was waited for, where the call tells.
    object: ObjectId,
}

/// All samples. Bounded; what does not fit keeps its weight.
#[derive(Debug, Default)]
pub struct Samples {
    functions: Vec<Function>,
    /// The source file of each function, in the functions' order, where one is known: it does not tell native functions apart.
    sources: Vec<Option<Box<str>>>,
    by_name: HashMap<Function, u32, foldhash::fast::RandomState>,
    stacks: HashMap<StackId, Box<[u32]>, foldhash::fast::RandomState>,
    rows: HashMap<Key, Weight, foldhash::fast::RandomState>,
    last_waits: objects::LastWaits,
    /// Stacks of short calls.
    calls_made: calls_made::CallsMade,
    /// The lines of stacks' frames, where some are known.
    lines: HashMap<StackId, Box<[u32]>, foldhash::fast::RandomState>,
    places: sites::Places,
    /// What each function is, asked for once all are there.
    roles: OnceLock<Roles>,
    /// What each tells of a wait, likewise.
    told_by: OnceLock<waits::ToldBy>,
}

impl Samples {
    /// Stacks kept; samples of further ones count as samples without a stack.
    const MAX_STACKS: usize = 65_536;
    /// Frames kept of a stack, innermost first.
    const MAX_FRAMES: usize = 128;
    /// Functions told apart.
    const MAX_FUNCTIONS: usize = 65_536;
    /// Rows of thread and stack; past them a thread's further stacks share one row.
    const MAX_ROWS: usize = 131_072;

    pub(crate) fn stack(&mut self, stack: &Stack) {
        if self.stacks.len() >= Self::MAX_STACKS && !self.stacks.contains_key(&stack.id) {
            return;
        }
        let frames = stack.frames.iter().take(Self::MAX_FRAMES).map(|frame| self.function(frame)).collect();
        self.stacks.insert(stack.id, frames);
        let lines = self.places.of(&stack.frames[..stack.frames.len().min(Self::MAX_FRAMES)]);
        if lines.is_empty() {
            self.lines.remove(&stack.id);
        } else {
            self.lines.insert(stack.id, lines);
        }
    }

    fn function(&mut self, frame: &StackFrame) -> u32 {
        let module = frame.module.as_deref();
        let name: Box<str> = match (&frame.function, module) {
            (Some(name), _) => name.as_str().into(),
            (None, Some(module)) => format!("[{}]", module.rsplit('/').next().unwrap_or(module)).into(),
            (None, None) => format!("[{:#x}]", frame.address).into(),
        };
        let keeps = |file: &&str| frame.is_of_language() || is_of_toolchain(file);
        let file = frame.source_file().filter(keeps).map(Box::<str>::from);
        let key = Function { name, module: module.map(Box::<str>::from), file };
        if let Some(&known) = self.by_name.get(&key) {
            if let Some(source @ None) = self.sources.get_mut(known as usize) {
                *source = frame.source_file().map(Box::from);
            }
            return known;
        }
        let full = self.functions.len() >= Self::MAX_FUNCTIONS;
        let key =
            if full { Function { name: "(other functions)".into(), module: None, file: None } } else { key };
        let source = frame.source_file().filter(|_| !full).map(Box::from);
        *self.by_name.entry(key).or_insert_with_key(|function| {
            self.functions.push(function.clone());
            self.sources.push(source);
            self.functions.len() as u32 - 1
        })
    }

    pub(crate) fn sample(&mut self, process: ProcessId, sample: &SampledStack) {
        let known = |id: Option<StackId>| id.filter(|id| self.stacks.contains_key(id));
        let mut key = Key {
            process,
            tid: sample.tid,
            kind: sample.kind,
            user: known(sample.user),
            kernel: known(sample.kernel),
            object: ObjectId::NONE,
        };
        if sample.kind == SampleKind::OffCpu {
            key.object = self.last_waits.stack(key, sample.ts, sample.weight);
        }
        if self.rows.len() >= Self::MAX_ROWS && !self.rows.contains_key(&key) {
            (key.user, key.kernel, key.object) = (None, None, ObjectId::NONE);
        }
        self.rows.entry(key).or_default().add(sample.weight.or_zero());
    }

    /// True where there is no sample of that kind.
    pub fn is_empty(&self, kind: SampleKind) -> bool {
        !self.rows.keys().any(|key| key.kind == kind)
    }

    fn rows_of(
        &self,
        kind: SampleKind,
        process: ProcessId,
        tid: Option<Tid>,
    ) -> impl Iterator<Item = (&Key, &Weight)> {
        self.rows.iter().filter(move |(key, _)| {
            key.kind == kind && key.process == process && tid.is_none_or(|tid| key.tid == tid)
        })
    }

    /// How many functions there are.
    pub fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// A function, with its source file where one is known.
    pub fn function_ref(&self, index: usize) -> FunctionRef<'_> {
        let Some(function) = self.functions.get(index) else { return FunctionRef::default() };
        let source = self.sources.get(index).and_then(|source| source.as_deref());
        FunctionRef { file: function.file.as_deref().or(source).unwrap_or(""), ..function.as_ref() }
    }

    /// Gives each stack of a process, its frames innermost first, with its weight.
    pub fn each_stack(&self, kind: SampleKind, process: ProcessId, take: &mut dyn FnMut(&[Frame], Weight)) {
        let mut frames = Vec::new();
        for (key, weight) in self.rows_of(kind, process, None) {
            frames.clear();
            for id in [key.kernel, key.user].into_iter().flatten() {
                let functions = self.stacks.get(&id).map_or(&[][..], |functions| functions);
                let lines = self.lines.get(&id);
                frames.extend(functions.iter().enumerate().map(|(level, function)| {
                    let place = lines.and_then(|lines| lines.get(level));
                    Frame { function: *function, line: place.map_or(0, |place| self.places.line(*place)) }
                }));
            }
            take(&frames, *weight);
        }
    }

    /// All samples of a process, or of one of its threads.
    pub fn total(&self, kind: SampleKind, process: ProcessId, tid: Option<Tid>) -> Weight {
        self.rows_of(kind, process, tid).fold(Weight::default(), |sum, (_, weight)| Weight {
            count: sum.count + weight.count,
            ns: sum.ns.saturating_add(weight.ns),
        })
    }

    /// The functions by their own time, the largest first.
    pub fn functions(&self, kind: SampleKind, process: ProcessId, tid: Option<Tid>) -> Vec<FunctionTime<'_>> {
        let mut times: HashMap<u32, (u64, u64)> = HashMap::new();
        for (key, weight) in self.rows_of(kind, process, tid) {
            let frames = self.frames(key);
            for (depth, function) in frames.iter().enumerate() {
                let time = times.entry(*function).or_default();
                if depth == 0 {
                    time.0 = time.0.saturating_add(weight.ns);
                }
                // A function that calls itself is on the stack once.
                if !frames[..depth].contains(function) {
                    time.1 = time.1.saturating_add(weight.ns);
                }
            }
        }
        let mut times: Vec<FunctionTime<'_>> = times
            .into_iter()
            .map(|(at, (flat, cum))| {
                let function = &self.functions[at as usize];
                let module = function.module.as_deref();
                FunctionTime { name: &function.name, module, flat: Nanos::new(flat), cum: Nanos::new(cum) }
            })
            .collect();
        times.sort_by(|a, b| (b.flat, b.cum, a.name).cmp(&(a.flat, a.cum, b.name)));
        times
    }

    /// The function of the program's own code in which most time was spent, whatever its libraries, its runtime and the kernel
    /// did for it then. Code without a symbol is none.
    pub fn own_function(&self, kind: SampleKind, process: ProcessId, tid: Option<Tid>) -> Option<&str> {
        self.own_site(kind, process, tid, |_| true).map(|(site, _)| site.function)
    }

    /// The stack with the most time, innermost function first, of those that `wanted` takes; with its weight.
    pub fn heaviest(
        &self,
        kind: SampleKind,
        process: ProcessId,
        tid: Option<Tid>,
        wanted: impl Fn(&[&str]) -> bool,
    ) -> Option<(Vec<&str>, Weight)> {
        let mut stacks: HashMap<Vec<u32>, Weight> = HashMap::new();
        for (key, weight) in self.rows_of(kind, process, tid) {
            let sum = stacks.entry(self.frames(key)).or_default();
            sum.join(*weight);
        }
        stacks
            .into_iter()
            .filter(|(frames, _)| !frames.is_empty())
            .map(|(frames, weight)| (self.names(&frames), weight))
            .filter(|(names, _)| wanted(names))
            .max_by(|a, b| (a.1.ns, a.1.count, &b.0).cmp(&(b.1.ns, b.1.count, &a.0)))
    }

    fn names(&self, frames: &[u32]) -> Vec<&str> {
        frames.iter().map(|at| &*self.functions[*at as usize].name).collect()
    }

    /// The kernel's part of the stack stands on the user's.
    fn frames(&self, key: &Key) -> Vec<u32> {
        let parts = [key.kernel, key.user].into_iter().flatten().filter_map(|id| self.stacks.get(&id));
        parts.flat_map(|frames| frames.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{
        Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
    };

    fn stack(facts: &mut Facts, id: u32, functions: &[&str]) {
        let frames = functions.iter().map(|name| StackFrame {
            function: (*name != "?").then(|| name.to_string()),
            module: Some("/bin/app".to_string()),
            ..StackFrame::default()
        });
        facts.push(Event::Stack(Stack { id: StackId(id), frames: frames.collect(), cut: false }));
    }

    fn sample(facts: &mut Facts, tid: u32, user: u32, kernel: Option<u32>) {
        facts.push(Event::Sample(SampledStack {
            kind: SampleKind::OnCpu,
            ts: Timestamp::new(1),
            cpu: 0,
            pid: 1,
            tid,
            weight: Nanos::new(10),
            user: Some(StackId(user)),
            kernel: kernel.map(StackId),
        }));
    }

    #[test]
    fn flat_and_cum() {
        let mut facts = Facts::default();
        stack(&mut facts, 1, &["hash", "lookup", "lookup", "main"]);
        stack(&mut facts, 2, &["?", "main"]);
        stack(&mut facts, 3, &["clear_page"]);
        for _ in 0..3 {
            sample(&mut facts, 1, 1, None);
        }
        sample(&mut facts, 2, 2, Some(3));
        sample(&mut facts, 2, 99, None);
        let process = facts.world.threads.find_process(1).unwrap();
        let kind = SampleKind::OnCpu;
        let times = facts.samples.functions(kind, process, None);
        let of = |name: &str| {
            let time = times.iter().find(|time| time.name == name).unwrap();
            (time.flat.or_zero(), time.cum.or_zero())
        };
        assert_eq!((of("hash"), of("lookup"), of("main")), ((30, 30), (0, 30), (0, 40)));
        assert_eq!((of("clear_page"), of("[app]")), ((10, 10), (0, 10)));
        assert_eq!(times[0].name, "hash");
        let (frames, weight) = facts.samples.heaviest(kind, process, None, |_| true).unwrap();
        assert_eq!((frames[0], weight.count, weight.ns), ("hash", 3, 30));
        // Neither the kernel's function nor one without a name is the program's.
        assert_eq!(facts.samples.own_function(kind, process, None), Some("hash"));
        assert_eq!(facts.samples.own_function(kind, process, Some(2)), Some("main"));
        let of_kernel =
            |name: &str| facts.samples.in_kernel(kind, process, None, |function| function == name);
        assert_eq!((of_kernel("clear_page").ns, of_kernel("hash").ns), (10, 0));
        // A sample whose stack is not known still stands for its time.
        assert_eq!(facts.samples.total(kind, process, Some(2)).ns, 20);
    }

    #[test]
    fn system_calls_by_the_kernel_and_by_their_wrappers() {
        let mut facts = Facts::default();
        stack(&mut facts, 1, &["__GI___libc_write", "format_row"]);
        stack(&mut facts, 2, &["write_null", "vfs_write", "ksys_write", "do_syscall_64"]);
        stack(&mut facts, 3, &["syscall_exit_work", "do_syscall_64"]);
        stack(&mut facts, 4, &["path_openat", "__x64_sys_openat", "do_syscall_64"]);
        stack(&mut facts, 5, &["irq_exit", "asm_sysvec_apic_timer_interrupt"]);
        for kernel in [2, 3, 3, 4, 5] {
            sample(&mut facts, 1, 1, Some(kernel));
        }
        let process = facts.world.threads.find_process(1).unwrap();
        let calls = facts.samples.system_calls(SampleKind::OnCpu, process);
        let told: Vec<_> = calls.iter().map(|call| (call.name, call.weight.count, call.object)).collect();
        assert_eq!(told, [("write", 3, Some("/dev/null")), ("openat", 1, None)]);
    }
}

//! What the kernel did in samples: which system calls, and for which kind of file, told by the kernel's own functions.

use super::{Key, Samples, Weight};
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{SampleKind, StackId};

/// A system call with the samples in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCallTime<'a> {
    /// Its name: `write`.
    pub name: &'a str,
    /// Its samples.
    pub weight: Weight,
    /// What it was made for, where the kernel's functions in it are of one kind of file.
    pub object: Option<&'static str>,
}

/// Functions that the kernel runs for one kind of file or peer only: drivers/char/mem.c, net/ipv4/, fs/proc/, fs/pipe.c, drivers/char/random.c.
const OBJECTS: &[(&str, &str)] = &[
    ("write_null", "/dev/null"),
    ("read_zero", "/dev/zero"),
    ("read_iter_zero", "/dev/zero"),
    ("urandom_read_iter", "/dev/urandom"),
    ("random_read_iter", "/dev/random"),
    ("tcp4_seq_show", "/proc/net/tcp"),
    ("tcp6_seq_show", "/proc/net/tcp6"),
    ("show_smap", "smaps in /proc"),
    ("show_smaps_rollup", "smaps_rollup in /proc"),
    ("show_stat", "/proc/stat"),
    ("meminfo_proc_show", "/proc/meminfo"),
    ("do_task_stat", "stat in /proc"),
    ("proc_pid_status", "status in /proc"),
    ("proc_pid_readdir", "/proc"),
    ("pipe_write", "a pipe"),
    ("pipe_read", "a pipe"),
    ("anon_pipe_write", "a pipe"),
    ("anon_pipe_read", "a pipe"),
    ("tty_write", "a terminal"),
    ("tcp_sendmsg", "a TCP connection"),
    ("tcp_recvmsg", "a TCP connection"),
    ("unix_stream_sendmsg", "a Unix socket"),
    ("unix_stream_recvmsg", "a Unix socket"),
    ("udp_sendmsg", "a UDP socket"),
    ("udp_recvmsg", "a UDP socket"),
    ("generic_file_read_iter", "a file"),
    ("filemap_read", "a file"),
    ("generic_perform_write", "a file"),
    ("iomap_file_buffered_write", "a file"),
];

/// By what a thread of the kernel goes to sleep on a lock, as their names begin: kernel/locking/rwsem.c, kernel/sched/core.c.
const WAYS_TO_SLEEP: &[&str] = &[
    "rwsem_",
    "down_read",
    "down_write",
    "__down_",
    "schedule",
    "__schedule",
    "io_schedule",
    "finish_task_switch",
    "preempt_schedule",
];

impl Samples {
    /// Samples with such a function of the kernel on the stack: what the kernel did then, and for which kind of file.
    pub fn in_kernel(
        &self,
        kind: SampleKind,
        process: ProcessId,
        tid: Option<Tid>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Weight {
        let wanted: Vec<bool> = self.functions.iter().map(|function| is_wanted(&function.name)).collect();
        let has = |id: StackId| {
            self.stacks.get(&id).is_some_and(|frames| frames.iter().any(|at| wanted[*at as usize]))
        };
        let mut sum = Weight::default();
        for (key, weight) in self.rows_of(kind, process, tid) {
            if key.kernel.is_some_and(has) {
                sum.join(*weight);
            }
        }
        sum
    }

    /// Waits in such a function of the kernel itself, and in nothing that it calls but locks and the scheduler.
    pub fn waits_at(&self, process: ProcessId, tid: Option<Tid>, is_wanted: impl Fn(&str) -> bool) -> Weight {
        let wanted: Vec<bool> = self.functions.iter().map(|function| is_wanted(&function.name)).collect();
        let is_way = |at: u32| {
            let name = &*self.functions[at as usize].name;
            WAYS_TO_SLEEP.iter().any(|way| name.starts_with(way))
        };
        let mut sum = Weight::default();
        for (key, weight) in self.rows_of(SampleKind::OffCpu, process, tid) {
            let stack = key.kernel.and_then(|id| self.stacks.get(&id)).into_iter().flatten();
            if stack.copied().find(|at| !is_way(*at)).is_some_and(|at| wanted[at as usize]) {
                sum.join(*weight);
            }
        }
        sum
    }

    /// The system calls of a process by their time on a CPU, the largest first.
    pub fn system_calls(&self, kind: SampleKind, process: ProcessId) -> Vec<SystemCallTime<'_>> {
        let mut calls: HashMap<&str, (Weight, HashMap<&'static str, u64>)> = HashMap::new();
        for (key, weight) in self.rows_of(kind, process, None) {
            let Some(call) = call_of(self, key) else { continue };
            let mut kernel = key.kernel.and_then(|id| self.stacks.get(&id)).into_iter().flatten();
            let name = |at: &u32| &*self.functions[*at as usize].name;
            let (sum, objects) = calls.entry(call).or_default();
            sum.join(*weight);
            let object = kernel.find_map(|at| OBJECTS.iter().find(|(function, _)| *function == name(at)));
            if let Some((_, object)) = object {
                let ns = objects.entry(*object).or_default();
                *ns = ns.saturating_add(weight.ns);
            }
        }
        let mut calls: Vec<SystemCallTime<'_>> = calls
            .into_iter()
            .map(|(name, (weight, objects))| {
                let all: u64 = objects.values().sum();
                let most = objects.into_iter().max_by_key(|(object, ns)| (*ns, *object));
                let object = most.filter(|(_, ns)| ns.saturating_mul(2) > all).map(|(object, _)| object);
                SystemCallTime { name, weight, object }
            })
            .collect();
        calls.sort_by(|a, b| b.weight.ns.cmp(&a.weight.ns).then(a.name.cmp(b.name)));
        calls
    }
}

/// The system call in which a sample was taken, by the kernel's functions.
pub(super) fn call_of<'a>(samples: &'a Samples, key: &Key) -> Option<&'a str> {
    let kernel = samples.stacks.get(&key.kernel?)?;
    let name = |at: &u32| &*samples.functions[*at as usize].name;
    if !kernel.iter().any(|at| ENTRIES.contains(&name(at))) {
        return None;
    }
    // On its way in and out the kernel has no function of the call yet: then its wrapper in the C library tells it.
    let wrapper =
        || key.user.and_then(|id| samples.stacks.get(&id)?.first()).and_then(|at| of_wrapper(name(at)));
    kernel.iter().rev().find_map(|at| of_kernel(name(at))).or_else(wrapper)
}

/// What the kernel enters a system call by: arch/x86/entry, arch/arm64/kernel/entry-common.c.
const ENTRIES: &[&str] =
    &["do_syscall_64", "entry_SYSCALL_64_after_hwframe", "entry_SYSCALL_64", "el0_svc", "invoke_syscall"];

/// `__x64_sys_openat` and `ksys_write` are calls of that name; so is `__do_sys_flock` where the compiler took the former into its caller.
fn of_kernel(function: &str) -> Option<&str> {
    ["__x64_sys_", "__arm64_sys_", "ksys_", "__se_sys_", "__do_sys_"]
        .iter()
        .find_map(|start| function.strip_prefix(start))
}

/// `__GI___libc_write` is the C library's `write`.
fn of_wrapper(function: &str) -> Option<&str> {
    let function = function.strip_prefix("__GI_").unwrap_or(function);
    let name =
        function.strip_prefix("__libc_").unwrap_or(function).trim_start_matches("__").trim_end_matches("64");
    let is_call = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    // A program's own function may make the call by itself.
    (is_call && name != function).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::of_kernel;

    #[test]
    fn a_call_is_told_by_each_function_that_the_kernel_makes_of_it() {
        for function in ["__x64_sys_flock", "__se_sys_flock", "__do_sys_flock"] {
            assert_eq!(of_kernel(function), Some("flock"));
        }
        assert_eq!(of_kernel("locks_lock_inode_wait"), None);
    }
}

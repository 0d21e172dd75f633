//! System calls and kernel functions that tools count, each under the one name that the tools' names mean.

use super::{Host, Reading, Thing};
use whyslow_model::syscall::Waits;
use whyslow_model::{Entity, Metric, Syscall};

/// What tools put before the name of a system call: tracepoints and entry functions.
const BEFORE: &[&str] = &[
    "tracepoint:",
    "syscalls:",
    "kprobe:",
    "sys_enter_",
    "sys_exit_",
    "__x64_sys_",
    "__arm64_sys_",
    "__se_sys_",
    "__do_sys_",
    "sys_",
];
/// Calls that the kernel's source names otherwise than strace does.
const ALIASES: &[(&str, &str)] = &[
    ("newstat", "stat"),
    ("newlstat", "lstat"),
    ("newfstat", "fstat"),
    ("newuname", "uname"),
    ("sendfile64", "sendfile"),
];

/// `syscalls:sys_enter_newlstat` is `lstat`.
pub fn call_name(mut name: &str) -> &str {
    while let Some(rest) = BEFORE.iter().find_map(|before| name.strip_prefix(before)) {
        name = rest;
    }
    ALIASES.iter().find(|(kernel, _)| *kernel == name).map_or(name, |(_, known)| known)
}

/// Calls that do the same thing: what opens a file is one.
pub fn call_family(name: &str) -> &str {
    match name {
        "open" | "openat" | "openat2" | "creat" | "opens" => "open",
        name => name,
    }
}

/// True for a call whose time is waiting, not work.
pub fn is_wait(of: &Entity) -> bool {
    let syscall = Syscall::lookup(call_name(of.name()).as_bytes());
    syscall.is_some_and(|syscall| matches!(syscall.info().waits, Waits::Always | Waits::ByArguments))
}

impl Host {
    /// The call of the whole host that works longest, and its time, seconds a second, where a source tells both.
    pub fn dearest_work(&self) -> Option<(&Entity, f64)> {
        let told = self.told_of_functions(Metric::CallTime).into_iter();
        let now = told.filter(|(_, of, reading)| reading.is_current() && !is_wait(of));
        now.map(|(_, of, reading)| (of, reading.mean())).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Functions counted, of the whole host and by process.
    pub fn functions(&self) -> Vec<(&Entity, &Thing)> {
        self.things_that(|of| matches!(of, Entity::Function { .. }))
    }

    /// All that tools told of functions of the whole host in that metric, by the name of the call.
    pub fn told_of_functions(&self, metric: Metric) -> Vec<(&str, &Entity, &Reading)> {
        let of_host = self.things_that(|of| matches!(of, Entity::Function { pid: None, .. }));
        let mut told: Vec<(&str, &Entity, &Reading)> = Vec::new();
        for (of, thing) in of_host {
            let readings = thing.readings.iter().filter(|reading| reading.metric == metric);
            told.extend(readings.map(|reading| (call_name(of.name()), of, reading)));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_has_one_name() {
        for name in ["lstat", "newlstat", "syscalls:sys_enter_newlstat", "__x64_sys_newlstat", "sys_newlstat"]
        {
            assert_eq!(call_name(name), "lstat");
        }
        assert_eq!(call_name("tracepoint:syscalls:sys_enter_openat"), "openat");
        assert_eq!(call_name("vfs_fstatat"), "vfs_fstatat");
        assert_eq!(call_family(call_name("openat")), "open");
    }
}

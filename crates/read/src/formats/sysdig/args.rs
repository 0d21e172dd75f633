//! The parameters of sysdig's events, and the arguments that strace writes for the same call.

use super::line::is_key;
use std::borrow::Cow;
use whyslow_model::event::Ret;
use whyslow_model::{Errno, text};

/// Parameters of an event in their order: `fd=3(<f>/etc/hosts) size=512`.
#[derive(Clone, Default, Debug)]
pub(super) struct Values<'l>(Vec<(&'l str, &'l str)>);

/// Parameters of one event; clone has some twenty.
const MOST_VALUES: usize = 64;

impl<'l> Values<'l> {
    /// A value goes on to the next word that is a name and `=`; data is whatever stands behind its name.
    pub(super) fn of(params: &'l str) -> Values<'l> {
        let mut values = Vec::new();
        let mut rest = params.trim();
        while let Some((key, value)) = rest.split_once('=').filter(|(key, _)| is_key(key)) {
            if values.len() >= MOST_VALUES {
                break;
            }
            let end = if key == "data" { value.len() } else { next_key(value) };
            values.push((key, value.get(..end).unwrap_or("").trim_end()));
            rest = value.get(end..).unwrap_or("").trim_start();
        }
        Values(values)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'l str> {
        self.0.iter().find(|(is, _)| *is == key).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The number at the start of a value: 3 of `3(<f>/etc/hosts)`.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        text::decimal(self.get(key)?.as_bytes()).map(|(value, _)| value)
    }

    /// True for what only sysdig writes: a descriptor with its kind, or a result by that name.
    pub(super) fn tell_sysdig(&self) -> bool {
        self.has("res") || self.get("fd").is_some_and(|fd| fd.contains("(<"))
    }
}

/// Where the next ` key=` stands.
fn next_key(value: &str) -> usize {
    let spaces = value.bytes().enumerate().filter(|(_, byte)| *byte == b' ').map(|(at, _)| at);
    let mut found = spaces.filter(|at| {
        let word = value.get(at + 1..).and_then(|rest| rest.split(' ').next()).unwrap_or("");
        word.split_once('=').is_some_and(|(key, _)| is_key(key))
    });
    found.next().unwrap_or(value.len())
}

/// A piece of a call's arguments, by the parameter that has it.
#[derive(Clone, Copy)]
enum Part {
    /// An open descriptor.
    Fd(&'static str),
    /// The directory that a path is relative to.
    Dir(&'static str),
    /// A path.
    Path(&'static str),
    /// A number, or the names in brackets behind it.
    Named(&'static str),
    /// A number in hexadecimal without its `0x`.
    Address(&'static str),
    /// Data that is not shown.
    Data,
    /// As it is.
    Word(&'static str),
}

use Part::{Address, Data, Dir, Fd, Named, Path, Word};

/// Calls whose arguments rules and views look into, in strace's order; of the others the parameters are given as they are.
static SHAPES: &[(&[&str], &[Part])] = &[
    (&["open"], &[Path("name"), Named("flags"), Word("mode")]),
    (&["openat", "openat2"], &[Dir("dirfd"), Path("name"), Named("flags"), Word("mode")]),
    (&["creat"], &[Path("name"), Word("mode")]),
    (&["read", "write", "recv", "send"], &[Fd("fd"), Data, Word("size")]),
    (&["pread", "pread64", "pwrite", "pwrite64"], &[Fd("fd"), Data, Word("size"), Word("pos")]),
    (&["readv", "writev", "preadv", "pwritev"], &[Fd("fd"), Data, Word("size")]),
    (&["recvfrom", "sendto", "recvmsg", "sendmsg"], &[Fd("fd"), Data, Word("size")]),
    (&["lseek", "llseek"], &[Fd("fd"), Word("offset"), Named("whence")]),
    (&["stat", "lstat", "stat64", "lstat64"], &[Path("path")]),
    (&["newfstatat", "fstatat64", "statx"], &[Dir("dirfd"), Path("path"), Named("flags")]),
    (&["access"], &[Path("name"), Named("mode")]),
    (&["unlink", "rmdir", "chdir"], &[Path("path")]),
    (&["mkdir"], &[Path("path"), Word("mode")]),
    (&["unlinkat"], &[Dir("dirfd"), Path("name"), Named("flags")]),
    (&["mkdirat"], &[Dir("dirfd"), Path("path"), Word("mode")]),
    (&["rename"], &[Path("oldpath"), Path("newpath")]),
    (&["renameat", "renameat2"], &[Dir("olddirfd"), Path("oldpath"), Dir("newdirfd"), Path("newpath")]),
    (&["futex"], &[Address("addr"), Word("op"), Word("val")]),
    (&["munmap"], &[Address("addr"), Word("length")]),
    (
        &["mmap", "mmap2"],
        &[Address("addr"), Word("length"), Named("prot"), Named("flags"), Fd("fd"), Word("offset")],
    ),
    (&["dup", "dup2", "dup3"], &[Fd("fd")]),
    (&["sendfile"], &[Fd("out_fd"), Fd("in_fd"), Word("offset"), Word("size")]),
];

/// A call as strace would write it.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) args: String,
    /// What it returned, where an exit tells.
    pub(super) value: Option<i64>,
    error: Option<Errno>,
    /// What strace writes behind the result.
    pub(super) note: String,
}

impl Written {
    /// The call of that name by the parameters of its entry and exit. `accepted` tells which descriptors are of
    /// connections that were accepted.
    pub(super) fn of(
        name: &str,
        enter: &Values<'_>,
        exit: &Values<'_>,
        accepted: &dyn Fn(i64) -> bool,
    ) -> Written {
        let mut written = Written::default();
        written.take_result(name, exit, accepted);
        let find = |key: &str| enter.get(key).or_else(|| exit.get(key));
        let fd = |key: &str| find(key).map(|value| descriptor(value, accepted));
        let parts: Vec<Cow<'_, str>> = match name {
            "nanosleep" | "clock_nanosleep" => {
                find("interval").or(find("rqtp")).map(|value| interval(value).into()).into_iter().collect()
            }
            "poll" | "ppoll" => poll(find("fds").unwrap_or(""), find("timeout").unwrap_or("?")),
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
                vec!["?".into(), "[]".into(), find("maxevents").unwrap_or("?").into(), "?".into()]
            }
            "socket" => vec![
                symbol(find("domain").unwrap_or("?")).into(),
                kind_of_socket(find("type").unwrap_or("?")),
                find("proto").unwrap_or("?").into(),
            ],
            "connect" | "accept" | "accept4" | "bind" => {
                let own = if name.starts_with("accept") { None } else { fd("fd") };
                let of = if name == "bind" { find("addr") } else { find("tuple") };
                let end = of.and_then(|tuple| end_of(tuple, name == "connect")).map(address);
                [Some(own.unwrap_or("?".into())), Some(end.unwrap_or_default().into())]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            "execve" | "execveat" => {
                let program = find("filename").filter(|name| *name != "<NA>").or(find("exe")).unwrap_or("");
                // Which dots of `args` part two arguments is not told.
                let first = find("exe").map_or(String::new(), |exe| format!("{}, ", quote(exe)));
                vec![quote(program).into(), format!("[{first}...]").into()]
            }
            "clone" | "clone3" | "fork" | "vfork" => {
                find("flags").map(|flags| format!("flags={}", symbol(flags)).into()).into_iter().collect()
            }
            "pipe" | "pipe2" => vec![
                format!("[{}, {}]", fd("fd1").unwrap_or("?".into()), fd("fd2").unwrap_or("?".into())).into(),
            ],
            name => match SHAPES.iter().find(|(names, _)| names.contains(&name)) {
                Some((_, parts)) => {
                    parts.iter().filter_map(|part| part.write(&find, accepted, written.value)).collect()
                }
                None => enter
                    .0
                    .iter()
                    .chain(&exit.0)
                    .filter(|(key, _)| !matches!(*key, "res" | "data") && !is_of_task(key))
                    .map(|(key, value)| match *key {
                        "fd" => descriptor(value, accepted),
                        "path" | "name" | "target" | "linkpath" | "oldpath" | "newpath" => {
                            quote(path(value)).into()
                        }
                        _ => symbol(value).into(),
                    })
                    .collect(),
            },
        };
        written.args = parts.join(", ");
        written
    }

    fn take_result(&mut self, name: &str, exit: &Values<'_>, accepted: &dyn Fn(i64) -> bool) {
        let shown = exit.get("res").or_else(|| exit.get("fd").filter(|_| gives_descriptor(name)));
        let Some(shown) = shown else { return };
        if matches!(name, "mmap" | "mmap2" | "brk" | "mremap") && !shown.starts_with('-') {
            let digits = shown.split('(').next().unwrap_or("");
            self.value = u64::from_str_radix(digits, 16).ok().map(|value| value as i64);
            return;
        }
        let Some((value, _)) = text::decimal(shown.as_bytes()) else { return };
        let inside = inside(shown);
        match inside.filter(|name| value < 0 && name.starts_with('E')) {
            Some(error) => {
                self.error = Some(Errno::lookup(error.as_bytes()));
                self.value = Some(-1);
            }
            None => {
                self.value = Some(value);
                if inside.is_some_and(|inside| inside.starts_with('<')) {
                    let new = name.starts_with("accept");
                    let whole = descriptor(shown, &|fd| new || accepted(fd));
                    self.note = whole.split_once('<').map_or(String::new(), |(_, note)| format!("<{note}"));
                }
            }
        }
    }

    /// As the model has it.
    pub(super) fn result(&self) -> (Ret, Errno) {
        (self.value.map_or(Ret::Unknown, Ret::Value), self.error.unwrap_or(Errno::NONE))
    }
}

impl Part {
    fn write<'v>(
        self,
        find: &dyn Fn(&str) -> Option<&'v str>,
        accepted: &dyn Fn(i64) -> bool,
        moved: Option<i64>,
    ) -> Option<Cow<'v, str>> {
        Some(match self {
            Fd(key) => descriptor(find(key)?, accepted),
            Dir(key) => match find(key) {
                Some(value) if value.contains("AT_FDCWD") => "AT_FDCWD".into(),
                Some(value) => descriptor(value, accepted),
                None => "AT_FDCWD".into(),
            },
            Path(key) => quote(path(find(key)?)).into(),
            Named(key) => symbol(find(key)?).into(),
            Address(key) => match find(key)? {
                "0" | "<NA>" => "NULL".into(),
                value => format!("0x{}", value.to_ascii_lowercase()).into(),
            },
            // None of it is there, of as much as was moved.
            Data => if moved.is_some_and(|moved| moved > 0) { "\"\"..." } else { "\"\"" }.into(),
            Word(key) => match find(key)? {
                // `op=129(FUTEX_PRIVATE_FLAG|FUTEX_WAKE)`: strace names the operation and the flag in one.
                value if key == "op" => futex_operation(value).into(),
                value => value.split('(').next().unwrap_or(value).into(),
            },
        })
    }
}

/// True for a call whose exit shows its result as `fd`.
pub(super) fn gives_descriptor(name: &str) -> bool {
    matches!(
        name,
        "open"
            | "openat"
            | "openat2"
            | "creat"
            | "accept"
            | "accept4"
            | "socket"
            | "signalfd"
            | "inotify_init"
            | "open_by_handle_at"
    )
}

/// What clone and execve tell of the new task.
fn is_of_task(key: &str) -> bool {
    matches!(
        key,
        "tid"
            | "pid"
            | "ptid"
            | "cwd"
            | "fdlimit"
            | "pgft_maj"
            | "pgft_min"
            | "vm_size"
            | "vm_rss"
            | "vm_swap"
            | "comm"
            | "cgroups"
            | "env"
            | "tty"
            | "pgid"
            | "loginuid"
            | "vtid"
            | "vpid"
    )
}

/// What stands in the brackets at the end: `<f>/etc/hosts` of `13(<f>/etc/hosts)`.
fn inside(value: &str) -> Option<&str> {
    value.strip_suffix(')')?.split_once('(').map(|(_, inside)| inside)
}

/// The names of `4097(O_RDONLY|O_CLOEXEC)`; a plain value as it is.
fn symbol(value: &str) -> &str {
    let names = |text: &&str| {
        text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_|".contains(&byte))
    };
    inside(value).filter(|text| !text.is_empty()).filter(names).unwrap_or(value)
}

/// `13(<f>/etc/hosts)` as `13</etc/hosts>`, sockets as `5<TCP:[1.2.3.4:5->6.7.8.9:80]>`.
fn descriptor<'v>(value: &'v str, accepted: &dyn Fn(i64) -> bool) -> Cow<'v, str> {
    let (number, _) = value.split_once('(').unwrap_or((value, ""));
    let Some((kind, what)) = inside(value).and_then(|inside| inside.strip_prefix('<')?.split_once('>'))
    else {
        return number.into();
    };
    let is_accepted = number.parse().is_ok_and(accepted);
    let ends = || match what.split_once("->") {
        Some((client, server)) if is_accepted => format!("[{server}->{client}]"),
        _ => format!("[{what}]"),
    };
    let note = match kind {
        "f" | "d" if what.starts_with('/') => what.to_string(),
        "4t" => format!("TCP:{}", ends()),
        "6t" => format!("TCPv6:{}", ends()),
        "4u" => format!("UDP:{}", ends()),
        "6u" => format!("UDPv6:{}", ends()),
        "u" => {
            // `<u>address->address /run/x.sock`
            let path = what.split_once(' ').map(|(_, path)| path).filter(|path| !path.is_empty());
            path.map_or_else(|| "UNIX:[]".to_string(), |path| format!("UNIX:[0->0,\"{path}\"]"))
        }
        "p" => format!("pipe:[{}]", what.trim_start_matches("pipe:[").trim_end_matches(']')),
        "l" => "anon_inode:[eventpoll]".to_string(),
        "e" => "anon_inode:[eventfd]".to_string(),
        "t" => "anon_inode:[timerfd]".to_string(),
        "s" => "anon_inode:[signalfd]".to_string(),
        "i" => "anon_inode:inotify".to_string(),
        "n" => "NETLINK:[]".to_string(),
        _ => return number.into(),
    };
    format!("{number}<{note}>").into()
}

/// A path; a relative one has the whole behind it: `hosts(/etc/hosts)`.
fn path(value: &str) -> &str {
    inside(value).filter(|whole| whole.starts_with('/')).unwrap_or(value)
}

/// As strace quotes.
fn quote(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `1000000000(1s)` as `{tv_sec=1, tv_nsec=0}`.
fn interval(value: &str) -> String {
    let ns = text::decimal(value.as_bytes()).map_or(0, |(ns, _)| ns.max(0));
    format!("{{tv_sec={}, tv_nsec={}}}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// `3:f1 4:u4` and a timeout as `[{fd=3}, {fd=4}], 2, 1000`.
fn poll<'v>(fds: &'v str, timeout: &'v str) -> Vec<Cow<'v, str>> {
    let fds: Vec<String> = fds
        .split_ascii_whitespace()
        .filter_map(|one| one.split(':').next().filter(|fd| !fd.is_empty()))
        .map(|fd| format!("{{fd={fd}, events=POLLIN}}"))
        .collect();
    let count = fds.len().to_string();
    vec![format!("[{}]", fds.join(", ")).into(), count.into(), timeout.into()]
}

/// `128(FUTEX_PRIVATE_FLAG)`: FUTEX_WAIT is 0, so that only the flag is named.
fn futex_operation(value: &str) -> String {
    let names = symbol(value);
    let private = names.contains("FUTEX_PRIVATE_FLAG");
    let command =
        names.split('|').find(|name| !matches!(*name, "FUTEX_PRIVATE_FLAG" | "FUTEX_CLOCK_REALTIME"));
    let command = match command {
        Some(name) if name.starts_with("FUTEX_") => name,
        Some("0") | None => "FUTEX_WAIT",
        Some(other) => other,
    };
    format!("{command}{}", if private { "_PRIVATE" } else { "" })
}

/// The type's number by its name, without the flags above it (`include/linux/net.h`).
fn kind_of_socket(value: &str) -> Cow<'_, str> {
    match text::decimal(value.as_bytes()).map(|(kind, _)| kind & 0xf) {
        Some(1) => "SOCK_STREAM".into(),
        Some(2) => "SOCK_DGRAM".into(),
        Some(3) => "SOCK_RAW".into(),
        Some(5) => "SOCK_SEQPACKET".into(),
        _ => value.into(),
    }
}

/// The end of `10.0.0.1:4000->10.0.0.2:80` that strace shows: of connect the server's, of accept the client's.
fn end_of(tuple: &str, server: bool) -> Option<&str> {
    match tuple.split_once("->") {
        Some((client, of_server)) => Some(if server { of_server } else { client }),
        None => Some(tuple).filter(|tuple| !tuple.is_empty() && *tuple != "NULL"),
    }
}

/// `10.0.0.2:80` or `/run/x.sock` as a structure.
fn address(end: &str) -> String {
    if let Some((_, path)) = end.split_once(' ').filter(|(_, path)| path.starts_with('/')) {
        return format!("{{sa_family=AF_UNIX, sun_path={}}}", quote(path));
    }
    if end.starts_with('/') {
        return format!("{{sa_family=AF_UNIX, sun_path={}}}", quote(end));
    }
    match end.rsplit_once(':') {
        Some((host, port)) if host.contains(':') => format!(
            "{{sa_family=AF_INET6, sin6_port=htons({port}), inet_pton(AF_INET6, {}, &sin6_addr)}}",
            quote(host)
        ),
        Some((host, port)) => {
            format!("{{sa_family=AF_INET, sin_port=htons({port}), sin_addr=inet_addr({})}}", quote(host))
        }
        None => String::new(),
    }
}

/// A program with its arguments, which sysdig ends with dots for the zero bytes.
pub(super) fn command_line(exe: &str, args: &str) -> String {
    const MOST: usize = 4096;
    let whole = format!("{exe} {}", args.trim_end_matches('.'));
    whole.get(..whole.floor_char_boundary(MOST)).unwrap_or("").trim_end().to_string()
}

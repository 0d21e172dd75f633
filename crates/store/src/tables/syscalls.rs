//! Table `syscalls`: the calls, in the order in which they ended.

use super::{Keep, Replay, SEQ, Table};
use crate::column::{Column, Kind, Rows, Take};
use crate::text::storable;
use std::borrow::Cow;
use whyslow_model::syscall::{FdArg, Moves, PathArg};
use whyslow_model::{Call, CallFlags, Errno, Event, Ret, Syscall, text};

pub(crate) static TABLE: Table = Table {
    name: "syscalls",
    about: "A syscall (of a converted ltrace: a library call), complete or as far as it was seen.",
    columns: &[
        SEQ,
        Column::maybe("ts", Kind::Time, "When it was entered."),
        Column::maybe("dur", Kind::Duration, "How long it took."),
        Column::maybe("pid", Kind::U32, "The process."),
        Column::always("tid", Kind::U32, "The thread."),
        Column::maybe("cpu", Kind::U32, "The CPU on which it returned."),
        Column::always("syscall", Kind::Word, "Which call."),
        Column::maybe("ret", Kind::I64, "What it returned; -1 on error."),
        Column::maybe("errno", Kind::Word, "The error by name; null on success."),
        Column::always("args", Kind::Text, "The arguments, as strace prints them."),
        Column::maybe("ret_note", Kind::Text, "What strace prints behind the result."),
        Column::maybe("fd", Kind::I32, "The descriptor in the first argument."),
        Column::maybe("path", Kind::Text, "The path among the arguments, or what the descriptor is where that is told."),
        Column::maybe("bytes", Kind::I64, "Bytes read, written or moved by a call that succeeded."),
        Column::maybe("flags", Kind::Word, "Words: unfinished, start-missing, library, joined, cut (long arguments)."),
    ],
    keep: Keep::Newest,
    replay,
};

#[inline]
pub(super) fn put(call: &Call<'_>, seq: u64, rows: &mut Rows) {
    let (args, cut) = storable(call.args);
    let mut row = rows.row(seq);
    row.time(call.ts).nanos(call.dur).u32(call.pid).u32(Some(call.tid)).u32(call.cpu.map(u32::from));
    row.bytes(Some(call.name)).i64(call.ret.value());
    match call.errno {
        Errno::NONE => row.text(None),
        errno => row.text(Some(&errno_word(errno))),
    };
    row.text(Some(&args)).bytes(Some(call.ret_note).filter(|note| !note.is_empty()));
    let (fd, path) = objects(call);
    let bytes = (call.syscall.info().moves != Moves::None).then(|| call.ok()).flatten();
    row.i32(fd).bytes(path).i64(bytes.filter(|bytes| *bytes >= 0)).text(flag_words(call.flags, cut)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let mut call = Call::new("", "");
    (call.source, call.line, call.end_line) = (to.source, seq, seq);
    call.ts = row.time();
    call.dur = row.nanos();
    call.pid = row.u32();
    call.tid = row.u32()?;
    call.cpu = row.u32().and_then(|cpu| cpu.try_into().ok());
    call.name = row.text()?.as_bytes();
    call.syscall = Syscall::lookup(call.name).unwrap_or(Syscall::UNLISTED);
    call.ret = row.i64().map_or(Ret::Unknown, Ret::Value);
    call.errno = row.text().map_or(Errno::NONE, of_errno_word);
    call.args = row.text()?.as_bytes();
    call.ret_note = row.text().unwrap_or_default().as_bytes();
    (0..3).for_each(|_| row.skip());
    call.flags = flags_of(row.text());
    to.sink.push(Event::Call(&call));
    Some(())
}

/// The descriptor and the path that the call works on, as far as its arguments show them.
#[inline]
fn objects<'a>(call: &Call<'a>) -> (Option<i32>, Option<&'a [u8]>) {
    let info = call.syscall.info();
    let (fd, target) = match info.fd {
        FdArg::First => call.first_fd().map_or((None, None), |(fd, target)| (Some(fd), target)),
        FdArg::None => (None, None),
    };
    let argument = match info.path {
        PathArg::None => return (fd, target),
        PathArg::First => call.arg(0),
        PathArg::Second => call.arg(1),
    };
    let path = argument.and_then(text::quoted).map(|(path, _)| path).filter(|path| !path.is_empty());
    (fd, path.or(target))
}

/// The error by name; one without a name by its number.
fn errno_word(errno: Errno) -> Cow<'static, str> {
    let name = errno.name();
    if errno == Errno::OTHER || Errno::lookup(name.as_bytes()) == errno {
        return name.into();
    }
    format!("E{}", errno.0).into()
}

fn of_errno_word(word: &str) -> Errno {
    match Errno::lookup(word.as_bytes()) {
        Errno::OTHER => word.get(1..).and_then(|number| number.parse().ok()).map_or(Errno::OTHER, Errno),
        errno => errno,
    }
}

/// The flags with their words. `cut` is the store's own.
const FLAGS: [(CallFlags, &str); 4] = [
    (CallFlags::END_NOT_SEEN, "unfinished"),
    (CallFlags::START_NOT_SEEN, "start-missing"),
    (CallFlags::LIBRARY, "library"),
    (CallFlags::JOINED, "joined"),
];

/// The words of a set of flags, separated by spaces; `None` where none is set.
#[inline]
pub(super) fn flag_words(flags: CallFlags, cut: bool) -> Option<&'static str> {
    if flags == CallFlags::default() && !cut {
        return None;
    }
    let set = FLAGS.iter().enumerate().map(|(at, (flag, _))| usize::from(flags.contains(*flag)) << at);
    Some(&WORDS[set.sum::<usize>() + (usize::from(cut) << FLAGS.len())])
}

static WORDS: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
    let words: Vec<&str> = FLAGS.iter().map(|(_, word)| *word).chain(["cut"]).collect();
    let set = |bits: usize| {
        let set: Vec<&str> = (0..words.len()).filter(|at| bits >> at & 1 == 1).map(|at| words[at]).collect();
        set.join(" ")
    };
    (0..1 << words.len()).map(set).collect()
});

/// The flags of the words. A word of a later version is passed over.
#[inline]
pub(super) fn flags_of(words: Option<&str>) -> CallFlags {
    let Some(words) = words else { return CallFlags::default() };
    let known = |word: &str| FLAGS.iter().find(|(_, known)| *known == word).map(|(flag, _)| *flag);
    words.split(' ').filter_map(known).fold(CallFlags::default(), CallFlags::with)
}

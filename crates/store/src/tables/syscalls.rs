//! Table `syscalls`: the calls, in the order in which they ended.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use crate::text::storable;
use std::borrow::Cow;
use std::ops::Range;
use whyslow_model::syscall::{FdArg, Moves, PathArg};
use whyslow_model::{Call, CallFlags, Errno, Event, Ret, Syscall, text};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "syscalls",
    about: "A syscall (of a converted ltrace: a library call), complete or as far as it was seen.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When it was entered; of one that began before, when its thread was first watched."),
        ColumnSpec::maybe("dur", Kind::Duration, "How long it took."),
        ColumnSpec::maybe("pid", Kind::U32, "The process."),
        ColumnSpec::always("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("cpu", Kind::U32, "The CPU on which it returned."),
        ColumnSpec::always("syscall", Kind::Word, "Which call."),
        ColumnSpec::maybe("ret", Kind::I64, "What it returned; -1 on error."),
        ColumnSpec::maybe("errno", Kind::Word, "The error by name; null on success."),
        ColumnSpec::always("args", Kind::Text, "The arguments, as strace prints them; {path} stands for the column path."),
        ColumnSpec::maybe("ret_note", Kind::Text, "What strace prints behind the result; {path} as in args. Of a call that was under way all along: how long its thread had slept in it."),
        ColumnSpec::maybe("fd", Kind::I32, "The descriptor in the first argument."),
        ColumnSpec::maybe("path", Kind::Text, "The path among the arguments, or what the descriptor is where that is told."),
        ColumnSpec::maybe("bytes", Kind::I64, "Bytes read, written or moved by a call that succeeded."),
        ColumnSpec::maybe("flags", Kind::Word, "Words: unfinished, start-missing, library, joined, cut (long arguments)."),
    ],
    keep: Keep::Newest,
    replay,
};

/// Stands for the path in the arguments. Without the path many calls have the same arguments, which then take a bit or
/// two: the text of a path is stored once a call, not twice.
const PATH: &str = "{path}";

#[inline]
pub(super) fn put(call: &Call<'_>, seq: u64, rows: &mut Rows) {
    let ((args, cut), (note, _)) = (storable(call.args), storable(call.ret_note));
    let (fd, path) = objects(call, &args);
    // Where the text itself has the words, a reader could not tell.
    let path = path.filter(|_| !has_path(&args) && !has_path(&note));
    let mut row = rows.row(seq);
    row.time(call.ts).nanos(call.dur).u32(call.pid).u32(Some(call.tid)).u32(call.cpu.map(u32::from));
    row.bytes(Some(call.name)).i64(call.ret.value());
    match call.errno {
        Errno::NONE => row.text(None),
        errno => row.text(Some(&errno_word(errno))),
    };
    match &path {
        Some(at) => row.pieces(&[&args[..at.start], PATH, &args[at.end..]]),
        None => row.text(Some(&args)),
    };
    let path = path.map(|at| &args[at]);
    match note.strip_prefix('<').and_then(|note| note.strip_suffix('>')) {
        Some(target) if Some(target) == path => row.pieces(&["<", PATH, ">"]),
        _ => row.text(Some(&*note).filter(|note| !note.is_empty())),
    };
    let bytes = (call.syscall.info().moves != Moves::None).then(|| call.ok()).flatten();
    row.i32(fd).text(path).i64(bytes.filter(|bytes| *bytes >= 0)).text(flag_words(call.flags, cut)).end();
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
    let (args, note) = (row.text()?, row.text().unwrap_or_default());
    row.skip();
    let path = row.text();
    row.skip();
    call.flags = flags_of(row.text());
    let [args_buffer, note_buffer] = &mut to.buffers;
    call.args = with_path(args, path, args_buffer).as_bytes();
    call.ret_note = with_path(note, path, note_buffer).as_bytes();
    to.sink.push(Event::Call(&call));
    Some(())
}

fn has_path(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), PATH.as_bytes()).is_some()
}

/// The text with its path in place.
#[inline]
fn with_path<'a>(text: &'a str, path: Option<&str>, buffer: &'a mut String) -> &'a str {
    let found = path.and_then(|path| Some((path, memchr::memmem::find(text.as_bytes(), PATH.as_bytes())?)));
    let Some((path, at)) = found else { return text };
    buffer.clear();
    buffer.push_str(&text[..at]);
    buffer.push_str(path);
    buffer.push_str(&text[at + PATH.len()..]);
    buffer
}

/// The descriptor that the call works on and where the path stands in `args`, as far as these show them. `args` are
/// the call's own, as they are stored.
#[inline]
fn objects(call: &Call<'_>, args: &str) -> (Option<i32>, Option<Range<usize>>) {
    let info = call.syscall.info();
    let (fd, target) = match info.fd {
        FdArg::First => match text::descriptor(args.as_bytes()) {
            Some((fd, target)) => (Some(fd), target),
            None => (None, None),
        },
        FdArg::None => (None, None),
    };
    let argument = match info.path {
        PathArg::None => None,
        PathArg::First => text::argument(args.as_bytes(), 0),
        PathArg::Second => text::argument(args.as_bytes(), 1),
    };
    let path = argument.and_then(text::quoted).map(|(path, _)| path).filter(|path| !path.is_empty());
    let place = path.or(target).filter(|path| !path.is_empty()).map(|path| {
        let start = path.as_ptr().addr() - args.as_ptr().addr();
        start..start + path.len()
    });
    (fd, place)
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

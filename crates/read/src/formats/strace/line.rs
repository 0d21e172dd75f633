//! One line to one [`Record`], without looking at any other line: so batches can be parsed side by side.

use super::batch::Batch;
use super::names::{Errors, Names, Vocabulary};
use super::prefix::{self, Seen};
use super::record::{Kind, Marks, NO_TIME, Record, Span};
use super::{result, usual};
use memchr::{memchr, memmem};
use whyslow_model::Syscall;

/// Parses the lines of batches. Holds only caches: what it returns depends on nothing but the line.
#[derive(Debug)]
pub(crate) struct LineParser {
    dialect: Dialect,
    seen: Seen,
    words: Vocabulary,
}

/// Whose line shape it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    Strace,
    Ltrace,
}

impl LineParser {
    pub(crate) fn new(dialect: Dialect) -> LineParser {
        LineParser {
            dialect,
            seen: Seen::default(),
            words: Vocabulary { names: Names::of_syscalls(), errors: Errors::of_errors() },
        }
    }

    /// Parses the next lines of `batch` into its records; false where none are left. A line that must be
    /// rewritten to be read (colour codes, argument names) is appended to the text, and its record points there.
    pub(crate) fn parse(&mut self, batch: &mut Batch) -> bool {
        batch.forget_records();
        match self.dialect {
            Dialect::Strace => self.parse_lines::<false>(batch),
            Dialect::Ltrace => self.parse_lines::<true>(batch),
        }
        !batch.records.is_empty()
    }

    fn parse_lines<const LIBRARY: bool>(&mut self, batch: &mut Batch) {
        const ESCAPE: u8 = 0x1b;
        let (most, end_of_lines) = (batch.most_records(), batch.lines_end);
        let Batch { text, records, parsed, .. } = batch;
        let coloured = memchr(ESCAPE, &text[*parsed..end_of_lines]).is_some();
        while *parsed < end_of_lines && records.len() < most {
            let start = *parsed;
            let end = start + line_length(&text[start..end_of_lines]);
            *parsed = (end + 1).min(end_of_lines);
            let (from, to) = match coloured {
                true => without_colour(text, start, end).unwrap_or((start, end)),
                false => (start, end),
            };
            self.parse_line::<LIBRARY>(text, from, to, records);
            if records.last().is_some_and(|record| record.marks.has(Marks::NAMED_ARGS)) {
                drop_argument_names(text, records);
            }
        }
    }

    /// Parses `batch[start..end]`, a line without its `\n`.
    #[inline(always)]
    fn parse_line<const LIBRARY: bool>(
        &mut self,
        batch: &[u8],
        start: usize,
        end: usize,
        records: &mut Vec<Record>,
    ) {
        let mut line = &batch[start..end];
        while let [head @ .., b' ' | b'\r' | b'\t'] = line {
            line = head;
        }
        if !LIBRARY {
            records.push(Record::default());
            let Some(record) = records.last_mut() else { return };
            if usual::read(line, start, &self.seen, &mut self.words, record).is_some() {
                return;
            }
            records.pop();
        }
        self.parse_any::<LIBRARY>(line, start, records);
    }

    /// Parses a line of any shape, which starts at `start` in its batch.
    #[inline(never)]
    fn parse_any<const LIBRARY: bool>(&mut self, line: &[u8], start: usize, records: &mut Vec<Record>) {
        if line.is_empty() {
            return records.push(Record::default());
        }
        let prefix = prefix::parse(line, &mut self.seen);
        if prefix.comm.1 > prefix.comm.0 {
            records.push(Record {
                kind: Kind::Comm,
                tid: prefix.tid,
                args: Span::new(start + prefix.comm.0, start + prefix.comm.1),
                ..Record::default()
            });
        }
        // Filled in where it stays: built elsewhere and moved, it would be read before its parts are written.
        records.push(Record { ts: NO_TIME, dur: NO_TIME, ..Record::default() });
        let Some(record) = records.last_mut() else { return };
        record.line = Span::new(start, start + line.len());
        record.tid = prefix.tid;
        record.ts = prefix.ts;
        record.marks = Marks::of_clock(prefix.clock, prefix.sub_second);
        let words = &mut self.words;
        match line.get(prefix.rest) {
            Some(b'a'..=b'z' | b'_') => call::<LIBRARY>(words, line, prefix.rest, start, record),
            Some(b'<') => resumed::<LIBRARY>(words, line, prefix.rest, start, record),
            _ => uncommon::<LIBRARY>(words, line, prefix.rest, start, record),
        }
    }
}

#[cfg(test)]
impl LineParser {
    /// Takes the second of a line as the one seen last.
    pub(crate) fn see(&mut self, line: &[u8]) {
        prefix::parse(line, &mut self.seen);
    }

    /// What [`usual::read`] makes of a line.
    pub(crate) fn usual(&mut self, line: &[u8]) -> Option<Record> {
        let mut record = Record::default();
        usual::read(line, 0, &self.seen, &mut self.words, &mut record).map(|()| record)
    }

    /// What a line is, read without [`usual`].
    pub(crate) fn reference(&mut self, line: &[u8]) -> Vec<Record> {
        let mut records = Vec::new();
        self.parse_any::<false>(line, 0, &mut records);
        records
    }
}

/// Where the first line of the text ends. Lines are short: `memchr` would take as long to begin as to search.
#[inline(always)]
fn line_length(text: &[u8]) -> usize {
    const STEP: usize = 32;
    const SHORT: usize = 8 * STEP;
    let mut at = 0;
    while at < SHORT
        && let Some(step) = text.get(at..).and_then(|rest| rest.first_chunk::<STEP>())
    {
        if step.iter().fold(false, |any, byte| any | (*byte == b'\n')) {
            return at + first_newline(step);
        }
        at += STEP;
    }
    let rest = text.get(at..).unwrap_or(b"");
    memchr(b'\n', rest).map_or(text.len(), |found| at + found)
}

/// Where the first `\n` stands, which is there.
#[inline(always)]
fn first_newline(step: &[u8; 32]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    for bytes in step.as_chunks::<8>().0 {
        let difference = u64::from_le_bytes(*bytes) ^ (ONES * b'\n' as u64);
        // The lowest bit marks the first zero byte (the ones above it may be wrong).
        let zeros = difference.wrapping_sub(ONES) & !difference & TOPS;
        if zeros != 0 {
            return at + zeros.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at
}

/// `name(args) = result`, or a part of it.
#[inline(always)]
fn call<const LIBRARY: bool>(
    words: &mut Vocabulary,
    line: &[u8],
    name_at: usize,
    base: usize,
    record: &mut Record,
) {
    let found =
        if LIBRARY { library_name(line, name_at) } else { words.names.identify::<b'('>(line, name_at) };
    let Some((length, syscall)) = found else {
        return other(words, line, name_at, base, record);
    };
    enter_name::<LIBRARY>(line, name_at, length, syscall, base, record);
    let open = name_at + length;
    let args_at = open + 1;
    if !LIBRARY
        && line.get(args_at).is_some_and(u8::is_ascii_lowercase)
        && has_argument_names(&line[args_at..])
    {
        record.marks.set(Marks::NAMED_ARGS);
    }
    if line.ends_with(b"...>") {
        for (ending, kind) in [
            (&b"<unfinished ...>"[..], Kind::Unfinished),
            (b"<detached ...>", Kind::Abandoned),
            (b"<no return ...>", Kind::Abandoned),
        ] {
            if line.ends_with(ending) {
                record.kind = kind;
                record.args =
                    Span::new(base + args_at, base + trimmed(line, args_at, line.len() - ending.len()));
                return;
            }
        }
    }
    let (end, dur) = result::duration(line);
    record.dur = dur;
    if let Some(found) = result::find::<LIBRARY>(&line[..end], open, &mut words.errors) {
        record.kind = Kind::Call;
        fill(line, args_at, end, base, found, record);
        return;
    }
    if syscall == Syscall::UNLISTED && !LIBRARY {
        return other(words, line, name_at, base, record);
    }
    record.kind = Kind::Torn;
    record.dur = NO_TIME;
    record.args = Span::new(base + args_at, base + without_tracer_message(line, args_at).max(args_at));
}

/// Enters a found result, and the arguments before it, into the record.
#[inline(always)]
fn fill(
    line: &[u8],
    args_at: usize,
    end: usize,
    base: usize,
    found: result::CallResult,
    record: &mut Record,
) {
    let mut close = found.close.max(args_at);
    // `read(3,  <unfinished ...>) = ?`: the process died in the call.
    if line[args_at..close].last() == Some(&b'>') && line[args_at..close].ends_with(b"<unfinished ...>") {
        close = trimmed(line, args_at, close - b"<unfinished ...>".len());
    }
    record.args = Span::new(base + args_at, base + close);
    record.note = Span::new(base + found.note, base + end);
    record.errno = found.errno.0;
    if let Some(ret) = found.ret {
        record.ret = ret;
        record.marks.set(Marks::HAS_RET);
    }
    // ltrace -S shows the kernel's own result: -2, not -1 ENOENT.
    const LARGEST_ERRNO: i64 = 4095;
    if (-LARGEST_ERRNO..0).contains(&record.ret) && record.ret != -1 && is_raw_syscall(line, record, base) {
        record.errno = (-record.ret) as u16;
        record.ret = -1;
    }
}

/// True for a syscall as ltrace shows it.
fn is_raw_syscall(line: &[u8], record: &Record, base: usize) -> bool {
    let at = (record.name_start as usize).wrapping_sub(base);
    line.get(at..at.saturating_add(record.name_len as usize)).is_some_and(|name| syscall_of(name).is_some())
}

/// Enters a name into the record.
#[inline(always)]
fn enter_name<const LIBRARY: bool>(
    line: &[u8],
    at: usize,
    length: usize,
    syscall: Syscall,
    base: usize,
    record: &mut Record,
) {
    record.name_start = (base + at) as u32;
    record.name_len = length as u16;
    record.syscall = syscall.0;
    if LIBRARY && syscall_of(&line[at..at + length]).is_none() {
        record.marks.set(Marks::LIBRARY);
    }
}

/// ltrace's name that starts at `at`: its length up to the `(`, and the syscall if it is one.
fn library_name(line: &[u8], at: usize) -> Option<(usize, Syscall)> {
    // Demangled C++ holds nearly anything; but no name is longer than this, or ends with a space.
    const LONGEST: usize = 512;
    let rest = line.get(at..line.len().min(at + LONGEST))?;
    let length = memchr(b'(', rest)?;
    let name = &rest[..length];
    let named = length > 0 && !name.ends_with(b" ");
    named.then(|| (length, syscall_of(name).unwrap_or(Syscall::UNLISTED)))
}

/// The syscall that ltrace calls `SYS_write` (0.7) or `write@SYS` (0.8); `None` for a library function.
fn syscall_of(name: &[u8]) -> Option<Syscall> {
    let plain = name.strip_prefix(b"SYS_").or_else(|| name.strip_suffix(b"@SYS"))?;
    let known = Syscall::lookup(plain).or_else(|| {
        // ltrace has the kernel's table of long ago: `pread`, `pwrite`.
        (plain == b"pread").then_some(Syscall::PREAD64).or((plain == b"pwrite").then_some(Syscall::PWRITE64))
    });
    Some(known.unwrap_or(Syscall::UNLISTED))
}

/// `<... poll resumed> ) = 1 ([…]) <1.779099>`.
#[inline(always)]
fn resumed<const LIBRARY: bool>(
    words: &mut Vocabulary,
    line: &[u8],
    at: usize,
    base: usize,
    record: &mut Record,
) {
    let Some(rest) = line.get(at..).filter(|rest| rest.starts_with(b"<... ")) else {
        return uncommon::<LIBRARY>(words, line, at, base, record);
    };
    const RESUMED: &[u8] = b" resumed>";
    let name_at = at + b"<... ".len();
    let found = if LIBRARY {
        let length = memmem::find(rest, RESUMED).and_then(|end| end.checked_sub(name_at - at));
        length.map(|length| {
            let name = &line[name_at..name_at + length];
            (length.min(u16::MAX as usize), syscall_of(name).unwrap_or(Syscall::UNLISTED))
        })
    } else {
        words.names.identify::<b' '>(line, name_at)
    };
    let found = found.filter(|(length, _)| line[name_at + length..].starts_with(RESUMED));
    let Some((length, syscall)) = found else {
        return other(words, line, at, base, record);
    };
    enter_name::<LIBRARY>(line, name_at, length, syscall, base, record);
    let mut args_at = name_at + length + RESUMED.len();
    if line.get(args_at) == Some(&b' ') {
        args_at += 1;
    }
    let (end, dur) = result::duration(line);
    record.dur = dur;
    if let Some(found) = result::find::<LIBRARY>(&line[..end], args_at, &mut words.errors) {
        record.kind = Kind::Resumed;
        fill(line, args_at, end, base, found, record);
    } else if line.ends_with(b"<unfinished ...>") {
        record.kind = Kind::ResumedUnfinished;
        record.args =
            Span::new(base + args_at, base + trimmed(line, args_at, line.len() - b"<unfinished ...>".len()));
    } else {
        record.kind = Kind::Other;
        record.marks.set(Marks::CALL_LIKE);
    }
}

/// Lines that are no call, or one with an unusual start.
#[inline(never)]
fn uncommon<const LIBRARY: bool>(
    words: &mut Vocabulary,
    line: &[u8],
    rest: usize,
    base: usize,
    record: &mut Record,
) {
    let text = line.get(rest..).unwrap_or(b"");
    record.args = Span::new(base + rest, base + line.len());
    if text.starts_with(b"--- ") {
        record.kind = Kind::Signal;
    } else if text.starts_with(b"+++ ") && text.ends_with(b"+++") {
        record.kind = Kind::Exit;
    } else if text.starts_with(b" > ") {
        record.kind = Kind::Frame;
    } else if text.starts_with(b" | ") || (text.starts_with(b"[ Process PID=") && text.ends_with(b"]")) {
        // A hex dump (`-e read=`, `-e write=`), a change of the process's word size.
        record.kind = Kind::Meta;
    } else if LIBRARY && text.trim_ascii_start().starts_with(b"<no return ...>") {
        record.kind = Kind::Meta;
    } else if LIBRARY {
        // Indented (`-n`), with the caller's address (`-i`), or a name that starts with a capital.
        let mut at = rest + text.len() - text.trim_ascii_start().len();
        if line.get(at..).is_some_and(|rest| rest.starts_with(b"[0x")) {
            at = memchr(b' ', &line[at..]).map_or(at, |space| at + space + 1);
        }
        let known_start = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'~');
        match line.get(at) {
            Some(b'<') if at > rest => resumed::<true>(words, line, at, base, record),
            Some(byte) if known_start(byte) => call::<true>(words, line, at, base, record),
            _ => other(words, line, rest, base, record),
        }
    } else if text.first().is_some_and(u8::is_ascii_uppercase)
        && words.names.identify::<b'('>(line, rest).is_some()
    {
        // `SYS_6246()`: a syscall without a name in strace 4.
        call::<false>(words, line, rest, base, record);
    } else {
        other(words, line, rest, base, record);
    }
}

/// Neither a call nor anything else that strace prints at the start of a line; perhaps the rest of a torn call.
#[cold]
fn other(words: &mut Vocabulary, line: &[u8], rest: usize, base: usize, record: &mut Record) {
    let text = line.get(rest..).unwrap_or(b"");
    record.args = Span::new(base + rest, base + line.len());
    record.name_len = 0;
    record.dur = NO_TIME;
    record.kind = Kind::Other;
    if text.starts_with(b"strace: ") {
        record.kind = Kind::Tracer;
    } else if is_process_message(text) {
        record.kind = Kind::Meta;
    } else if holds_call(text) {
        record.marks.set(Marks::CALL_LIKE);
    } else if rest == 0 {
        // `child_stack=0, flags=SIGCHLD) = 21721`, `) = 36`: perhaps the rest of a torn call.
        let (end, dur) = result::duration(line);
        if let Some(found) = result::find::<false>(&line[..end], 0, &mut words.errors) {
            record.kind = Kind::Tail;
            fill(line, 0, end, base, found, record);
            record.dur = dur;
        }
    }
}

/// `Process 9195 attached`, with what strace 4 adds behind it.
pub(crate) fn is_process_message(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"Process ") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &rest[digits..];
    digits > 0
        && [&b" attached"[..], b" detached", b" suspended", b" resumed"]
            .iter()
            .any(|word| rest.starts_with(word))
}

/// Where a torn call's text ends: before the message that strace 4 put into the line
/// (`wait4(-1, Process 9194 suspended`), else at the line's end.
fn without_tracer_message(line: &[u8], from: usize) -> usize {
    let text = &line[from..];
    let window = text.len().saturating_sub(80);
    let cut = memmem::rfind(&text[window..], b"Process ")
        .map(|at| window + at)
        .filter(|at| is_process_message(&text[*at..]))
        .map(|at| if text[..at].ends_with(b"strace: ") { at - 8 } else { at });
    trimmed(line, from, from + cut.unwrap_or(text.len()))
}

/// True where a known call stands somewhere in the text: `i1091 stat("/x"`, and not in the middle of a word.
fn holds_call(text: &[u8]) -> bool {
    // A damaged line is quoted from its start; looking further would only cost time on long foreign lines.
    let text = &text[..text.len().min(256)];
    memchr::memchr_iter(b'(', text).any(|open| {
        let name = text[..open]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let before = open.checked_sub(name + 1).and_then(|at| text.get(at));
        name > 0
            && matches!(before, None | Some(b' ' | b']'))
            && Syscall::lookup(&text[open - name..open]).is_some()
            && looks_like_arguments(&text[open + 1..])
    })
}

/// Told from prose (`open (the file)`): arguments begin with a number, a string, a structure or a constant.
fn looks_like_arguments(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'0'..=b'9' | b'"' | b'{' | b'[' | b'-' | b'A'..=b'Z' | b')' | b'&'))
}

/// The end of `line[from..to]` without the spaces at its end.
fn trimmed(line: &[u8], from: usize, to: usize) -> usize {
    let mut end = to.max(from);
    while end > from && line[end - 1] == b' ' {
        end -= 1;
    }
    end
}

/// `fd=3, buf=…` (strace 6.16 `-N`): a lower-case name and `=` in front of the first argument.
fn has_argument_names(args: &[u8]) -> bool {
    argument_name(args).is_some()
}

/// The length of a name with its `=` at the start of an argument.
fn argument_name(text: &[u8]) -> Option<usize> {
    let length = text
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || **byte == b'_')
        .count();
    let named = length > 0 && text[0].is_ascii_lowercase() && text.get(length) == Some(&b'=');
    // `a == b` is no argument with a name.
    (named && text.get(length + 1) != Some(&b'=')).then_some(length + 1)
}

/// Rewrites the last record's arguments without the names of `-N`, behind the batch's lines.
#[cold]
fn drop_argument_names(batch: &mut Vec<u8>, records: &mut [Record]) {
    let Some(record) = records.last_mut() else { return };
    let plain: Vec<u8> = {
        let arguments = whyslow_model::text::arguments(record.args.of(batch));
        let plain = arguments.map(|argument| &argument[argument_name(argument).unwrap_or(0)..]);
        plain.collect::<Vec<_>>().join(&b", "[..])
    };
    let open = record.args.of(batch).last() == Some(&b',');
    let start = batch.len();
    batch.extend_from_slice(&plain);
    if open && !plain.ends_with(b", ") {
        batch.extend_from_slice(b", ");
    }
    record.args = Span::new(start, batch.len());
}

/// The line `batch[start..end]` without its colour codes, behind the batch's lines; `None` if it has none.
#[cold]
fn without_colour(batch: &mut Vec<u8>, start: usize, end: usize) -> Option<(usize, usize)> {
    const ESCAPE: u8 = 0x1b;
    memchr(ESCAPE, &batch[start..end])?;
    let copy_at = batch.len();
    let mut at = start;
    while at < end {
        let byte = batch[at];
        at += 1;
        if byte != ESCAPE {
            batch.push(byte);
        } else if at < end && batch[at] == b'[' {
            // A control sequence: parameters up to a final byte from `@` to `~` (ECMA-48).
            at += 1;
            while at < end && !(0x40..=0x7e).contains(&batch[at]) {
                at += 1;
            }
            at += 1;
        }
    }
    Some((copy_at, batch.len()))
}

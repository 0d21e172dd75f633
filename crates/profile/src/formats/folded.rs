//! Folded stacks, one a line: `java;start_thread;JavaThread::run;read_[k] 17`, the root first, then how often it was seen. With two
//! numbers a line it is the difference of two profiles (`difffolded.pl`), with none each line counts once.
//!
//! What was sampled is not told. py-spy, whose frames name a file and a line (`load (app.py:12)`), looks at threads by the wall clock: one
//! that waits in C code counts as one that runs, and with `--idle` each does.
//!
//! `stackcollapse-perf.pl --all` marks frames: `_[k]` the kernel, `_[j]` code of a JIT, `_[i]` inlined into the frame before, `_[w]` the stack of a waker.

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use whyslow_model::profile::{LabelSetId, LocationId, MappingId, SourceLine, TooLarge};

pub(super) static FOLDED: ProfileFormat = ProfileFormat {
    name: "folded stacks",
    made_by: "perf script | stackcollapse-perf.pl, inferno, py-spy, async-profiler",
    sniff,
    read,
};

/// How many numbers end a line of the file.
fn counts_of(head: &[u8]) -> Option<usize> {
    let lines: Vec<&str> =
        head_lines(head).map(str::trim_end).filter(|line| !is_comment(line)).take(64).collect();
    // Tables of numbers and source code have a semicolon here and there; of stacks most have several frames.
    let of_frames = lines.iter().filter(|line| line.contains(';')).count();
    if lines.is_empty() || of_frames * 2 < lines.len() {
        return None;
    }
    let all_have = |counts: usize| {
        // One line in eight may be damaged.
        let fitting = lines.iter().filter(|line| split_counts(line, counts).is_some()).count();
        fitting * 8 >= lines.len() * 7
    };
    let stacks_alone = || {
        // Without counts only what looks like stacks throughout: CSV and C have their semicolons too.
        lines.iter().all(|line| {
            line.contains(';')
                && !line.ends_with([';', '{', '}'])
                && !line.contains([',', '=', '"', '\t'])
                && !line.contains("//")
        })
    };
    // The difference has two numbers on each line, and as names seldom end in a number, a plain file has not.
    [2, 1].into_iter().find(|counts| all_have(*counts)).or_else(|| stacks_alone().then_some(0))
}

fn sniff(head: &[u8]) -> bool {
    counts_of(head).is_some()
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// True for stacks as py-spy writes them: most end in a frame with a Python file and a line.
fn is_by_py_spy(head: &[u8], counts: usize) -> bool {
    let lines = head_lines(head).map(str::trim_end).filter(|line| !is_comment(line)).take(64);
    let leaves: Vec<&str> =
        lines.filter_map(|line| split_counts(line, counts)?.0.rsplit(';').next()).collect();
    let of_python = leaves.iter().filter(|leaf| is_python_line(leaf)).count();
    of_python * 2 > leaves.len()
}

/// `load (app.py:12)`
fn is_python_line(frame: &str) -> bool {
    let place = frame.trim().strip_suffix(')').and_then(|frame| frame.rsplit_once(" ("));
    let line = place.and_then(|(_, place)| place.rsplit_once(':'));
    line.is_some_and(|(file, line)| file.ends_with(".py") && line.parse::<u32>().is_ok())
}

/// The stack and the numbers behind it.
fn split_counts(line: &str, counts: usize) -> Option<(&str, [i64; 2])> {
    let mut values = [0; 2];
    let mut stack = line;
    for slot in (0..counts).rev() {
        let (before, number) = stack.rsplit_once([' ', '\t'])?;
        values[slot] = count(number)?;
        stack = before.trim_end();
    }
    (!stack.is_empty()).then_some((stack, values))
}

/// A count; some tools write it with decimals.
fn count(text: &str) -> Option<i64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = text.parse::<f64>().ok().filter(|value| is_decimal && *value < i64::MAX as f64)?;
    Some(value.round() as i64)
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let counts = counts_of(bytes.ahead()).unwrap_or(1);
    let types: &[(&str, &str)] = match counts {
        2 => &[("samples before", "count"), ("samples after", "count")],
        1 if is_by_py_spy(bytes.ahead(), counts) => &[("wall", "count")],
        _ => &[("samples", "count")],
    };
    let mut stacks = Stacks::counting(types)?;
    let marks = Marks { kernel: None, jit: None };
    let mut reader = Reader { marks, stack: Vec::new(), lines: Vec::new() };
    let mut notes = Notes::default();
    let mut line = String::new();
    while bytes.line(&mut line)? {
        let line = line.trim_end();
        if is_comment(line) {
            continue;
        }
        let Some((stack, mut values)) = split_counts(line, counts) else {
            notes.damaged(bytes, line, "frames separated by ';', then a count");
            continue;
        };
        if counts == 0 {
            values[0] = 1;
        }
        reader.locate(&mut stacks, stack)?;
        let stack = stacks.builder.stack(&reader.stack)?;
        stacks.builder.sample(stack, LabelSetId(0), &values[..types.len()])?;
    }
    Ok(Loaded::stacks(FOLDED.name, stacks.builder.finish()).with_notes(notes.end(bytes)))
}

/// The mappings that marks stand for, once they are met.
struct Marks {
    kernel: Option<MappingId>,
    jit: Option<MappingId>,
}

struct Reader {
    marks: Marks,
    stack: Vec<LocationId>,
    lines: Vec<SourceLine>,
}

impl Reader {
    /// Fills `stack`, leaf first.
    fn locate(&mut self, stacks: &mut Stacks, folded: &str) -> Result<(), TooLarge> {
        self.stack.clear();
        self.lines.clear();
        let mut frames = folded.rsplit(';').peekable();
        while let Some(frame) = frames.next() {
            let (name, mark) = split_mark(frame.trim());
            // An inlined frame is a line of the location that it was inlined into.
            self.lines.push(stacks.line(name, "", 0)?);
            if mark == Some('i') && frames.peek().is_some() {
                continue;
            }
            let mapping = match mark {
                Some('k') => Some(known(&mut self.marks.kernel, stacks, "[kernel.kallsyms]")?),
                Some('j') => Some(known(&mut self.marks.jit, stacks, "[jit]")?),
                _ => None,
            };
            self.stack.push(stacks.location(mapping, 0, &self.lines)?);
            self.lines.clear();
        }
        Ok(())
    }
}

fn known(slot: &mut Option<MappingId>, stacks: &mut Stacks, file: &str) -> Result<MappingId, TooLarge> {
    match slot {
        Some(known) => Ok(*known),
        None => Ok(*slot.insert(stacks.mapping(file)?)),
    }
}

fn split_mark(frame: &str) -> (&str, Option<char>) {
    for (suffix, mark) in [("_[k]", 'k'), ("_[j]", 'j'), ("_[i]", 'i'), ("_[w]", 'w')] {
        if let Some(name) = frame.strip_suffix(suffix).filter(|name| !name.is_empty()) {
            return (name, Some(mark));
        }
    }
    (frame, None)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes, stacks_of, text};
    use super::*;

    #[test]
    fn frames_are_turned_to_leaf_first_with_their_marks() {
        let profile = stacks_of(
            "# comment\nmain;read;vfs_read_[k] 3\nmain;outer;inner_[i] 4\nmain;read;vfs_read_[k] 3\n",
        );
        assert_eq!(text(&profile), "main read vfs_read = 3\nmain inner>outer = 4\nmain read vfs_read = 3\n");
        assert_eq!((profile.stack_count(), profile.total(0)), (2, 10));
        assert_eq!(profile.str(profile.mappings[0].file), "[kernel.kallsyms]");
        assert_eq!(profile.locations.iter().filter(|location| location.mapping.is_some()).count(), 1);
    }

    #[test]
    fn a_line_has_one_count_two_or_none() {
        assert_eq!(text(&stacks_of("a;b 0 7\na;c 3 0\n")), "a b = 0 7\na c = 3 0\n");
        assert_eq!(text(&stacks_of("a;b\na;b\n")), "a b = 1\na b = 1\n");
        assert_eq!(text(&stacks_of("a;b with spaces 2.0\n")), "a b with spaces = 2\n");
    }

    #[test]
    fn what_py_spy_sampled_is_no_time_on_a_cpu() {
        let kind = |text: &str| {
            let profile = stacks_of(text);
            profile.str(profile.sample_types[0].kind).to_string()
        };
        assert_eq!(
            kind("main (app.py:3);load (app.py:12) 40\nmain (app.py:3);wait (threading.py:320) 60\n"),
            "wall"
        );
        assert_eq!(kind("python3;py::load:/app.py;_PyEval_EvalFrameDefault 40\n"), "samples");
        assert_eq!(kind("main (app.py:3);read_[k] 4\nmain;memcpy 4\n"), "samples");
    }

    #[test]
    fn a_damaged_line_is_counted_and_quoted() {
        let mut file = "a;b 1\n".repeat(20);
        file.push_str("a;b no count\n");
        let notes = notes(&file);
        assert_eq!((notes.damaged, notes.first[0].number), (1, 21));
    }

    #[test]
    fn other_texts_are_none() {
        for other in [
            "int main() { return 0; }\n",
            "a,b;c,d\n",
            "x = 1;\ny = 2;\n",
            "one 1\ntwo 2\n",
            "local;catalog.xml\nsystem;http://a.org/b.dtd\n",
        ] {
            assert!(!sniff(other.as_bytes()), "{other:?}");
        }
    }
}

//! The text of `perf script`: a head line a sample, then its frames, the leaf first, then an empty line.
//!
//! ```text
//! java 12688/12701 [002]  6544.038708:     250000 cpu-clock:pppH:
//!         7f533952bc77 _dl_check_map_versions+0x597 (/usr/lib/ld-2.24.so)
//!         7f53389994d0 inlined_away (inlined)
//!         7f53389994d0 [unknown] ([unknown])
//! ```

mod head;

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use head::Head;
use whyslow_model::Profile;
use whyslow_model::profile::{
    CallStackId, Label, LabelSetId, LabelValue, LocationId, MappingId, SourceLine, StringId, TooLarge,
};

pub(super) static PERF_SCRIPT: ProfileFormat =
    ProfileFormat { name: "perf script", made_by: "perf record -g, then perf script", sniff, read };

/// A sample's head among the first lines (perf may warn before it), and what belongs behind one.
fn sniff(head: &[u8]) -> bool {
    let mut lines = head_lines(head).filter(|line| !line.is_empty() && !line.starts_with('#')).take(50);
    let Some(first) = lines.by_ref().take(5).find_map(Head::parse) else { return false };
    match lines.next() {
        None => first.rest.is_empty() || frame(first.rest).is_some(),
        Some(next) => frame(next).is_some() || Head::parse(next).is_some(),
    }
}

/// A line of a stack.
struct Frame<'a> {
    address: u64,
    symbol: &'a str,
    /// The file that it is in; `inlined` for a function inlined into the next frame.
    object: &'a str,
}

fn frame(line: &str) -> Option<Frame<'_>> {
    let (address, rest) = line.trim().split_once(char::is_whitespace)?;
    let address = u64::from_str_radix(address, 16).ok()?;
    // `(/tmp/x (deleted))` has a bracket of its own; names of C++ have more, and spaces.
    let (symbol, object) = match rest.strip_suffix(" (deleted))") {
        Some(rest) => rest.rsplit_once('(')?,
        None => rest.strip_suffix(')')?.rsplit_once('(')?,
    };
    let symbol = symbol.trim();
    let symbol = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    Some(Frame { address, symbol, object })
}

/// `file.c:123` on a line of its own (`perf script -F +srcline`).
fn source_line(line: &str) -> Option<(&str, i64)> {
    let (file, number) = line.trim().rsplit_once(':')?;
    Some((file, number.parse().ok()?))
}

/// A sample, until all events are known.
struct Kept {
    stack: CallStackId,
    labels: LabelSetId,
    event: u32,
    period: i64,
}

/// The last frame, which a line of source may follow.
#[derive(Default)]
struct LastFrame {
    is_there: bool,
    is_inlined: bool,
    mapping: Option<MappingId>,
    address: u64,
    symbol: String,
    file: String,
    line: i64,
}

struct Event {
    name: String,
    has_period: bool,
}

struct Reader {
    stacks: Stacks,
    samples: Vec<Kept>,
    events: Vec<Event>,
    keys: [StringId; 3],
    /// The sample whose frames are read.
    open: Option<Kept>,
    stack: Vec<LocationId>,
    last: LastFrame,
    /// Functions that were inlined into a frame that has not come yet.
    inlined: Vec<SourceLine>,
    span: Option<(i64, i64)>,
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut stacks = Stacks::default();
    let keys =
        [stacks.builder.string("thread")?, stacks.builder.string("pid")?, stacks.builder.string("tid")?];
    let mut reader = Reader {
        stacks,
        samples: Vec::new(),
        events: Vec::new(),
        keys,
        open: None,
        stack: Vec::new(),
        last: LastFrame::default(),
        inlined: Vec::new(),
        span: None,
    };
    let mut notes = Notes::default();
    let mut line = String::new();
    while bytes.line(&mut line)? {
        if !reader.line(&line)? {
            notes.damaged(bytes, &line, "a sample's head or a frame of perf script");
        }
    }
    reader.close()?;
    Ok(Loaded::stacks(PERF_SCRIPT.name, reader.finish()?).with_notes(notes.end(bytes)))
}

impl Reader {
    /// More events than any machine can count at once: the rest are one.
    const MOST_EVENTS: usize = 64;

    /// False where the line is neither a head nor a part of the stack below one.
    fn line(&mut self, line: &str) -> Result<bool, TooLarge> {
        if line.trim_start().is_empty() {
            self.close()?;
            return Ok(true);
        }
        if line.starts_with('#') {
            return Ok(true);
        }
        // Frames are by far the most, and only heads begin at the margin.
        if !line.starts_with('\t')
            && let Some(head) = Head::parse(line)
        {
            self.close()?;
            self.open(head)?;
            return Ok(true);
        }
        if self.open.is_none() || !line.starts_with(char::is_whitespace) {
            return Ok(false);
        }
        if let Some(frame) = frame(line) {
            self.frame(frame)?;
        } else if let Some((file, number)) = source_line(line).filter(|_| self.last.is_there) {
            self.last.file.push_str(file);
            self.last.line = number;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn open(&mut self, head: Head<'_>) -> Result<(), TooLarge> {
        let builder = &mut self.stacks.builder;
        let [thread, pid, tid] = self.keys;
        let name = builder.string(head.comm)?;
        let number = |key, value| Label { key, value: LabelValue::Number(value, StringId(0)) };
        let labels = [
            Label { key: thread, value: LabelValue::Text(name) },
            number(tid, head.tid),
            number(pid, head.pid.unwrap_or(0)),
        ];
        let labels = builder.label_set(&labels[..if head.pid.is_some() { 3 } else { 2 }])?;
        let known = self.events.iter().position(|event| event.name == head.event);
        let event = known.unwrap_or_else(|| {
            if self.events.len() < Reader::MOST_EVENTS {
                self.events.push(Event { name: head.event.to_string(), has_period: head.period.is_some() });
            }
            self.events.len() - 1
        });
        if let Some(time) = head.time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        let period = head.period.unwrap_or(1);
        self.open = Some(Kept { stack: CallStackId(0), labels, event: event as u32, period });
        match frame(head.rest) {
            Some(frame) => self.frame(frame),
            None => Ok(()),
        }
    }

    fn frame(&mut self, frame: Frame<'_>) -> Result<(), TooLarge> {
        self.place_last()?;
        let is_inlined = frame.object == "inlined";
        let mapping = match frame.object {
            "inlined" | "[unknown]" | "" => None,
            object => Some(self.stacks.mapping(object)?),
        };
        let last = &mut self.last;
        (last.is_there, last.is_inlined, last.mapping, last.address) =
            (true, is_inlined, mapping, frame.address);
        last.symbol.clear();
        last.symbol.push_str(frame.symbol);
        Ok(())
    }

    fn place_last(&mut self) -> Result<(), TooLarge> {
        let last = &mut self.last;
        if !std::mem::take(&mut last.is_there) {
            return Ok(());
        }
        self.inlined.push(self.stacks.line(&last.symbol, &last.file, last.line)?);
        last.file.clear();
        last.line = 0;
        if !last.is_inlined {
            self.stack.push(self.stacks.location(last.mapping, last.address, &self.inlined)?);
            self.inlined.clear();
        }
        Ok(())
    }

    /// The sample's stack has ended.
    fn close(&mut self) -> Result<(), TooLarge> {
        self.place_last()?;
        if !self.inlined.is_empty() {
            self.stack.push(self.stacks.location(None, 0, &self.inlined)?);
            self.inlined.clear();
        }
        let Some(sample) = self.open.take() else { return Ok(()) };
        if self.stack.is_empty() {
            // perf's own word for a frame it cannot name.
            self.stack.push(self.stacks.place("[unknown]", "", 0)?);
        }
        let stack = self.stacks.builder.stack(&self.stack)?;
        self.stack.clear();
        self.stacks.builder.spend(size_of::<Kept>())?;
        self.samples.push(Kept { stack, ..sample });
        Ok(())
    }

    /// One event: how many samples, and the sum of its periods where perf tells them. Several: a sample type each.
    fn finish(mut self) -> Result<Profile, TooLarge> {
        let mut types = Vec::new();
        let is_single = self.events.len() <= 1;
        if is_single {
            types.push(self.stacks.value_type("samples", "count")?);
        }
        for event in &self.events {
            if !is_single || event.has_period {
                types.push(self.stacks.value_type(&event.name, unit(event))?);
            }
        }
        let width = types.len();
        let profile = self.stacks.builder.profile();
        profile.sample_types = types;
        profile.duration_ns = self.span.map(|(first, last)| last - first).filter(|span| *span > 0);
        let mut values = vec![0; width];
        for sample in self.samples {
            if is_single {
                let pair = [1, sample.period];
                values.copy_from_slice(&pair[..width]);
            } else {
                values.fill(0);
                values[sample.event as usize] = sample.period;
            }
            self.stacks.builder.sample(sample.stack, sample.labels, &values)?;
        }
        Ok(self.stacks.builder.finish())
    }
}

/// The clocks of perf count ns (perf_event_open(2), PERF_TYPE_SOFTWARE); everything else counts.
fn unit(event: &Event) -> &'static str {
    match event.name.as_str() {
        "cpu-clock" | "task-clock" if event.has_period => "nanoseconds",
        _ => "count",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{notes, stacks_of, text};

    const TWO: &str = "\
# ========
java 7/8 [002] 10.000001:     500 cpu-clock:pppH: 
\tffffff inner(int, char)+0x12 (inlined)
\tffffff outer+0x12 (/tmp/a.so (deleted))
  a.c:77
\t   1f0 main+0x1 (/tmp/prog)

java 7/8 [002] 12.000001:     500 cpu-clock:pppH: 

";

    #[test]
    fn stacks_have_inlined_functions_lines_and_threads() {
        let profile = stacks_of(TWO);
        assert_eq!(
            text(&profile),
            "main inner(int, char)>outer = 1 500 thread:java tid:8 pid:7\n[unknown] = 1 500 thread:java tid:8 pid:7\n"
        );
        assert_eq!(profile.duration_ns, Some(2_000_000_000));
        assert_eq!(profile.str(profile.sample_types[1].unit), "nanoseconds");
        let leaf = profile.sample(0).stack[0];
        assert_eq!(profile.lines_of(leaf)[1].line, 77);
        let mapping = profile.locations[leaf.0 as usize].mapping.unwrap();
        assert_eq!(profile.str(profile.mappings[mapping.0 as usize].file), "/tmp/a.so");
    }

    #[test]
    fn each_of_several_events_has_its_own_sum() {
        let profile = stacks_of("a 1 1.5: 3 cycles: \n\t1 x (y)\n\na 1 1.6: page-faults: \n\t1 x (y)\n\n");
        assert_eq!(text(&profile), "x = 3 0 thread:a tid:1\nx = 0 1 thread:a tid:1\n");
    }

    #[test]
    fn a_sample_without_a_call_chain_has_its_frame_behind_the_event() {
        let profile = stacks_of(
            "    a 1 1.5: 3 cycles:  ffff read+0x1 ([kernel.kallsyms])\n    a 1 1.7: 3 cycles:  ffff read+0x1 ([kernel.kallsyms])\n",
        );
        assert_eq!(text(&profile), "read = 1 3 thread:a tid:1\nread = 1 3 thread:a tid:1\n");
    }

    #[test]
    fn other_lines_are_counted() {
        let notes = notes("a 1 1.5: 3 cycles: \n\t1 x (y)\nWarning: lost\n\n");
        assert_eq!((notes.damaged, notes.first[0].number), (1, 3));
    }
}

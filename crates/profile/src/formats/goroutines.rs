//! The stacks of all goroutines as Go prints them when it panics, on SIGQUIT, and for `/debug/pprof/goroutine?debug=2`. Several dumps in one file are a sample
//! of the wall-clock time of all goroutines.
//!
//! ```text
//! goroutine 22 [sleep, 1 minutes, locked to thread]:
//! time.Sleep(0x3b9aca00)
//!         /usr/local/go/src/runtime/time.go:188 +0xbf
//! created by main.main in goroutine 1
//!         /src/main.go:185 +0x35
//! ```

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use hashbrown::HashSet;
use whyslow_model::profile::{Label, LabelValue, LocationId, TooLarge};

pub(super) static GOROUTINES: ProfileFormat = ProfileFormat {
    name: "goroutine dump",
    made_by: "/debug/pprof/goroutine?debug=2, kill -QUIT, a panic",
    sniff: |head| head_lines(head).take(200).any(|line| Head::parse(line).is_some()),
    read,
};

/// `goroutine 22 [sleep, 1 minutes]:`, perhaps behind other text of the program.
struct Head<'a> {
    number: u64,
    state: &'a str,
    minutes: i64,
    is_locked: bool,
}

impl<'a> Head<'a> {
    fn parse(line: &'a str) -> Option<Head<'a>> {
        let (_, rest) = line.split_once("goroutine ")?;
        let (number, rest) = rest.split_once(' ')?;
        let number = number.parse().ok()?;
        // `gp=0xc000 m=0 mp=0x1` since Go 1.21.
        let (_, inside) = rest.split_once('[')?;
        let (inside, _) = inside.rsplit_once("]:")?;
        let mut parts = inside.split(", ");
        let mut head = Head { number, state: parts.next()?, minutes: 0, is_locked: false };
        for part in parts {
            match part.strip_suffix(" minutes") {
                Some(minutes) => head.minutes = minutes.parse().ok()?,
                None => head.is_locked |= part == "locked to thread",
            }
        }
        Some(head)
    }
}

struct Reader {
    stacks: Stacks,
    /// Goroutines of the dump that is read: with one of them the next dump begins.
    dumped: HashSet<u64>,
    dumps: u64,
    labels: Vec<Label>,
    stack: Vec<LocationId>,
    /// A function whose file and line come next.
    function: String,
    is_creator: bool,
    is_open: bool,
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut stacks = Stacks::counting(&[("goroutine", "count")])?;
    let period_type = stacks.value_type("goroutine", "count")?;
    let profile = stacks.builder.profile();
    (profile.period_type, profile.period) = (Some(period_type), Some(1));
    let mut reader = Reader {
        stacks,
        dumped: HashSet::new(),
        dumps: 1,
        labels: Vec::new(),
        stack: Vec::new(),
        function: String::new(),
        is_creator: false,
        is_open: false,
    };
    let mut line = String::new();
    while bytes.line(&mut line)? {
        reader.line(&line)?;
    }
    reader.close()?;
    reader.stacks.dumped(reader.dumps, "goroutine")?;
    Ok(Loaded::stacks(GOROUTINES.name, reader.stacks.builder.finish())
        .with_notes(Notes::default().end(bytes)))
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), TooLarge> {
        if let Some(head) = Head::parse(line) {
            self.close()?;
            return self.open(&head);
        }
        // Between the stacks stands what the program itself printed.
        if !self.is_open || line.trim().is_empty() {
            return self.close();
        }
        if line.starts_with(['\t', ' ']) {
            return self.place(line.trim());
        }
        self.place("")?;
        self.function.clear();
        if let Some(rest) = line.strip_prefix("created by ") {
            self.is_creator = true;
            self.function.push_str(rest.split_once(" in goroutine ").map_or(rest, |(name, _)| name));
        } else if line.starts_with("...") || line.starts_with("goroutine ") {
            // `...additional frames elided...`, `goroutine running on other thread; stack unavailable`.
            self.stack.push(self.stacks.place(&format!("[{}]", line.trim_matches('.')), "", 0)?);
        } else {
            // Arguments stand in the last brackets.
            self.function.push_str(
                line.strip_suffix(')').and_then(|line| line.rsplit_once('(')).map_or(line, |(name, _)| name),
            );
        }
        Ok(())
    }

    fn open(&mut self, head: &Head<'_>) -> Result<(), TooLarge> {
        self.is_open = true;
        // Number 0 is a thread's own stack: there are as many as threads.
        if head.number != 0 && !self.dumped.insert(head.number) {
            self.dumps += 1;
            self.dumped.clear();
            self.dumped.insert(head.number);
        }
        self.stacks.builder.spend(size_of::<u64>())?;
        let builder = &mut self.stacks.builder;
        let state =
            Label { key: builder.string("state")?, value: LabelValue::Text(builder.string(head.state)?) };
        self.labels.push(state);
        if head.minutes > 0 {
            let value = LabelValue::Number(head.minutes, builder.string("minutes")?);
            self.labels.push(Label { key: builder.string("wait")?, value });
        }
        if head.is_locked {
            let value = LabelValue::Text(builder.string("locked to thread")?);
            self.labels.push(Label { key: builder.string("thread")?, value });
        }
        Ok(())
    }

    /// Ends the function that was named last, with its file and line where they stand.
    fn place(&mut self, place: &str) -> Result<(), TooLarge> {
        if self.function.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.is_creator) {
            // Not on the stack: whoever started it went on.
            let builder = &mut self.stacks.builder;
            let value = LabelValue::Text(builder.string(&self.function)?);
            self.labels.push(Label { key: builder.string("created by")?, value });
        } else {
            let place = place.split_once(" +0x").map_or(place, |(place, _)| place);
            let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
            self.stack.push(self.stacks.place(&self.function, file, line.parse().unwrap_or(0))?);
        }
        self.function.clear();
        Ok(())
    }

    fn close(&mut self) -> Result<(), TooLarge> {
        self.place("")?;
        if std::mem::take(&mut self.is_open) {
            let stack = self.stacks.builder.stack(&self.stack)?;
            let labels = self.stacks.builder.label_set(&self.labels)?;
            self.stacks.builder.sample(stack, labels, &[1])?;
        }
        self.stack.clear();
        self.labels.clear();
        debug_assert!(self.function.is_empty());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{stacks_of, text};

    #[test]
    fn states_waits_and_creators_are_labels() {
        let profile = stacks_of(
            "panic: oh no\n\ngoroutine 1 [running]:\nmain.glob..func1(0x14, {0x1, 0x2})\n\t/src/main.go:29 +0x6f\nmain.main()\n\t/src/main.go:152 +0x3d2\n\n\
             goroutine 22 [sleep, 3 minutes, locked to thread]:\ntime.Sleep(0x3b)\n\t/go/time.go:188 +0xbf\ncreated by main.(*T).run in goroutine 1\n\t/src/main.go:185 +0x35\n\nexit status 2\n",
        );
        assert_eq!(
            text(&profile),
            "main.main main.glob..func1 = 1 state:running\n\
             time.Sleep = 1 state:sleep wait:3minutes thread:locked to thread created by:main.(*T).run\n"
        );
        let leaf = profile.sample(0).stack[0];
        assert_eq!(profile.lines_of(leaf)[0].line, 29);
    }

    #[test]
    fn several_dumps_are_a_sample_of_time() {
        let thread = "goroutine 0 [idle]:\nruntime.futex()\n\t/go/sys.s:1 +0x2\n\n";
        let dump = format!("goroutine 1 [running]:\nmain.f()\n\t/a.go:1 +0x2\n\n{thread}{thread}");
        let kind = |text: &str| {
            let profile = stacks_of(text);
            let comment = profile.comments.first().map(|id| profile.str(*id).to_string());
            (profile.str(profile.sample_types[0].kind).to_string(), profile.total(0), comment)
        };
        assert_eq!(kind(&dump), ("goroutine".to_string(), 3, None));
        let comment = "3 goroutine dumps: a sample of wall-clock time".to_string();
        assert_eq!(kind(&dump.repeat(3)), ("wall".to_string(), 9, Some(comment)));
    }

    #[test]
    fn elided_frames_are_said_to_be_there() {
        let profile =
            stacks_of("goroutine 1 [running]:\nmain.f(...)\n\t/a.go:1\n...additional frames elided...\n");
        assert_eq!(text(&profile), "[additional frames elided] main.f = 1 state:running\n");
    }
}

//! Thread dumps of a JVM: `jstack PID`, `kill -QUIT`. Several in one file are a sample of the wall-clock time of all threads.
//!
//! ```text
//! "http-8080-exec-1" #31 daemon prio=5 tid=0x00007f8b nid=0x1ac7 waiting for monitor entry [0x00007f8b234f5000]
//!    java.lang.Thread.State: BLOCKED (on object monitor)
//!         at com.example.Cache.get(Cache.java:45)
//!         - waiting to lock <0x00000000e0> (a java.lang.Object)
//! ```

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use whyslow_model::profile::{Label, LabelValue, LocationId, TooLarge};

pub(super) static JSTACK: ProfileFormat =
    ProfileFormat { name: "Java thread dump", made_by: "jstack PID, kill -QUIT of a JVM", sniff, read };

const FULL_DUMP: &str = "Full thread dump";

fn sniff(head: &[u8]) -> bool {
    // Dumps of any age may be in a strange encoding: the mark is looked for in bytes.
    if memchr::memmem::find(head, FULL_DUMP.as_bytes()).is_some() {
        return true;
    }
    let mut lines = head_lines(head).take(200);
    lines.any(|line| Thread::parse(line).is_some_and(|thread| thread.is_certain))
}

/// `"name" #31 daemon prio=5 tid=… nid=0x1ac7 runnable [0x…]`.
struct Thread<'a> {
    name: &'a str,
    native_id: Option<i64>,
    /// What the VM says of it: `waiting on condition`.
    status: &'a str,
    /// It has a thread's fields.
    is_certain: bool,
}

impl<'a> Thread<'a> {
    fn parse(line: &'a str) -> Option<Thread<'a>> {
        let rest = line.strip_prefix('"')?;
        // Names may have quotes: the fields begin after the last one.
        let (name, fields) = rest.rsplit_once('"')?;
        let is_certain = fields.contains(" nid=") || fields.contains(" tid=") || fields.contains(" prio=");
        let mut native_id = None;
        let mut status = "";
        if let Some((_, behind)) = fields.split_once(" nid=") {
            let (id, behind) = behind.split_once(' ').unwrap_or((behind, ""));
            native_id = match id.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).ok(),
                None => id.parse().ok(),
            };
            let behind = behind.split_once('[').map_or(behind, |(status, _)| status).trim();
            // HP's JVM puts another number between.
            status = match behind.split_once(' ') {
                Some((word, rest)) if word.contains('=') => rest.trim(),
                _ => behind,
            };
        }
        Some(Thread { name, native_id, status, is_certain })
    }
}

struct Reader {
    stacks: Stacks,
    is_open: bool,
    labels: Vec<Label>,
    stack: Vec<LocationId>,
    has_state: bool,
    status: String,
    /// A lock stands below the frame that waits for it or holds it: only the leaf's is what the thread waits for.
    has_lock: bool,
    dumps: u64,
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut reader = Reader {
        stacks: Stacks::counting(&[("threads", "count")])?,
        is_open: false,
        labels: Vec::new(),
        stack: Vec::new(),
        has_state: false,
        status: String::new(),
        has_lock: false,
        dumps: 0,
    };
    let mut line = String::new();
    while bytes.line(&mut line)? {
        reader.line(&line)?;
    }
    reader.close()?;
    reader.stacks.dumped(reader.dumps, "thread")?;
    Ok(Loaded::stacks(JSTACK.name, reader.stacks.builder.finish()).with_notes(Notes::default().end(bytes)))
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), TooLarge> {
        if let Some(thread) = Thread::parse(line).filter(|thread| thread.is_certain) {
            self.close()?;
            return self.open(&thread);
        }
        if line.contains(FULL_DUMP) {
            self.dumps += 1;
            return self.close();
        }
        if !self.is_open {
            return Ok(());
        }
        let text = line.trim();
        if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
            self.has_state = true;
            self.label("state", state)
        } else if let Some(frame) = text.strip_prefix("at ") {
            self.frame(frame)
        } else if let Some(lock) = text.strip_prefix("- ") {
            self.lock(lock)
        } else if text.is_empty() {
            // An empty line ends a stack; threads of the VM have none and follow each other.
            self.close()
        } else {
            // What else a dump holds (deadlocks found, heap, "Locked ownable synchronizers").
            Ok(())
        }
    }

    fn open(&mut self, thread: &Thread<'_>) -> Result<(), TooLarge> {
        self.is_open = true;
        self.status.push_str(thread.status);
        self.label("thread", thread.name)?;
        if let Some(id) = thread.native_id {
            let builder = &mut self.stacks.builder;
            let value = LabelValue::Number(id, builder.string("")?);
            self.labels.push(Label { key: builder.string("tid")?, value });
        }
        Ok(())
    }

    fn label(&mut self, key: &str, value: &str) -> Result<(), TooLarge> {
        let builder = &mut self.stacks.builder;
        let value = LabelValue::Text(builder.string(value)?);
        self.labels.push(Label { key: builder.string(key)?, value });
        Ok(())
    }

    /// `java.lang.Thread.run(java.base@21.0.2/VirtualThread.java:309)`.
    fn frame(&mut self, frame: &str) -> Result<(), TooLarge> {
        let (function, place) =
            frame.strip_suffix(')').and_then(|frame| frame.rsplit_once('(')).unwrap_or((frame, ""));
        let place = place.rsplit_once('/').map_or(place, |(_, file)| file);
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().unwrap_or(0)),
            None if place == "Native Method" || place == "Unknown Source" => ("", 0),
            None => (place, 0),
        };
        self.stack.push(self.stacks.place(function, file, line)?);
        Ok(())
    }

    /// `waiting to lock <0x000000076> (a java.lang.Object)`: the class tells more than the address, and both are kept.
    fn lock(&mut self, lock: &str) -> Result<(), TooLarge> {
        let is_waited_for =
            ["waiting to lock ", "waiting on ", "parking to wait for ", "waiting to re-lock "]
                .iter()
                .any(|start| lock.starts_with(start));
        if is_waited_for && !std::mem::replace(&mut self.has_lock, true) {
            let what = lock.find('<').map_or(lock, |at| &lock[at..]);
            return self.label("lock", what);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), TooLarge> {
        if std::mem::take(&mut self.is_open) {
            if !self.has_state && !self.status.is_empty() {
                // A thread of the VM, or a JVM before 6.
                let status = std::mem::take(&mut self.status);
                self.label("state", &status)?;
            }
            if self.stack.is_empty() {
                // Threads of the VM have no Java stack.
                self.stack.push(self.stacks.place("[no Java stack]", "", 0)?);
            }
            let stack = self.stacks.builder.stack(&self.stack)?;
            let labels = self.stacks.builder.label_set(&self.labels)?;
            self.stacks.builder.sample(stack, labels, &[1])?;
        }
        self.labels.clear();
        self.stack.clear();
        self.status.clear();
        (self.has_state, self.has_lock) = (false, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{stacks_of, text};

    const DUMP: &str = "\
2024-06-21 12:13:34
Full thread dump OpenJDK 64-Bit Server VM (11.0.16.1+1 mixed mode):

\"http \"8080\" exec\" #31 daemon prio=5 tid=0x00007f8b nid=0x1f waiting for monitor entry [0x00007f8b234f5000]
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat com.example.Cache.get(Cache.java:45)
\t- waiting to lock <0xe0> (a java.lang.Object)
\t- locked <0xe1> (a java.lang.Object)
\tat java.lang.Thread.run(java.base@21.0.2/Thread.java:309)

   Locked ownable synchronizers:
\t- None

\"VM Thread\" os_prio=0 tid=0x00007f8b nid=16 runnable 

JNI global references: 28
";

    #[test]
    fn threads_have_their_state_and_what_they_wait_for() {
        let one = "java.lang.Thread.run com.example.Cache.get = 1 thread:http \"8080\" exec tid:31 \
                   state:BLOCKED (on object monitor) lock:<0xe0> (a java.lang.Object)\n\
                   [no Java stack] = 1 thread:VM Thread tid:16 state:runnable\n";
        assert_eq!(text(&stacks_of(DUMP)), one);
        let twice = stacks_of(&format!("{DUMP}\n{DUMP}"));
        assert_eq!(text(&twice), format!("{one}{one}"));
        assert_eq!((twice.stack_count(), twice.comments.len()), (2, 1));
        assert_eq!(twice.str(twice.sample_types[0].kind), "wall");
    }
}

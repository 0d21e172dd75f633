//! What facts and rules say of a recording, computed once.

use whyslow_diagnose::Parties;
use whyslow_facts::{Facts, SetApart};
use whyslow_model::{Diagnosis, Event, Sink, SourceId, Stack};
use whyslow_read::{Input, ReadOptions};

use crate::captures::Opened;

/// All that computed tables are made of.
pub(crate) struct Computed {
    pub(crate) facts: Facts,
    pub(crate) diagnosis: Diagnosis,
    pub(crate) stacks: Vec<Stack>,
    /// Texts are shown with their secrets.
    pub(crate) show_secrets: bool,
}

/// Takes facts, and stacks beside them.
struct Reader {
    facts: Facts,
    stacks: Vec<Stack>,
}

/// Stacks that are kept: as many as a recorder tells apart.
const MOST_STACKS: usize = 1 << 20;

impl Sink for Reader {
    fn push(&mut self, event: Event<'_>) {
        if let Event::Stack(stack) = &event
            && self.stacks.len() < MOST_STACKS
        {
            self.stacks.push(stack.clone());
        }
        self.facts.push(event);
    }
}

impl Computed {
    /// Reads the recording, and captures of several processes as often as it takes to tell the target from the others.
    pub(crate) fn of(opened: &Opened, show_secrets: bool) -> Result<Computed, String> {
        let mut reader = read(opened, Facts::of_target())?;
        let is_recording = reader.facts.capture.is_recording();
        if !is_recording && opened.from.iter().all(|path| path.is_file() || path.is_dir()) {
            let first_threads = reader.facts.strangers.found();
            let mut apart = SetApart { first_threads, ..SetApart::default() };
            if !apart.first_threads.is_empty() {
                reader = read(opened, Facts::of_target_beside(&apart))?;
            }
            if let Ok(Some(parties)) = Parties::of(&reader.facts, None)
                && !parties.apart.pids.is_empty()
            {
                let first_threads = std::mem::take(&mut apart.first_threads);
                apart = SetApart { first_threads, ..parties.apart };
                reader = read(opened, Facts::of_target_beside(&apart))?;
                reader.facts.capture.notes.extend(parties.notes);
            }
        }
        let diagnosis = whyslow_diagnose::diagnose(&reader.facts);
        Ok(Computed { facts: reader.facts, diagnosis, stacks: reader.stacks, show_secrets })
    }

    /// A text of a capture, fit to be shown.
    pub(crate) fn shown(&self, text: &str) -> String {
        match self.show_secrets {
            true => text.to_string(),
            false => whyslow_privacy::redact(text).into_owned(),
        }
    }
}

fn read(opened: &Opened, facts: Facts) -> Result<Reader, String> {
    let mut reader = Reader { facts, stacks: Vec::new() };
    match opened.from.as_slice() {
        [path] if whyslow_store::is_recording(path) => {
            // Captures count from the start, and are not read beside it.
            whyslow_store::read(path, SourceId(0), &mut reader, &mut |_, _| {})
                .map_err(|error| error.to_string())?;
        }
        paths => {
            let inputs: Vec<Input> = paths.iter().cloned().map(Input::File).collect();
            whyslow_read::read(&inputs, &ReadOptions::default(), &(), &mut reader)
                .map_err(|error| error.to_string())?;
        }
    }
    reader.facts.finish();
    Ok(reader)
}

//! Frames of languages, each kept once and known by its number.

use std::collections::HashMap;

/// Number of a frame in [`Frames`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FrameId(pub u32);

/// One frame of a language's stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LanguageFrame {
    /// The function as engineers of the language write it: `Store.save`, `load_rates`, `<module>`.
    pub function: Box<str>,
    /// The source file as the runtime has it; empty where it does not know.
    pub file: Box<str>,
    /// The language, as [`LanguageRuntime::language`](crate::runtimes::LanguageRuntime::language) says it.
    pub language: &'static str,
    /// The line that runs or waits, from 1; 0 where it is unknown.
    pub line: u32,
}

/// The frames seen so far.
#[derive(Debug, Default)]
pub struct Frames {
    all: Vec<LanguageFrame>,
    numbers: HashMap<LanguageFrame, FrameId>,
    /// Of the frames that come next.
    language: &'static str,
}

impl Frames {
    /// Frames told apart in one recording; further ones are not kept.
    pub const MAX: usize = 1 << 17;
    /// Bytes kept of a name of a function or a file; the rest is cut off.
    pub const TEXT: usize = 512;

    /// Says which language the frames that come next are of.
    pub fn language(&mut self, language: &'static str) {
        self.language = language;
    }

    /// The number of a frame; `None` where no more are kept.
    pub fn id(&mut self, function: &str, file: &str, line: u32) -> Option<FrameId> {
        let frame = LanguageFrame {
            function: cut(function).into(),
            file: cut(file).into(),
            language: self.language,
            line,
        };
        if let Some(known) = self.numbers.get(&frame) {
            return Some(*known);
        }
        if self.all.len() >= Frames::MAX {
            return None;
        }
        let id = FrameId(self.all.len() as u32);
        self.all.push(frame.clone());
        self.numbers.insert(frame, id);
        Some(id)
    }

    /// The frame of a number.
    pub fn get(&self, id: FrameId) -> Option<&LanguageFrame> {
        self.all.get(id.0 as usize)
    }

    /// Those from a number on, in the order in which they were seen first.
    pub fn since(&self, first: usize) -> &[LanguageFrame] {
        self.all.get(first..).unwrap_or_default()
    }
}

/// At most [`Frames::TEXT`] bytes of a text.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(Frames::TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_kept_once() {
        let mut frames = Frames::default();
        let first = frames.id("save_row", "store.py", 88);
        assert_eq!(frames.id("save_row", "store.py", 88), first);
        assert_ne!(frames.id("save_row", "store.py", 89), first);
        assert_eq!(frames.since(1).len(), 1);
        let long = "é".repeat(400);
        let id = frames.id(&long, "", 0).expect("kept");
        assert!(frames.get(id).is_some_and(|frame| frame.function.len() <= Frames::TEXT));
    }
}

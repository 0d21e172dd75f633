//! The texts of a run, each once: without secrets, and no longer than people read.

use hashbrown::HashMap;
use std::borrow::Cow;

/// Characters of a text that are kept.
const LONGEST: usize = 400;

/// Numbers for texts.
#[derive(Debug)]
pub(crate) struct Texts {
    texts: Vec<String>,
    index: HashMap<String, u32, foldhash::fast::RandomState>,
    /// By what stood in the input, which need not be asked about twice.
    raw: HashMap<Box<str>, u32, foldhash::fast::RandomState>,
    show_secrets: bool,
}

impl Texts {
    pub(crate) fn new(show_secrets: bool) -> Texts {
        Texts { texts: Vec::new(), index: HashMap::default(), raw: HashMap::default(), show_secrets }
    }

    /// The number of a text that may stand in many places: a name, a path.
    pub(crate) fn id(&mut self, text: &str) -> u32 {
        if let Some(known) = self.raw.get(text) {
            return *known;
        }
        let id = self.line(text);
        self.raw.insert(text.into(), id);
        id
    }

    /// The number of a text that is hardly met again.
    pub(crate) fn line(&mut self, text: &str) -> u32 {
        let shown = shown(text, self.show_secrets);
        if let Some(known) = self.index.get(&*shown) {
            return *known;
        }
        let id = self.texts.len() as u32;
        self.texts.push(shown.to_string());
        self.index.insert(shown.into_owned(), id);
        id
    }

    /// The number of a text that the page has already.
    pub(crate) fn known(&self, text: &str) -> Option<u32> {
        self.raw.get(text).or_else(|| self.index.get(&*shown(text, self.show_secrets))).copied()
    }

    pub(crate) fn finish(self) -> Vec<String> {
        self.texts
    }
}

/// The text as a page has it. It is cut behind the redaction: half a secret would not be known for one.
pub(crate) fn shown(text: &str, show_secrets: bool) -> Cow<'_, str> {
    let text = if show_secrets { Cow::Borrowed(text) } else { whyslow_privacy::redact(text) };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once_and_without_its_secret() {
        let mut texts = Texts::new(false);
        let ids = ["read", "GET /?token=abcdef123456", "read"].map(|text| texts.id(text));
        assert_eq!(ids, [0, 1, 0]);
        assert_eq!(texts.line("read"), 0);
        assert_eq!(texts.finish(), ["read", "GET /?token=[redacted]"]);
    }

    #[test]
    fn secrets_go_before_the_text_is_cut() {
        let text = format!("{} token=abcdef123456", "x".repeat(LONGEST - 10));
        let cut = shown(&text, false);
        assert!(!cut.contains("abc") && cut.ends_with('…'), "{cut}");
        assert!(shown(&text, true).contains("abc"));
    }
}

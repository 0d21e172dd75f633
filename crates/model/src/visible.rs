//! The one way to show text from outside (names, paths, lines of captures): what a terminal or a page would act upon
//! becomes visible. That is control characters, escapes, and the invisible characters that reorder text
//! (<https://trojansource.codes>).

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// The text on one line, with every acting or invisible character written as an escape (`\n`, `\x1b`, `\u{202e}`).
pub fn line(text: &str) -> Cow<'_, str> {
    shown(text, false)
}

/// As [`line`], but line ends stay, and tabs become spaces.
pub fn block(text: &str) -> Cow<'_, str> {
    shown(text, true)
}

/// A path as messages name it: on one line.
pub fn path(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

fn shown(text: &str, is_block: bool) -> Cow<'_, str> {
    let keeps = |c: char| c == '\n' && is_block;
    if !text.contains(|c: char| acts(c) && !keeps(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if is_block => out.push('\n'),
            '\t' if is_block => out.push_str("    "),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if acts(c) => push_escape(&mut out, c),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// True for what must not reach a terminal or a page as it is.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' // zero width, direction marks
            | '\u{2028}'..='\u{202e}' // line ends of Unicode, direction overrides
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

fn push_escape(out: &mut String, c: char) {
    let code = c as u32;
    // Writing to a String cannot fail.
    let _ = if code < 0x100 { write!(out, "\\x{code:02x}") } else { write!(out, "\\u{{{code:x}}}") };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_show() {
        assert_eq!(line("a\x1b[31mb\u{9b}\u{7f}"), "a\\x1b[31mb\\x9b\\x7f");
        assert_eq!(line("x\u{202e}y\nz"), "x\\u{202e}y\\nz");
        assert_eq!(block("a\n\tb\r"), "a\n    b\\r");
        assert_eq!(path(Path::new("/tmp/a\nb\x1b")), "/tmp/a\\nb\\x1b");
        assert!(matches!(line("häßlich 日本"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_acts_afterwards(text in any::<String>()) {
            prop_assert!(!line(&text).contains(acts));
            prop_assert!(!block(&text).contains(|c| acts(c) && c != '\n'));
        }
    }
}

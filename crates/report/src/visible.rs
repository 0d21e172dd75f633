//! Makes visible what a terminal or a page would act upon: control characters, escapes, and the invisible
//! characters that reorder text (<https://trojansource.codes>).

use crate::walk::Text;
use std::borrow::Cow;
use std::fmt::Write;

/// The text with every acting or invisible character written as an escape (`\x1b`, `\u{202e}`). A block keeps
/// its line ends; tabs in it become spaces.
pub(crate) fn visible(text: &str, kind: Text) -> Cow<'_, str> {
    let keeps = |c: char| c == '\n' && kind == Text::Block;
    if !text.contains(|c: char| acts(c) && !keeps(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if kind == Text::Block => out.push('\n'),
            '\t' if kind == Text::Block => out.push_str("    "),
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
        assert_eq!(visible("a\x1b[31mb\u{9b}\u{7f}", Text::Line), "a\\x1b[31mb\\x9b\\x7f");
        assert_eq!(visible("x\u{202e}y\nz", Text::Line), "x\\u{202e}y\\nz");
        assert_eq!(visible("a\n\tb\r", Text::Block), "a\n    b\\r");
        assert!(matches!(visible("häßlich 日本", Text::Line), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_acts_afterwards(text in any::<String>()) {
            prop_assert!(!visible(&text, Text::Line).contains(acts));
            prop_assert!(!visible(&text, Text::Block).contains(|c| acts(c) && c != '\n'));
        }
    }
}

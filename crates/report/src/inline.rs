//! Code within a text: what rules write between backticks, or on lines indented by four spaces. It is never
//! broken over lines, and the formats that can set it apart do.

/// What a text of several lines consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Block {
    /// Lines of prose.
    Prose(String),
    /// Lines indented by four spaces, without the indent: commands, a piece of a file.
    Code(String),
}

/// What lines of code begin with.
pub(crate) const CODE_INDENT: &str = "    ";

/// The blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    for line in text.split('\n') {
        let (code, line) = match line.strip_prefix(CODE_INDENT) {
            Some(rest) => (true, rest.trim_end()),
            None => (false, line),
        };
        match found.last_mut() {
            Some(Block::Code(lines)) if code => {
                lines.push('\n');
                lines.push_str(line);
            }
            Some(Block::Prose(lines)) if !code => {
                lines.push('\n');
                lines.push_str(line);
            }
            _ => {
                found.push(if code { Block::Code(line.to_string()) } else { Block::Prose(line.to_string()) })
            }
        }
    }
    found
}

/// One piece of a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Piece<'a> {
    Prose(&'a str),
    /// Without its backticks.
    Code(&'a str),
}

/// The pieces of a text. A backtick without its pair, or a pair with nothing or a line end within, is prose.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((prose, after)) = rest.split_once('`') {
        match after.split_once('`') {
            Some((code, tail)) if !code.is_empty() && !code.contains('\n') => {
                if !prose.is_empty() {
                    found.push(Piece::Prose(prose));
                }
                found.push(Piece::Code(code));
                rest = tail;
            }
            Some((_, tail)) => {
                // The second backtick may open the next pair.
                let keep = rest.len() - tail.len() - 1;
                let (head, tail) = rest.split_at(keep);
                found.push(Piece::Prose(head));
                rest = tail;
            }
            None => break,
        }
    }
    if !rest.is_empty() {
        found.push(Piece::Prose(rest));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pairs_are_code() {
        assert_eq!(pieces("run `a b` now"), [Piece::Prose("run "), Piece::Code("a b"), Piece::Prose(" now")]);
        assert_eq!(pieces("a ` b"), [Piece::Prose("a ` b")]);
        assert_eq!(pieces("``x`"), [Piece::Prose("`"), Piece::Code("x")]);
    }

    #[test]
    fn indented_lines_are_code() {
        assert_eq!(
            blocks("do:\n    a\n    b\nthen\nc"),
            [Block::Prose("do:".into()), Block::Code("a\nb".into()), Block::Prose("then\nc".into())]
        );
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[a`\n ]{0,40}") {
            let joined: String = pieces(&text).into_iter().map(|piece| match piece {
                Piece::Prose(prose) => prose.to_string(),
                Piece::Code(code) => format!("`{code}`"),
            }).collect();
            prop_assert_eq!(joined, text);
        }
    }
}

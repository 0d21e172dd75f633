//! Lines on a terminal: wrapping by display width, hanging indents, colour.

use crate::inline::{CODE_INDENT, Piece, pieces};
use crate::style::Style;
use anstyle::{AnsiColor, Color, Effects};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Prose longer than this a line is hard to follow; tables and evidence may be wider.
const PROSE_WIDTH: usize = 100;
/// From this width on, labels stand beside their text.
const WIDE: usize = 70;
/// Where text beside a label begins.
const LABEL_WIDTH: usize = 12;
/// Where text below a label begins.
const NARROW_INDENT: usize = 4;
/// Stands for a space that must not break; wrapping happens at ASCII spaces only.
const HARD_SPACE: char = '\u{a0}';

pub(super) const BOLD: anstyle::Style = anstyle::Style::new().effects(Effects::BOLD);
pub(super) const DIM: anstyle::Style = anstyle::Style::new().effects(Effects::DIMMED);
pub(super) const PLAIN: anstyle::Style = anstyle::Style::new();

/// Foreground colour, from the sixteen that follow the terminal's theme.
pub(super) const fn ink(color: AnsiColor) -> anstyle::Style {
    anstyle::Style::new().fg_color(Some(Color::Ansi(color)))
}

/// The report as it grows.
pub(super) struct Page {
    out: String,
    color: bool,
    pub(super) width: usize,
    pub(super) explain: bool,
}

impl Page {
    pub(super) fn new(style: &Style) -> Page {
        Page { out: String::new(), color: style.color, width: style.columns(), explain: style.explain }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    /// The text in a style, where there is colour.
    pub(super) fn paint(&self, style: anstyle::Style, text: &str) -> String {
        if self.color && style != PLAIN && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_string()
        }
    }

    /// One line; spaces at its end go.
    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// An empty line, unless there is one or the page is empty.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// A heading after an empty line.
    pub(super) fn heading(&mut self, text: &str) {
        self.gap();
        let heading = self.paint(BOLD, text);
        self.line(&heading);
    }

    /// True where labels stand beside their text.
    pub(super) fn is_wide(&self) -> bool {
        self.width >= WIDE
    }

    /// Where the text of a field begins.
    pub(super) fn field_indent(&self) -> usize {
        if self.is_wide() { LABEL_WIDTH } else { NARROW_INDENT }
    }

    /// Columns for prose that begins at `indent`.
    pub(super) fn prose_width(&self, indent: usize) -> usize {
        self.width.min(PROSE_WIDTH).saturating_sub(indent)
    }

    /// Wrapped text behind `lead` (as it shall appear, `indent` columns wide), its further lines indented.
    pub(super) fn hanging(&mut self, lead: &str, indent: usize, text: &str, style: anstyle::Style) {
        for (i, line) in wrap(text, self.prose_width(indent)).iter().enumerate() {
            let line = self.paint(style, line);
            let line = if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") };
            self.line(&line);
        }
    }

    /// As [`Page::hanging`], but at most so many lines: what is missing is marked.
    pub(super) fn some_lines(
        &mut self,
        lead: &str,
        indent: usize,
        text: &str,
        style: anstyle::Style,
        most: usize,
    ) {
        if text.is_empty() {
            return;
        }
        let width = self.prose_width(indent);
        for (i, line) in some(wrap(text, width), most, width).iter().enumerate() {
            let line = self.paint(style, line);
            let line = if i == 0 { format!("{lead}{line}") } else { format!("{:indent$}{line}", "") };
            self.line(&line);
        }
    }

    /// `Host: …` in one line; wrapped where all is asked for.
    pub(super) fn labelled(&mut self, label: &str, text: &str) {
        let most = if self.explain || !self.is_wide() { usize::MAX } else { 1 };
        let lead = format!("{}: ", self.paint(DIM, label));
        self.some_lines(&lead, label.width() + 2, text, PLAIN, most);
    }

    /// Wrapped text.
    pub(super) fn text(&mut self, indent: usize, text: &str) {
        self.hanging(&" ".repeat(indent), indent, text, PLAIN);
    }

    /// A label and its lines, which are laid out already for [`Page::field_indent`].
    pub(super) fn field(&mut self, label: &str, lines: &[String]) {
        let indent = self.field_indent();
        let wide = self.is_wide();
        let padded = self.paint(DIM, label);
        let gap = indent.saturating_sub(2 + label.width());
        if !wide && !lines.is_empty() {
            self.line(&format!("  {padded}"));
        }
        for (i, line) in lines.iter().enumerate() {
            if wide && i == 0 {
                self.line(&format!("  {padded}{:gap$}{line}", ""));
            } else {
                self.line(&format!("{:indent$}{line}", ""));
            }
        }
    }
}

/// The text in lines of at most `width` columns. Line ends in it stay; lines indented by four spaces and code
/// between backticks are not broken, even where they are too long.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if line.starts_with(CODE_INDENT) {
            lines.push(line.trim_end().to_string());
            continue;
        }
        let mut longest_code = 0;
        let hard: String = pieces(line)
            .into_iter()
            .map(|piece| match piece {
                Piece::Prose(prose) => with_units_bound(prose),
                Piece::Code(code) => {
                    longest_code = longest_code.max(code.width() + 2);
                    format!("`{}`", code.replace(' ', &HARD_SPACE.to_string()))
                }
            })
            .collect();
        let options = Options::new(width.max(1))
            .break_words(longest_code <= width)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        lines.extend(textwrap::wrap(&hard, options).iter().map(|line| line.replace(HARD_SPACE, " ")));
    }
    lines
}

/// The first lines, with a mark in the last one where some are left out: it stays within `width` columns, as the others do.
pub(super) fn some(mut lines: Vec<String>, most: usize, width: usize) -> Vec<String> {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            let room = width.saturating_sub(2);
            // A command is not broken, and may be wider already.
            let is_code = last.starts_with(CODE_INDENT) || last.contains('`');
            let kept = if is_code || last.width() <= room { last.as_str() } else { head(last, room) };
            let kept = match kept.rfind(' ') {
                Some(end) if kept.len() < last.len() => &kept[..end],
                _ => kept,
            };
            *last = format!("{} …", kept.trim_end());
        }
    }
    lines
}

/// Units whose figure shall stand on the same line.
const UNITS: [&str; 12] = ["%", "s", "ms", "us", "ns", "min", "h", "B", "kB", "MB", "GB", "TB"];

/// The text with a hard space between a figure and its unit: `61.0 %`, `1.78 s`.
fn with_units_bound(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for word in text.split_inclusive(' ') {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '%');
        if UNITS.contains(&bare)
            && out.len() > 1
            && out.ends_with(' ')
            && out.trim_end().ends_with(|c: char| c.is_ascii_digit())
        {
            out.pop();
            out.push(HARD_SPACE);
        }
        out.push_str(word);
    }
    out
}

/// The text cut at its end to `width` columns, with `…` where something went.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    format!("{}…", head(text, width.saturating_sub(1)))
}

/// The text cut in its middle to `width` columns, between words where it has some. Of a path, the end says
/// more: three quarters of the width are its.
pub(super) fn cut_middle(text: &str, width: usize) -> String {
    if !text.contains('/')
        && let Some(cut) = between_words(text, width)
    {
        return cut;
    }
    let keep = width.saturating_sub(1);
    cut_before(text, width, if text.contains('/') { keep - keep / 4 } else { keep - keep / 2 })
}

/// `newfstatat … per rename`: the first words, up to half of the width but one of them at least, and as many of the last as fit.
fn between_words(text: &str, width: usize) -> Option<String> {
    const GAP: &str = " … ";
    let room = width.checked_sub(GAP.width()).filter(|_| text.width() > width)?;
    let spaces: Vec<usize> = text.match_indices(' ').map(|(at, _)| at).collect();
    let heads = spaces.iter().map(|at| &text[..*at]);
    let first = heads.clone().next()?;
    let head = heads.take_while(|head| head.width() <= room / 2).last().unwrap_or(first);
    let tails = spaces.iter().map(|at| &text[at + 1..]);
    let tail = tails.skip_while(|tail| tail.width() + head.width() > room).find(|tail| !tail.is_empty())?;
    (!head.is_empty()).then(|| format!("{head}{GAP}{tail}"))
}

/// A line of a capture cut to `width` columns before its end, where strace shows result and duration.
pub(super) fn cut_line(text: &str, width: usize) -> String {
    const RESULT: usize = 24;
    cut_before(text, width, RESULT.min(width / 3))
}

/// The text cut to `width` columns, the last `end` of which are those of the text.
fn cut_before(text: &str, width: usize, end: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    format!("{}…{}", head(text, width.saturating_sub(1 + end)), tail(text, end))
}

fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

fn tail(text: &str, width: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            return text.get(at + c.len_utf8()..).unwrap_or("");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_stay_whole() {
        assert_eq!(
            wrap("set `export TZ=:/etc/localtime` before", 12),
            ["set", "`export TZ=:/etc/localtime`", "before"]
        );
        assert_eq!(wrap("a:\n    strace -f -ttT -y -p 1\nb", 10), ["a:", "    strace -f -ttT -y -p 1", "b"]);
    }

    #[test]
    fn a_figure_keeps_its_unit() {
        assert_eq!(wrap("so 61.0 % of", 8), ["so", "61.0 %", "of"]);
        assert_eq!(wrap("it is a s b", 8), ["it is a", "s b"]);
    }

    #[test]
    fn cutting() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut_middle("/var/lib/app/cache/entry.bin", 13), "/va…entry.bin");
        assert_eq!(cut_middle("abcdefghij", 5), "ab…ij");
        assert_eq!(cut_middle("newfstatat calls per rename", 23), "newfstatat … per rename");
        assert_eq!(cut_middle("newfstatat calls per rename", 24), "newfstatat … per rename");
        assert_eq!(cut_middle("10.4x; 10.4x calls per second", 20), "10.4x; … per second");
        assert_eq!(cut_middle("newfstatat calls", 12), "newfs… calls");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut_line("read(3, \"abcdefgh\", 8) = 8", 21), "read(3, \"abcd… 8) = 8");
    }

    proptest! {
        #[test]
        fn widths_hold(text in "[a-z日 /\u{301}]{0,80}", width in 4usize..40) {
            for line in wrap(&text, width) {
                prop_assert!(line.width() <= width || line.starts_with("    "), "{line:?}");
            }
            prop_assert!(cut(&text, width).width() <= width);
            prop_assert!(cut_middle(&text, width).width() <= width);
            prop_assert!(cut_line(&text, width).width() <= width);
        }
    }
}

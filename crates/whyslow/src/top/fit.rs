//! Text that fits a width: shortened by what it means, never cut in the middle of a word or a number.

use crate::output::plain;
use unicode_width::UnicodeWidthStr;

/// One thing that a line says.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// The ways to say it, the longest first.
    forms: Vec<String>,
    /// What is left out first where there is little room: the largest number.
    rank: usize,
}

impl Said {
    /// In these ways, the longest first; ranked behind all that have a smaller number. What a terminal acts upon is
    /// replaced before it is measured.
    pub(super) fn new(rank: usize, forms: impl IntoIterator<Item = impl AsRef<str>>) -> Said {
        Said { forms: forms.into_iter().map(|form| shown(form.as_ref())).collect(), rank }
    }

    fn shortest(&self) -> usize {
        self.forms.last().map_or(0, |form| columns(form))
    }
}

/// On one line, without what a terminal acts upon.
pub(super) fn shown(text: &str) -> String {
    plain(text).replace('\n', "\u{fffd}")
}

/// How many columns of a terminal the text takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// Ranks below this are said in full before others are said at all.
const REST: usize = 3;

/// As many of them as fit, in their order, each as long as there is room for: what ranks first gets room first. Where not even
/// the first in rank fits, that is shortened.
pub(super) fn join(said: &[Said], between: &str, width: usize) -> String {
    let mut ranked: Vec<usize> = (0..said.len()).filter(|at| !said[*at].forms.is_empty()).collect();
    ranked.sort_by_key(|at| said[*at].rank);
    let mut chosen: Vec<Option<usize>> = vec![None; said.len()];
    let mut left = width;
    let (first, rest) = ranked.split_at(ranked.partition_point(|at| said[*at].rank < REST));
    for some in [first, rest] {
        for &at in some {
            let glue = if chosen.iter().any(Option::is_some) { columns(between) } else { 0 };
            let needs = said[at].shortest() + glue;
            if needs <= left {
                left -= needs;
                chosen[at] = Some(said[at].forms.len() - 1);
            }
        }
        for &at in some {
            let Some(form) = chosen[at] else { continue };
            let now = columns(&said[at].forms[form]);
            let longer = said[at].forms.iter().position(|form| columns(form) <= now + left);
            if let Some(longer) = longer.filter(|longer| *longer < form) {
                left = (left + now).saturating_sub(columns(&said[at].forms[longer]));
                chosen[at] = Some(longer);
            }
        }
    }
    let told: Vec<&str> =
        said.iter().zip(&chosen).filter_map(|(one, form)| Some(one.forms[(*form)?].as_str())).collect();
    if told.is_empty() {
        let first = ranked.first().and_then(|at| said[*at].forms.last());
        return first.map_or(String::new(), |text| fit(text, width));
    }
    told.join(between)
}

/// The text as it fits: whole; without what stands in brackets; up to the end of a clause; up to the end of a word.
pub(super) fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    let bare = without_brackets(text);
    if columns(&bare) <= width {
        return bare;
    }
    // A list goes on behind a comma, which is shown; a clause stands by itself.
    let clause = ["; ", ": "].into_iter().flat_map(|end| bare.match_indices(end)).map(|(at, _)| &bare[..at]);
    let list = bare.match_indices(", ").map(|(at, _)| format!("{}, …", &bare[..at]));
    let fits = clause.map(str::to_string).chain(list).filter(|part| columns(part) <= width);
    if let Some(longest) = fits.max_by_key(|part| columns(part)) {
        return longest;
    }
    words(&bare, width)
}

/// Up to the end of a word; a number keeps what it counts in.
fn words(text: &str, width: usize) -> String {
    let mut best = String::new();
    let words: Vec<&str> = text.split(' ').collect();
    for end in 1..words.len() {
        let (last, next) = (words[end - 1], words[end]);
        let counts = last.ends_with(|last: char| last.is_ascii_digit()) && !is_glue(next);
        if counts || is_glue(last) {
            continue;
        }
        let part = format!("{} …", words[..end].join(" ").trim_end_matches([',', ';', ':']));
        if columns(&part) > width {
            break;
        }
        best = part;
    }
    if best.is_empty() && width > 0 { "…".to_string() } else { best }
}

/// Words that say nothing at the end of a line.
fn is_glue(word: &str) -> bool {
    matches!(
        word,
        "a" | "an" | "the" | "of" | "and" | "or" | "for" | "in" | "on" | "to" | "at" | "by" | "is" | ""
    )
}

/// Without what stands in brackets.
pub(super) fn without_brackets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for letter in text.chars() {
        match letter {
            '(' => {
                if depth == 0 {
                    out.truncate(out.trim_end_matches(' ').len());
                }
                depth += 1;
            }
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => out.push(letter),
            _ => {}
        }
    }
    out
}

/// The text of a cell: one that is too long ends in `…`.
pub(super) fn cell(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_string();
    }
    let mut out = String::new();
    let mut left = width.saturating_sub(1);
    for letter in text.chars() {
        let needs = unicode_width::UnicodeWidthChar::width(letter).unwrap_or(0);
        if needs > left {
            break;
        }
        left -= needs;
        out.push(letter);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shortened_by_what_it_means() {
        let load = "Load 6.21: 1 running and 5 in state D: it is state D (waits that no signal ends), not the CPU, that \
                    makes it high";
        assert_eq!(fit(load, 200), load);
        assert_eq!(
            fit(load, 90),
            "Load 6.21: 1 running and 5 in state D: it is state D, not the CPU, that makes it high"
        );
        assert_eq!(fit(load, 60), "Load 6.21: 1 running and 5 in state D: it is state D, …");
        assert_eq!(fit(load, 40), "Load 6.21: 1 running and 5 in state D");
        assert_eq!(fit(load, 12), "Load 6.21");
        assert_eq!(
            fit("no source tells of quotas, descriptors, backlogs", 40),
            "no source tells of quotas, …"
        );
        assert_eq!(fit("no source tells of it at all", 20), "no source tells …");
        assert_eq!((fit("unbreakable", 5), fit("x y", 0)), ("…".to_string(), String::new()));
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(fit("busy 99.8 % of it", 9), "busy …");
        assert_eq!(fit("busy 99.8 % of it", 13), "busy 99.8 % …");
    }

    #[test]
    fn what_ranks_first_gets_the_room() {
        let said = [
            Said::new(1, ["postgres (811) waits 81.0 %", "postgres waits"]),
            Said::new(0, ["99.8 % busy"]),
            Said::new(2, ["dd (4720) moves 211.0 MB/s", "dd 211.0 MB/s"]),
        ];
        let at = |width: usize| join(&said, "; ", width);
        assert_eq!(at(100), "postgres (811) waits 81.0 %; 99.8 % busy; dd (4720) moves 211.0 MB/s");
        assert_eq!(at(57), "postgres (811) waits 81.0 %; 99.8 % busy; dd 211.0 MB/s");
        assert_eq!(at(45), "postgres waits; 99.8 % busy; dd 211.0 MB/s");
        assert_eq!(at(30), "postgres waits; 99.8 % busy");
        assert_eq!(at(12), "99.8 % busy");
        assert_eq!(at(4), "…");
        assert_eq!(join(&[], "; ", 10), "");
    }

    #[test]
    fn cells_end_where_they_must() {
        assert_eq!(cell("gunicorn shop:app", 10), "gunicorn …");
        assert_eq!(cell("日本語", 4), "日…");
        assert_eq!((cell("ab", 2), cell("ab", 0)), ("ab".to_string(), String::new()));
    }

    #[test]
    fn any_text_fits() {
        let mut random = fastrand::Rng::with_seed(7);
        let letters = ['a', ' ', ' ', ',', ';', ':', '(', ')', '%', '9', '日', '\u{301}', '.'];
        for width in 0..60 {
            for _ in 0..50 {
                let mut text =
                    || -> String { (0..random.usize(0..80)).map(|_| letters[random.usize(0..13)]).collect() };
                let (text, other) = (text(), text());
                assert!(columns(&fit(&text, width)) <= width, "{text:?} on {width}");
                assert!(columns(&cell(&text, width)) <= width, "{text:?} on {width}");
                let said = [Said::new(1, [text.as_str()]), Said::new(0, [other.as_str(), "x"])];
                assert!(columns(&join(&said, "; ", width)) <= width, "{text:?} {other:?} on {width}");
            }
        }
    }
}

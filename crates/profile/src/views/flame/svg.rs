//! `flame-svg`: a flame graph as one SVG picture without scripts, for tickets, wikis and slides: the root at the bottom, calls of one
//! parent in the order of their names, widths by value, the whole name and the value where the mouse rests. Where a base was
//! subtracted, the width is what either side has, red where it became more, blue where it became less.
//!
//! The crate inferno draws such pictures too. It is licensed under the CDDL, which asks whoever ships a binary for the source of its
//! files, it puts a script into each picture, and it makes a tree of its own out of lines of text.

use super::super::calls::{CallTree, Rows};
use super::super::report::PreparedProfile;
use super::super::{Needs, ProfileView, ViewError};
use crate::units;
use std::io::{self, Write};
use whyslow_model::visible;

/// The view.
pub(in crate::views) static VIEW: ProfileView = ProfileView {
    name: "flame-svg",
    about: "a flame graph as one SVG picture, without scripts",
    needs: Needs { everything: true, escapes: true, ..Needs::NOTHING },
    write,
};

/// The picture's width, the height of a row, the margin, in pixels.
const WIDTH: f64 = 1_200.0;
const ROW: usize = 17;
const MARGIN: f64 = 10.0;
/// Above the graph: the title and a line below it.
const HEAD: usize = 52;
/// A character of the font, in pixels: 12 px of any usual monospaced one.
const CHARACTER: f64 = 7.25;
/// Characters below which a text says nothing.
const FEWEST: usize = 3;
/// What is narrower than this, in pixels, is not drawn.
const NARROWEST: f64 = 0.1;
/// Rows that are drawn: a picture of more could not be opened.
const MOST_ROWS: usize = 2_000;
/// Rectangles that are drawn.
const MOST_BOXES: usize = 200_000;

/// A call with its place.
struct Place {
    call: usize,
    depth: usize,
    x: f64,
    width: f64,
}

fn write(report: &PreparedProfile<'_>, out: &mut dyn Write) -> Result<(), ViewError> {
    let rows = Rows::new(report);
    let mut tree = CallTree::default();
    for row in &rows.rows {
        tree.add(rows.frames(row.stack), row.more, row.less);
    }
    let calls = &tree.calls;
    let mut names: Vec<String> = Vec::with_capacity(rows.graph.nodes.len());
    names.extend(rows.graph.nodes.iter().map(|node| visible::line(&node.info.printable()).into_owned()));
    let name_of = |at: usize| calls[at].node.map_or("all", |node| names[node as usize].as_str());
    let value_of = |at: usize| calls[at].more.saturating_add(calls[at].less);
    let places = places(&tree, name_of, value_of);
    let height = places.iter().map(|place| place.depth + 1).max().unwrap_or(1) * ROW + HEAD + ROW;
    let label = |value| units::label(value, &report.sample_unit);
    let whole = value_of(0);
    let title = format!("{} {}", report.sample_type, label(calls[0].more));
    let has_base = calls[0].less != 0;

    head(&title, height, calls.len() - places.len(), out)?;
    for place in &places {
        let call = &calls[place.call];
        let share = value_of(place.call) as f64 / whole.max(1) as f64;
        let y = height - ROW - (place.depth + 1) * ROW;
        let name = name_of(place.call);
        out.write_all(b"<g><title>")?;
        escape(name, out)?;
        write!(out, ": {}", label(call.more))?;
        if has_base {
            write!(out, ", before {}", label(call.less))?;
        }
        write!(out, " ({:.2}%)</title>", share * 100.0)?;
        let fill = if has_base { difference(call.more, call.less) } else { warm(name) };
        write!(
            out,
            "<rect x=\"{:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{}\" rx=\"1\" fill=\"{fill}\"/>",
            place.x,
            place.width,
            ROW - 1
        )?;
        let room = ((place.width - 4.0) / CHARACTER).max(0.0) as usize;
        if room >= FEWEST {
            write!(out, "<text x=\"{:.2}\" y=\"{}\">", place.x + 2.0, y + 12)?;
            match name.char_indices().nth(room) {
                None => escape(name, out)?,
                Some(_) => {
                    let end = name.char_indices().nth(room - 2).map_or(name.len(), |(at, _)| at);
                    escape(&name[..end], out)?;
                    out.write_all(b"..")?;
                }
            }
            out.write_all(b"</text>")?;
        }
        out.write_all(b"</g>\n")?;
    }
    out.write_all(b"</svg>\n")?;
    Ok(())
}

/// Where each call stands that is wide enough, parents first.
fn places<'n>(
    tree: &CallTree,
    name_of: impl Fn(usize) -> &'n str,
    value_of: impl Fn(usize) -> i64,
) -> Vec<Place> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); tree.calls.len()];
    for (at, call) in tree.calls.iter().enumerate().skip(1) {
        children[call.parent as usize].push(at);
    }
    let scale = (WIDTH - 2.0 * MARGIN) / value_of(0).max(1) as f64;
    let mut drawn = Vec::new();
    let mut todo = vec![Place { call: 0, depth: 0, x: MARGIN, width: value_of(0) as f64 * scale }];
    while let Some(place) = todo.pop() {
        let below = &mut children[place.call];
        below.sort_by(|one, other| name_of(*one).cmp(name_of(*other)));
        let mut x = place.x;
        for &call in below.iter().filter(|_| place.depth + 1 < MOST_ROWS) {
            let width = value_of(call) as f64 * scale;
            if width >= NARROWEST {
                todo.push(Place { call, depth: place.depth + 1, x, width });
            }
            x += width;
        }
        drawn.push(place);
        if drawn.len() >= MOST_BOXES {
            break;
        }
    }
    drawn
}

fn head(title: &str, height: usize, left_out: usize, out: &mut dyn Write) -> io::Result<()> {
    let title = visible::line(title);
    write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<title>"
    )?;
    escape(&title, out)?;
    out.write_all(
        b"</title>\n<style>text{font:12px monospace;fill:#1a1a1a}rect:hover{stroke:#000}</style>\n",
    )?;
    write!(
        out,
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"{MARGIN}\" y=\"22\" style=\"font-size:16px\">"
    )?;
    escape(&title, out)?;
    let rest = match left_out {
        0 => String::new(),
        1 => "; 1 call is too small to be drawn".to_string(),
        many => format!("; {many} calls are too small to be drawn"),
    };
    writeln!(
        out,
        "</text>\n<text x=\"{MARGIN}\" y=\"42\">the wider, the more; callers are below{rest}</text>"
    )
}

/// A colour between red and yellow, the same for each name.
fn warm(name: &str) -> String {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let part = |shift: u32, range: u64| (hash >> shift) % range;
    format!("rgb({},{},{})", 215 + part(0, 41), 110 + part(16, 120), 60 + part(32, 50))
}

/// Red for what became more, blue for what became less, the stronger the larger its part.
fn difference(more: i64, less: i64) -> String {
    let part = (more as f64 - less as f64) / (more as f64 + less as f64).max(1.0);
    let pale = (235.0 - 130.0 * part.abs()) as u8;
    if part >= 0.0 { format!("rgb(245,{pale},{pale})") } else { format!("rgb({pale},{pale},245)") }
}

/// Text of XML. What XML has no characters for was made visible before.
fn escape(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\u{fffe}', '\u{ffff}']) {
        let (plain, behind) = rest.split_at(at);
        out.write_all(plain.as_bytes())?;
        let mut chars = behind.chars();
        out.write_all(match chars.next() {
            Some('&') => b"&amp;",
            Some('<') => b"&lt;",
            Some('>') => b"&gt;",
            Some('"') => b"&quot;",
            Some('\'') => b"&#39;",
            _ => b"?",
        })?;
        rest = chars.as_str();
    }
    out.write_all(rest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Limits, ProfileData, read};
    use crate::select::StackSelection;

    fn picture(text: &str) -> String {
        let ProfileData::Stacks(profile) = read(text.as_bytes(), "x", Limits::default()).unwrap().data else {
            panic!("stacks")
        };
        let selection = StackSelection::default();
        let report = PreparedProfile::new(&profile, &selection, &VIEW, None).unwrap();
        let mut out = Vec::new();
        write(&report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The width of each box with its first words, without the background.
    fn boxes(picture: &str) -> Vec<(String, f64)> {
        let boxes = picture.split("<g><title>").skip(1).map(|part| {
            let name = part.split_once(": ").unwrap().0;
            let width = part.split_once("width=\"").unwrap().1.split_once('"').unwrap().0;
            (name.to_string(), width.parse().unwrap())
        });
        boxes.collect()
    }

    #[test]
    fn boxes_are_as_wide_as_their_values() {
        let picture = picture("main;b 30\nmain;a 10\nother 60\n");
        let mut got = boxes(&picture);
        got.sort_by(|one, other| one.0.cmp(&other.0));
        let wanted = [("a", 118.0), ("all", 1_180.0), ("b", 354.0), ("main", 472.0), ("other", 708.0)];
        assert_eq!(got, wanted.map(|(name, width)| (name.to_string(), width)));
        assert!(picture.find(">a: ").unwrap() > picture.find(">main: ").unwrap());
    }

    #[test]
    fn names_are_text_and_nothing_runs() {
        let picture = picture("</text & <script \u{202e}\"'\u{1b}[31m;b 5\n");
        assert!(!picture.contains("<script") && !picture.contains(|c| c != '\n' && visible::acts(c)));
        let wanted = "<title>&lt;/text &amp; &lt;script \\u{202e}&quot;&#39;\\x1b[31m: 5 (100.00%)</title>";
        assert!(picture.contains(wanted), "{picture}");
    }

    #[test]
    fn deep_and_broad_profiles_stay_pictures() {
        let deep = vec!["f"; 5_000].join(";");
        let broad: String = (0..20_000).map(|at| format!("main;g{at} 1\n")).collect();
        let picture = picture(&format!("{deep} 20000\n{broad}"));
        let boxes = boxes(&picture).len();
        assert!((MOST_ROWS..MOST_ROWS + 10).contains(&boxes), "{boxes}");
        assert!(picture.contains("calls are too small to be drawn"));
    }
}

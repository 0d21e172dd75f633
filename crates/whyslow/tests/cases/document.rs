//! A case document: its sections, their blocks, and what the directives in a block stand for.

use std::path::{Path, PathBuf};

/// What a rule says of a section.
#[derive(Debug, PartialEq, Clone, Copy)]
pub(crate) enum Answer {
    Fires,
    Notice,
    Quiet,
    NotJudged,
}

impl Answer {
    /// As the heading of a section writes it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Answer::Fires => "fires",
            Answer::Notice => "notice",
            Answer::Quiet => "quiet",
            Answer::NotJudged => "not-judged",
        }
    }
}

/// A block of a section: the name behind its kind, and its text as it stands in the document.
pub(crate) struct Block {
    name: String,
    text: String,
}

impl Block {
    /// The name, and the text with its directives carried out.
    pub(crate) fn expanded(&self) -> (String, String) {
        (self.name.clone(), expand(&self.text))
    }
}

pub(crate) struct Section {
    pub(crate) answer: Answer,
    pub(crate) name: String,
    pub(crate) captures: Vec<Block>,
    /// What a recorder saw.
    pub(crate) recording: Option<Block>,
    pub(crate) report: Option<String>,
    /// Line of the document (from 0) at which the report block stands, or the section ends.
    pub(crate) report_at: usize,
    pub(crate) report_lines: usize,
}

impl Section {
    /// The document with this report in the section.
    pub(crate) fn with_report(&self, document: &str, report: &str) -> String {
        let mut lines: Vec<&str> = document.lines().collect();
        let block = format!("```report\n{report}```");
        lines.splice(self.report_at..self.report_at + self.report_lines, block.lines());
        lines.join("\n") + "\n"
    }
}

/// The sections of a document, or what is wrong with a heading.
pub(crate) fn parse(document: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    let mut block: Option<(String, String, usize)> = None;
    for (number, line) in document.lines().enumerate() {
        if let Some((info, text, start)) = &mut block {
            if line != "```" {
                text.push_str(line);
                text.push('\n');
                continue;
            }
            if let Some(section) = sections.last_mut() {
                let named = |name: &str| Block { name: name.trim().to_string(), text: text.clone() };
                if let Some(file) = info.strip_prefix("capture ") {
                    section.captures.push(named(file));
                    section.report_at = number + 1;
                } else if let Some(name) = info.strip_prefix("events ") {
                    section.recording = Some(named(name));
                    section.report_at = number + 1;
                } else if info == "report" {
                    section.report = Some(text.clone());
                    section.report_at = *start;
                    section.report_lines = number + 1 - *start;
                }
            }
            block = None;
        } else if let Some(info) = line.strip_prefix("```") {
            block = Some((info.to_string(), String::new(), number));
        } else if let Some(heading) = line.strip_prefix("## ") {
            let (kind, name) = heading.split_once(':').unwrap_or((heading, ""));
            let answers = [Answer::Fires, Answer::Notice, Answer::Quiet, Answer::NotJudged];
            let answer = answers.into_iter().find(|answer| answer.word() == kind.trim());
            let answer = answer.ok_or_else(|| format!("line {}: unknown section `{heading}`", number + 1))?;
            sections.push(Section {
                answer,
                name: name.trim().to_string(),
                captures: Vec::new(),
                recording: None,
                report: None,
                report_at: number + 1,
                report_lines: 0,
            });
        }
    }
    Ok(sections)
}

/// Carries out the directives of a block.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut clock_us: u64 = 10 * 3600 * 1_000_000;
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        at += 1;
        if let Some(by) = line.strip_prefix("@skip ") {
            clock_us += micros(by);
        } else if let Some(repeat) = line.strip_prefix("@repeat ") {
            let (times, every) = repeat.split_once(" every ").expect("`@repeat N every DUR`");
            let (times, every): (u64, u64) =
                (times.trim().parse().expect("a number of repeats"), micros(every));
            let end = at + lines[at..].iter().position(|line| *line == "@end").expect("`@end`");
            for i in 0..times {
                for line in &lines[at..end] {
                    if let Some(by) = line.strip_prefix("@skip ") {
                        clock_us += micros(by);
                        continue;
                    }
                    out.push_str(&fill(line, clock_us, i));
                    clock_us += every;
                }
            }
            at = end + 1;
        } else {
            out.push_str(&fill(line, clock_us, 0));
            clock_us += 1000;
        }
    }
    out
}

fn fill(line: &str, clock_us: u64, i: u64) -> String {
    let seconds = clock_us / 1_000_000;
    let time = format!(
        "{:02}:{:02}:{:02}.{:06}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        clock_us % 1_000_000
    );
    let seconds = format!("{seconds}.{:06}", clock_us % 1_000_000);
    let mut line =
        line.replace("{time}", &time).replace("{seconds}", &seconds).replace("{i}", &i.to_string()) + "\n";
    while let Some(at) = line.find("{i%") {
        let end = at + line[at..].find('}').expect("`{i%N}`");
        let by: u64 = line[at + 3..end].parse().expect("`{i%N}`");
        line.replace_range(at..=end, &(i % by).to_string());
    }
    line
}

/// A duration with its unit, in microseconds.
pub(crate) fn micros(text: &str) -> u64 {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).expect("a duration with its unit: 5ms");
    let value: u64 = text[..split].parse().expect("a number");
    match &text[split..] {
        "us" => value,
        "ms" => value * 1_000,
        "s" => value * 1_000_000,
        unit => panic!("unknown unit `{unit}`"),
    }
}

/// The folder of all cases.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

/// Where the document of a rule stands.
pub(crate) fn path(group: &str, id: &str) -> PathBuf {
    root().join(group).join(format!("{id}.md"))
}

//! Go's counts as text: `goroutine profile: total 6`, `threadcreate profile: total 9` (`?debug=1`). A line a stack: how many, addresses; then the names of its frames.

use super::*;

pub(in crate::formats) static GO_COUNT: ProfileFormat = ProfileFormat {
    name: "Go counts as text",
    made_by: "/debug/pprof/goroutine?debug=1, /debug/pprof/threadcreate?debug=1",
    sniff: |head| first_line(head).is_some_and(|line| kind(line).is_some()),
    read,
};

fn first_line(head: &[u8]) -> Option<&str> {
    head_lines(head).find(|line| !is_space_or_comment(line))
}

fn kind(line: &str) -> Option<&str> {
    let (kind, total) = line.split_once(" profile: total ")?;
    (!kind.contains(' ') && total.parse::<u64>().is_ok()).then_some(kind)
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut line = String::new();
    while bytes.line(&mut line)? && is_space_or_comment(&line) {}
    let kind = kind(&line).ok_or_else(|| ReadError::malformed("no head of a count"))?.to_string();
    let mut legacy = Legacy::counting(&[(&kind, "count")])?;
    legacy.period(&kind, "count", 1)?;
    legacy.drop_frames(drop_frames::CPU, "")?;
    while bytes.line(&mut line)? {
        if line.starts_with("---") {
            break;
        }
        if let Some(labels) = line.strip_prefix("# labels: ") {
            let labels = labels_of(labels, &mut legacy)?;
            if let Some(sample) = legacy.samples.last_mut() {
                sample.labels = labels;
            }
        } else if line.starts_with('#') {
            legacy.symbol(&line)?;
        } else if !is_space_or_comment(&line) {
            legacy.end_block();
            let mut scan = Scan(&line);
            let count = scan.number().filter(|_| scan.literal("@").is_some());
            match count {
                Some(count) if legacy.push_calls(scan.0) => legacy.sample(&[count], LabelSetId(0))?,
                _ => legacy.notes.damaged(bytes, &line, "count @ addresses"),
            }
        }
    }
    legacy.rest(bytes, &mut line)?;
    legacy.finish(GO_COUNT.name, bytes)
}

/// `{"key":"value", "other":"value"}`, each text as Go quotes it.
fn labels_of(text: &str, legacy: &mut Legacy) -> Result<LabelSetId, TooLarge> {
    let mut labels = Vec::new();
    let mut texts = quoted(text);
    while let (Some(key), Some(value)) = (texts.next(), texts.next()) {
        let key = legacy.stacks.builder.string(&key)?;
        let value = LabelValue::Text(legacy.stacks.builder.string(&value)?);
        labels.push(Label { key, value });
    }
    legacy.stacks.builder.label_set(&labels)
}

/// The quoted texts of a line. Of the escapes only those of one letter are undone.
fn quoted(text: &str) -> impl Iterator<Item = String> {
    let mut letters = text.chars();
    std::iter::from_fn(move || {
        letters.by_ref().find(|letter| *letter == '"')?;
        let mut out = String::new();
        loop {
            match letters.next()? {
                '"' => return Some(out),
                '\\' => out.push(letters.next()?),
                letter => out.push(letter),
            }
        }
    })
}

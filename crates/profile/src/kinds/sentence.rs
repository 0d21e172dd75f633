//! The sentence that a profile begins with: who holds most, what kind of cost it is, and the line where it goes in.

use super::measure::{Measure, Measured, about};
use super::short::bare;
use super::{Account, CostKind, Holder, Runtime, short};

/// Below this part of the total a function does not stand out.
const STANDS_OUT: f64 = 0.10;
/// Kinds with this part of the total are told.
const TELLING: f64 = 0.05;
/// Kinds told.
const MOST_KINDS: usize = 4;

/// Calls that read a text line by line.
const LINE_BY_LINE: &[&str] = &[
    "bufio.(*Scanner).Scan",
    "bufio.(*Reader).ReadString",
    "bufio.(*Reader).ReadLine",
    "bufio.(*Reader).ReadBytes",
    "java.io.BufferedReader.readLine",
    "getline",
    "fgets",
    "std::getline",
];

/// Who holds most, and what kind of cost it is.
pub fn sentence(account: &Account, measured: &Measured) -> String {
    if account.total <= 0.0 {
        return "It has no samples.".to_string();
    }
    let whole = measured.measure.words();
    // What waits for work in a dump of threads is no cost.
    let holders =
        account.holders.iter().filter(|holder| !(measured.measure != Measure::Cpu && is_idle(holder)));
    let Some(holder) = holders.clone().next() else {
        return match measured.measure {
            Measure::MemoryInUse | Measure::MemoryAllocated => {
                format!(
                    "{} of {whole}: all of it is taken by the runtime and libraries.",
                    measured.value(account.total)
                )
            }
            _ => without_holder(account, whole),
        };
    };
    let share = account.part(holder.cum.max(holder.value));
    let name = short(&holder.function);
    if account.part(holder.value) < STANDS_OUT {
        let first: Vec<String> = holders
            .take(3)
            .map(|holder| format!("{} {}", short(&holder.function), about(account.part(holder.value))))
            .collect();
        return format!("No function of the program stands out: {} of {whole}.", first.join(", "));
    }
    let mut text = match measured.measure {
        Measure::Threads => format!(
            "{} of {} {} stand in {name}",
            measured.value(holder.value),
            measured.value(account.total),
            if account.runtimes.contains(&Runtime::Go) { "goroutines" } else { "threads" }
        ),
        Measure::MemoryInUse => format!("{} of {whole} is held by what {name} took", about(share)),
        Measure::MemoryAllocated => format!("{} of {whole} is taken in {name}", about(share)),
        _ => format!("{} of {whole} is {name}", about(share)),
    };
    let (kind, of_kind) = holder.kind();
    let is_memory = matches!(measured.measure, Measure::MemoryInUse | Measure::MemoryAllocated);
    // Of a thread that stands somewhere, its own code is no kind of cost.
    let stands =
        measured.measure == Measure::Threads && matches!(kind, CostKind::Program | CostKind::Unknown);
    let told = !is_memory && !stands && !holder.parts.is_empty() && of_kind >= 0.4 * holder.value;
    match kind {
        _ if !told => {}
        CostKind::Program => text += ": its own code",
        kind => {
            text += &format!(": {}", kind.words());
            let by_line = holder.parts.iter().any(|part| LINE_BY_LINE.contains(&bare(&part.callee)));
            if kind == CostKind::TextParsing && by_line {
                text += ", line by line";
            }
        }
    }
    if let Some(part) = holder.parts.iter().find(|part| !part.callee.is_empty() || part.line > 0) {
        text += &format!(
            "; {} in {}{}",
            measured.value(part.value),
            if part.callee.is_empty() { name.clone() } else { short(&part.callee) },
            at(holder, part.line)
        );
    }
    let callers: Vec<String> = holder.callers.iter().rev().take(3).map(|caller| short(caller)).collect();
    if !callers.is_empty() {
        text += &format!(" (called by {})", callers.join(" < "));
    }
    text + "."
}

/// The kinds of cost with the largest shares, in a line.
pub fn kinds_line(account: &Account, measured: &Measured) -> String {
    let mut kinds: Vec<_> =
        account.kinds.iter().filter(|share| account.part(share.value) >= TELLING).collect();
    kinds.sort_by(|a, b| b.value.total_cmp(&a.value));
    if kinds.is_empty() {
        return String::new();
    }
    let at_least = if account.is_table { "at least " } else { "" };
    let list: Vec<String> = kinds
        .iter()
        .filter(|share| !(account.is_table && share.kind == CostKind::Unknown))
        .take(MOST_KINDS)
        .map(|share| format!("{} {at_least}{}", share.kind.words(), about(account.part(share.value))))
        .collect();
    if list.is_empty() {
        return String::new();
    }
    let hidden = account.share(CostKind::Unknown);
    let hidden = match account.is_table && hidden >= TELLING {
        true => format!("; the table does not show or name {}", about(hidden)),
        false => String::new(),
    };
    format!("Kinds of cost: {}{hidden} (of {}).", list.join(", "), measured.value(account.total))
}

fn without_holder(account: &Account, whole: &str) -> String {
    let most = account.kinds.iter().max_by(|a, b| a.value.total_cmp(&b.value));
    match most {
        Some(most) if most.kind == CostKind::Unknown => {
            format!(
                "{} of {whole} is code without a name: the profile has no symbols for it.",
                about(account.part(most.value))
            )
        }
        Some(most) => format!("{} of {whole} is {}.", about(account.part(most.value)), most.kind.words()),
        None => String::new(),
    }
}

fn is_idle(holder: &Holder) -> bool {
    holder.kind().0 == CostKind::Idle
}

/// ` at proc.go:200`, as far as known.
fn at(holder: &Holder, line: u32) -> String {
    let file = holder.file.rsplit('/').next().unwrap_or("");
    match (file.is_empty(), line) {
        (_, 0) => String::new(),
        (true, line) => format!(" at line {line}"),
        (false, line) => format!(" at {file}:{line}"),
    }
}

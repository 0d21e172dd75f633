//! nstat: `-a`, `-z`, `-s`, and as JSON (`-j`).
//!
//! ```text
//! #kernel
//! TcpRetransSegs                  54                 0.0
//! ```
//!
//! Without `-a` it tells what was counted since it ran last, of which nobody knows when that was.

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_counters::{Figures, network};
use whyslow_model::Entity;

pub(super) static NSTAT: Tool = Tool {
    begins: |line| line.text.trim() == "#kernel",
    row: |line| row(line).is_some_and(|(name, _)| network::counter_named(name).is_some()),
    open: || Box::<Nstat>::default(),
};

/// `{"kernel":{"IpInReceives":12035,…}}`, all on one line.
pub(super) static NSTAT_JSON: Tool = Tool {
    begins: |line| line.text.trim_start().starts_with("{\"kernel\":{"),
    row: |_| false,
    open: || Box::new(Json),
};

const TOOL: &str = "nstat";

/// A counter, its number, and its mean rate where nstat's daemon keeps one.
fn row<'l>(line: &Line<'l>) -> Option<(&'l str, u64)> {
    let [name, value, rate] = line.words[..] else { return None };
    let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    number(rate).filter(|_| is_name && rate.contains(['.', ',']))?;
    Some((name, value.parse().ok()?))
}

#[derive(Default)]
struct Nstat {
    figures: Figures,
    text: Vec<String>,
    above: u64,
}

impl Nstat {
    fn is_new(&self) -> bool {
        self.text.is_empty()
    }
}

/// Lines of one table: a kernel has some 500 counters.
const MOST: usize = 4096;

impl Block for Nstat {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.text.trim() == "#kernel" {
            self.end(out);
            return Step::Used;
        }
        let Some((name, value)) = row(line) else {
            let like = line.words.len() == 3 && network::counter_named(line.word(0)).is_some();
            return if like { Step::Damaged("a counter, its number and its rate") } else { Step::Other };
        };
        if self.is_new() {
            self.above = line.number - 1;
        }
        if self.text.len() < MOST {
            self.text.push(line.text.to_string());
            self.figures.at_line(self.text.len() as u32);
            if let Some(metric) = network::counter_named(name) {
                self.figures.sum(metric, Some(value), 1.0);
            }
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Nstat { figures, text, above } = std::mem::take(self);
        let text: Vec<&str> = text.iter().map(String::as_str).collect();
        tell(figures, above, &text, out);
    }
}

fn tell(figures: Figures, above: u64, text: &[&str], out: &mut Out<'_>) {
    if figures.is_empty() {
        return;
    }
    let words = out.arguments(TOOL).iter().map(String::as_str);
    let all = words.filter(|word| word.starts_with('-')).any(|word| word.contains('a'));
    let named = out.about.command.iter().any(|word| word == TOOL || word.ends_with("/nstat"));
    // Where the command is known and has no -a, it tells growth: no two of these can be compared.
    let key = match named && !all {
        true => format!("{TOOL} {} {above}", out.info.name),
        false => TOOL.to_string(),
    };
    out.look(TOOL, key, above, text, vec![(Entity::Host, figures)]);
}

struct Json;

impl Block for Json {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if !(NSTAT_JSON.begins)(line) {
            return Step::Other;
        }
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(line.text.trim());
        let Some(counters) = parsed.ok().and_then(|value| value.get("kernel")?.as_object().cloned()) else {
            return Step::Damaged("nstat's counters as JSON, on one line");
        };
        let mut figures = Figures::default();
        for (name, value) in &counters {
            if let Some(metric) = network::counter_named(name) {
                figures.sum(metric, value.as_u64(), 1.0);
            }
        }
        tell(figures, line.number - 1, &[], out);
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_any_locale() {
        let of = |text: &str| row(&Line::new(1, text)).map(|(name, value)| (name.to_string(), value));
        assert_eq!(of("TcpRetransSegs      54         0.0"), Some(("TcpRetransSegs".into(), 54)));
        assert_eq!(of("TcpExtListenDrops   7          0,0"), Some(("TcpExtListenDrops".into(), 7)));
        for other in ["TcpRetransSegs 54", "tcp 1 0.0", "A -1 0.0", "Mem: 1 2"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}

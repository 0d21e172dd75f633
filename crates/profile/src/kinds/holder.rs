//! Functions of the program that hold cost: how much, on which lines, and what they call for it.

use super::{CostKind, short};

/// Where a function of the program spends: the call that it makes, and the line that makes it.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The function called; empty: its own instructions.
    pub callee: String,
    /// The line in the program's function; 0: unknown.
    pub line: u32,
    /// What was asked for by that call.
    pub kind: CostKind,
    /// How much.
    pub value: f64,
}

/// A function of the program with what it spends itself and in libraries and the runtime: not in other functions of the
/// program.
#[derive(Clone, PartialEq, Debug)]
pub struct Holder {
    /// The function.
    pub function: String,
    /// Its source file, or empty.
    pub file: String,
    /// What it spends so.
    pub value: f64,
    /// All below it, other functions of the program included.
    pub cum: f64,
    /// Functions of the program on its heaviest stack, the outermost first, without itself.
    pub callers: Vec<String>,
    /// Where it goes, the largest first.
    pub parts: Vec<Part>,
}

impl Holder {
    /// The kind that most of it was asked for, and how much.
    pub fn kind(&self) -> (CostKind, f64) {
        let mut sums = [0.0; CostKind::COUNT];
        for part in &self.parts {
            sums[part.kind.index()] += part.value;
        }
        let most = CostKind::ALL.into_iter().max_by(|a, b| sums[a.index()].total_cmp(&sums[b.index()]));
        let most = most.unwrap_or(CostKind::Program);
        (most, sums[most.index()])
    }

    /// How much of it was asked for as one of these kinds.
    pub fn of_kinds(&self, kinds: &[CostKind]) -> f64 {
        self.parts.iter().filter(|part| kinds.contains(&part.kind)).map(|part| part.value).sum()
    }

    /// The function as people speak of it, with the line that has most of what is `wanted`: `load_rows (rows.py:12)`.
    pub fn site(&self, wanted: impl Fn(&Part) -> bool) -> String {
        match self.place(wanted) {
            Some(place) => format!("{} ({place})", short(&self.function)),
            None => short(&self.function),
        }
    }

    /// `rows.py:12`: the file, and the line that has most of what is `wanted`; `None` where the file is not known.
    pub fn place(&self, wanted: impl Fn(&Part) -> bool) -> Option<String> {
        let file = self.file.rsplit('/').next().filter(|file| !file.is_empty())?;
        let mut lines: Vec<(u32, f64)> = Vec::new();
        for part in self.parts.iter().filter(|part| part.line > 0 && wanted(part)) {
            match lines.iter_mut().find(|(line, _)| *line == part.line) {
                Some((_, value)) => *value += part.value,
                None => lines.push((part.line, part.value)),
            }
        }
        let most = lines.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        Some(most.map_or_else(|| file.to_string(), |(line, _)| format!("{file}:{line}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_most_of_a_kind_is_named() {
        let part = |callee: &str, line, kind, value| Part { callee: callee.to_string(), line, kind, value };
        let mut holder = Holder {
            function: "shop/rows.load".to_string(),
            file: "/srv/shop/rows.go".to_string(),
            value: 10.0,
            cum: 10.0,
            callers: Vec::new(),
            parts: vec![
                part("", 7, CostKind::Program, 4.0),
                part("strings.Fields", 12, CostKind::TextParsing, 3.0),
                part("strings.Split", 14, CostKind::TextParsing, 2.0),
                part("strconv.Atoi", 14, CostKind::TextParsing, 2.0),
            ],
        };
        assert_eq!(holder.of_kinds(&[CostKind::TextParsing]), 7.0);
        assert_eq!(holder.site(|part| part.kind == CostKind::TextParsing), "rows.load (rows.go:14)");
        assert_eq!(holder.place(|_| true).as_deref(), Some("rows.go:7"));
        holder.parts.clear();
        assert_eq!(holder.place(|_| true).as_deref(), Some("rows.go"));
        holder.file.clear();
        assert_eq!(holder.site(|_| true), "rows.load");
    }
}

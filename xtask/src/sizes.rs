//! Files stay small: split by meaning before these limits.
//!
//! Of a rule (a file of the crate `rules` with a `static RULE`) only the code counts, so that no essay and no advice is cut short:
//! a line counts where, once comments (`//`, `///`, `//!`, `/* */`) and string literals are taken away, something is left that is
//! neither blank nor a comma. A line of a report's title, cause or fix that is nothing but a piece of text does not count; one
//! with `format!(` or a field's name before the text does. Tests in the file count. Of other files all lines count.

use crate::tokens::{Kind, tokens};
use anyhow::{Result, bail};
use std::path::Path;

/// Lines of a rule's code.
const RULE: usize = 200;
/// Lines of a BPF program or one of its headers.
const BPF: usize = 250;
/// Lines of any other source file.
const SOURCE: usize = 600;

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    let places = [
        ("crates", "rs"),
        ("query", "rs"),
        ("xtask", "rs"),
        ("crates/record/src", "c"),
        ("crates/record/src", "h"),
    ];
    for (folder, extension) in places {
        for path in super::files_below(&root.join(folder), extension)? {
            let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            // The table of syscalls is data.
            if shown.contains("/target/") || shown.ends_with("model/src/syscall/rows.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            let is_rule = extension == "rs" && shown.starts_with("crates/rules/src/") && has_rule(&text);
            let (lines, limit, what) = match extension {
                "rs" if is_rule => (lines_of_code(&text), RULE, "lines of code"),
                "rs" => (text.lines().count(), SOURCE, "lines"),
                _ => (text.lines().count(), BPF, "lines"),
            };
            if lines > limit {
                wrong.push(format!(
                    "{shown}: {lines} {what}; at most {limit}: split it by meaning, into files that do not import each other"
                ));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    println!("sizes: every file is small enough");
    Ok(())
}

fn has_rule(text: &str) -> bool {
    tokens(text).windows(2).any(|pair| pair[0].is("static") && pair[1].is("RULE"))
}

/// Lines with more than comments, text and commas.
fn lines_of_code(text: &str) -> usize {
    let code = tokens(text).into_iter().filter(|token| token.kind != Kind::Text && !token.is(","));
    let mut lines: Vec<usize> = code.map(|token| token.line).collect();
    lines.dedup();
    lines.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE_FILE: &str = r#"//! # id

/// The rule.
pub(crate) static RULE: Rule = Rule {
    // Why.
    id: "id",
};

fn f() {
    say(
        "a long text \
         that goes on",
        "and another",
        format!("{}", 1),
    );
    say("begun \
         here"); /* and
    on */
}
"#;

    #[test]
    fn comments_and_text_are_no_code() {
        assert!(has_rule(RULE_FILE));
        assert!(!has_rule("// static RULE\nlet a = \"static RULE\";"));
        // static, id, }; fn, say(, format!, ); say(, "); and }.
        assert_eq!(lines_of_code(RULE_FILE), 10);
        assert_eq!(lines_of_code(""), 0);
    }
}

//! What secrets look like. Each pattern keeps what stands before the secret (`$1`), replaces the secret, and
//! keeps what closes it. Text may be plain, or as strace prints a string: `\r\n`, `\"`, `\\\"` are then
//! several characters.

use crate::REDACTED;
use crate::keys::{FORMS, NAMES};
use regex::{Regex, RegexSet};
use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

pub(crate) struct Patterns {
    /// Tells in one pass which of `each` are worth applying.
    pub(crate) any: RegexSet,
    each: Vec<Pattern>,
    /// A string printed all in hex: `\x70\x61\x73\x73`.
    pub(crate) hex_run: Regex,
}

struct Pattern {
    source: String,
    replacement: &'static str,
    /// Compiled at its first use: most reports hold no secret, and compiling all takes longer than redacting.
    regex: OnceLock<Regex>,
}

/// The patterns. They are constants: that they compile is shown by a test.
pub(crate) static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let sources = SOURCES.iter().map(|(source, replacement)| (expand(source), *replacement));
    let forms = FORMS.iter().map(|form| (form.to_string(), REDACTED));
    let each: Vec<Pattern> = sources
        .chain(forms)
        .map(|(source, replacement)| Pattern { source, replacement, regex: OnceLock::new() })
        .collect();
    Patterns {
        any: RegexSet::new(each.iter().map(|pattern| &pattern.source)).expect("constant patterns"),
        each,
        hex_run: Regex::new(r"(?:\\x[0-9a-fA-F]{2}){4,}").expect("constant pattern"),
    }
});

impl Patterns {
    /// The text with what the pattern of that number finds replaced.
    pub(crate) fn replace<'t>(&self, number: usize, text: &'t str) -> Cow<'t, str> {
        let Some(pattern) = self.each.get(number) else { return Cow::Borrowed(text) };
        let regex = pattern.regex.get_or_init(|| Regex::new(&pattern.source).expect("constant pattern"));
        regex.replace_all(text, pattern.replacement)
    }
}

/// Names in patterns, replaced by what they stand for.
const PARTS: &[(&str, &str)] = &[
    // A key whose value is secret. What may follow it keeps `max_tokens=` and `password_file=` out.
    ("<KEY>", r"(?:<NAMES>)(?:[_-]?(?:value|hash|confirm(?:ation)?|[0-9]{1,3}))?"),
    // A line end, real or as strace prints it.
    ("<CRLF>", r"(?:\\r\\n|\r\n)"),
    // Up to the end of a header line or of the string it stands in.
    ("<LINE>", r#"(?:\\[^rn]|[^"\r\n\\])+"#),
    // The rest of a bulk string's line.
    ("<BULK>", r#"(?:\\[^rn]|[^"\r\n\\])*"#),
    // Inside "…", '…' and, where strace or JSON escaped the quotes, \"…\".
    ("<IN_DOUBLE>", r#"(?:\\.|[^"\\])*"#),
    ("<IN_SINGLE>", r"(?:\\.|''|[^'\\])*"),
    ("<IN_ESCAPED>", r#"(?:\\\\\\"|\\\\|\\[^"\\]|[^"\\])*"#),
    // Not quoted: to a space, a quote, a separator or a line end.
    ("<BARE>", r#"(?:\\[^rnt"'0]|[^\s&;"'<>\\])+"#),
    ("<SPACE>", r"(?:\s|\\[nrt])"),
];

fn expand(source: &str) -> String {
    let source = PARTS.iter().fold(source.to_string(), |source, (name, part)| source.replace(name, part));
    let names = || NAMES.join("|");
    source
        .replace("<NAMES>", &names().replace(' ', "[_.-]?"))
        .replace("<VARIABLES>", &names().to_uppercase().replace(' ', "_?"))
}

/// Pattern and replacement, applied in this order. None asks for a word boundary before: in `\r\nCookie`, as strace
/// prints it, there is none.
const SOURCES: &[(&str, &str)] = &[
    // Private keys, also cut ones.
    (
        r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
        "[redacted]",
    ),
    // Digest credentials hold quotes of their own: to the end of the line.
    (r"(?i)(authorization:\s*)digest(?:\\[^rn]|[^\r\n\\])*", "${1}[redacted]"),
    // Headers whose whole value is secret; the key may be quoted, as in JSON.
    (
        r#"(?i)((?:authorization|cookie2?|set-cookie2?)(?:\\*["'])?\s*[:=]\s*(?:\\*["'])?)<LINE>"#,
        "${1}[redacted]",
    ),
    // Redis AUTH and HELLO … AUTH as RESP: one or two bulk strings, with their lengths.
    (r"(?i)(\$4<CRLF>AUTH<CRLF>)\$[0-9]+<CRLF><BULK>(?:<CRLF>\$[0-9]+<CRLF><BULK>)?", "${1}[redacted]"),
    // Inline AUTH (Redis, SMTP) and PASS (FTP, POP3, IRC) at the start of a string or line.
    (r#"((?:["'\n]|\\n)(?:AUTH|auth|PASS)[ \t]+)<LINE>"#, "${1}[redacted]"),
    (r"^((?:AUTH|auth|PASS)[ \t]+)\S+(?:[ \t]\S+)?\s*$", "${1}[redacted]"),
    // PostgreSQL's password message: 'p', a length of four bytes, the password.
    (r#"("p\\0\\0\\0)<IN_DOUBLE>"#, "${1}[redacted]"),
    // Passwords in URLs. A port and a path (`:8080/x?mail=a@b`) are none; so a password `8080/x` is missed.
    (
        r#"(://[^\s/:@"'<>]*:)(?:[^\s"'<>/]+|[^\s"'<>0-9][^\s"'<>]*|[0-9]+[^\s"'<>/0-9][^\s"'<>]*)@"#,
        "${1}[redacted]@",
    ),
    // A URL that is cut within a password.
    (r#"(://[^\s/:@"'<>]*:)[^\s"'<>/@]*[^\s"'<>/@0-9][^\s"'<>/@]*("\.\.\.)"#, "${1}[redacted]${2}"),
    // Where a database is, as Go writes it.
    (r#"([A-Za-z0-9_.-]+:)[^\s@"']+(@(?:tcp|unix)\()"#, "${1}[redacted]${2}"),
    // Arguments of execve that are secret for some programs.
    (r#"("(?:-u|-U|--user|--proxy-user)", "[^":\\]*[^":\\0-9][^":\\]*:)<IN_DOUBLE>"#, "${1}[redacted]"),
    (r#"((?:redis|valkey)-cli"[^\n]*?"-a", ")<IN_DOUBLE>"#, "${1}[redacted]"),
    (r#"((?:mysql|mariadb)[a-z-]*"[^\n]*?"-p)(?:\\.|[^"\\])+"#, "${1}[redacted]"),
    // Environment variables as execve shows them: to the closing quote.
    (r#"(["'][A-Z0-9_]*(?:<VARIABLES>)[A-Z0-9_]{0,20}=)(?:\\.|[^"'\\])+"#, "${1}[redacted]"),
    // Keys with a quoted value: JSON, code, arguments (`"--token", "x"`).
    (r#"(?is)(<KEY>(?:\\+["'])?\s*(?:=>|:=|=|:|,)\s*\\+")<IN_ESCAPED>"#, "${1}[redacted]"),
    (r#"(?is)(<KEY>["']?\s*(?:=>|:=|=|:|,)\s*")<IN_DOUBLE>"#, "${1}[redacted]"),
    (r#"(?is)(<KEY>(?:\\*["'])?\s*(?:=>|:=|=|:|,)\s*')<IN_SINGLE>"#, "${1}[redacted]"),
    // Keys with a bare value: query strings, environment, headers, options.
    (r#"(?i)(<KEY>(?:\\*["'])?\s*(?:=>|:=|=|:|%3d)\s*)<BARE>"#, "${1}[redacted]"),
    (r"(?i)(--?[a-z0-9_-]*<KEY>[ \t]+)<BARE>", "${1}[redacted]"),
    (r"(?i)([;?&]pwd=)<BARE>", "${1}[redacted]"),
    // SQL.
    (
        r"(?is)(identified<SPACE>+(?:with<SPACE>+\S+<SPACE>+)?(?:by|as)<SPACE>+(?:password<SPACE>+)?')<IN_SINGLE>",
        "${1}[redacted]",
    ),
    (r#"(?is)(identified<SPACE>+by<SPACE>+\\*")<IN_ESCAPED>"#, "${1}[redacted]"),
    (r"(?is)(password<SPACE>*\(?<SPACE>*')<IN_SINGLE>", "${1}[redacted]"),
    (r"(?is)(set<SPACE>+password<SPACE>+for<SPACE>+\S+<SPACE>*=<SPACE>*')<IN_SINGLE>", "${1}[redacted]"),
    (r"(?i)(bearer(?:\s|%20|\+)+)[a-z0-9._~+/=%-]+", "${1}[redacted]"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for number in 0..SOURCES.len() + FORMS.len() {
            assert_eq!(PATTERNS.replace(number, ""), "");
        }
    }
}

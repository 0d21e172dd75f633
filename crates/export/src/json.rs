//! JSON, written as it comes. Strings escape, beside what JSON asks for, each character that a terminal or a page acts upon.

use std::io::{self, Write};
use whyslow_model::visible;

/// Writes a string with its quotes.
pub(crate) fn string(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || visible::acts(c)) {
        let (plain, behind) = rest.split_at(at);
        out.write_all(plain.as_bytes())?;
        let mut chars = behind.chars();
        match chars.next() {
            Some('"') => out.write_all(b"\\\"")?,
            Some('\\') => out.write_all(b"\\\\")?,
            Some('\n') => out.write_all(b"\\n")?,
            Some(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.write_all(rest.as_bytes())?;
    out.write_all(b"\"")
}

/// Writes `"key":"text"`; keys are ours.
pub(crate) fn field(out: &mut dyn Write, key: &str, text: &str) -> io::Result<()> {
    write!(out, "\"{key}\":")?;
    string(out, text)
}

/// Nanoseconds as microseconds, in digits: no figure is rounded.
pub(crate) fn micros(out: &mut dyn Write, ns: i128) -> io::Result<()> {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    match ns % 1_000 {
        0 => write!(out, "{sign}{}", ns / 1_000),
        rest => write!(out, "{sign}{}.{rest:03}", ns / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_back_and_act_upon_nothing() {
        for text in ["", "plain", "q\"b\\s/", "a\nb\r\t\0\x1b[31m\u{9b}", "\u{202e}rtl\u{e0001}\u{2028}é😀"]
        {
            let mut out = Vec::new();
            string(&mut out, text).unwrap();
            let written = String::from_utf8(out).unwrap();
            assert!(!written.contains(visible::acts), "{written:?}");
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }

    #[test]
    fn microseconds_keep_each_nanosecond() {
        for (ns, wanted) in
            [(0, "0"), (1, "0.001"), (-1_500, "-1.500"), (1_700_000_000_123_456_789, "1700000000123456.789")]
        {
            let mut out = Vec::new();
            micros(&mut out, ns).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }
}

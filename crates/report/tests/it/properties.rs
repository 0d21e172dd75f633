//! What holds for every input: no control characters, nothing unescaped, no secret, no panic.

use crate::common::{diagnosis_text, diff_text, filled_with, table_text};
use crate::diffs::diff_filled_with;
use crate::tables::table_filled_with;
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;
use whyslow_report::{EXPORTERS, HTML, JSON, Style, TERMINAL};

/// Text as strangers make it: markup, escapes, controls, wide and invisible characters.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<script>alert(1)</script>".to_string()),
        Just("\"><img src=x onerror=y>".to_string()),
        Just("\u{1b}[31m\u{1b}]0;owned\u{7}".to_string()),
        Just("\u{9b}2J\u{202e}\u{200b}\u{feff}".to_string()),
        Just("```\n# `x` | [a](javascript:b) ".to_string()),
        Just("</style></title>-->".to_string()),
        Just("   (remark)".to_string()),
        Just("\r\n\t\0    ".to_string()),
        "[a-z /日本🦀e\u{301}]{0,60}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn shares() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1.0f64, Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), any::<f64>()]
}

fn figures() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..5_000_000_000, Just(u64::MAX), Just(u64::MAX - 1), any::<u64>()]
}

/// True for what a terminal acts upon; the ranges are spelled out again, independently of the crate.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n')
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
}

fn all_outputs(text: &str, figure: u64, share: f64, style: &Style) -> Vec<(&'static str, String)> {
    let mut outputs = Vec::new();
    for exporter in EXPORTERS {
        outputs.push((exporter.name, diagnosis_text(exporter, &filled_with(text, figure, share), style)));
        outputs.push((exporter.name, table_text(exporter, &table_filled_with(text, figure, share), style)));
        outputs.push((exporter.name, diff_text(exporter, &diff_filled_with(text, share), style)));
    }
    outputs
}

/// Takes the SGR sequences out (`ESC [ digits ; … m`).
fn without_colors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        assert!(after[end..].starts_with('m'), "no SGR sequence: {:?}", &after[..after.len().min(20)]);
        rest = &after[end + 1..];
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_control_characters_get_out(text in hostile(), figure in figures(), share in shares(), width in 0usize..250, explain: bool, show_secrets: bool) {
        let style = Style { color: false, width, explain, show_secrets };
        for (format, output) in all_outputs(&text, figure, share, &style) {
            prop_assert!(!output.contains(acts), "{format}: {output:?}");
        }
    }

    #[test]
    fn color_adds_nothing_but_color(text in hostile(), figure in figures(), share in shares(), width in 0usize..250, explain: bool) {
        let plain = Style { width, explain, ..Style::default() };
        let colored = Style { color: true, ..plain.clone() };
        let diagnosis = filled_with(&text, figure, share);
        // Spaces at line ends are cut before colour is known.
        let trimmed = |text: String| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        let colors = without_colors(&diagnosis_text(&TERMINAL, &diagnosis, &colored));
        prop_assert_eq!(trimmed(colors), trimmed(diagnosis_text(&TERMINAL, &diagnosis, &plain)));
    }

    #[test]
    fn markup_in_the_input_stays_text(text in hostile(), figure in figures(), share in shares()) {
        let ours = ["!doctype", "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "h4", "p", "div", "i",
            "article", "section", "span", "svg", "rect", "details", "summary", "ul", "ol", "li", "pre", "code", "b", "br", "table", "thead", "tbody", "tfoot", "tr", "th", "td"];
        let style = Style::default();
        for page in [
            diagnosis_text(&HTML, &filled_with(&text, figure, share), &style),
            table_text(&HTML, &table_filled_with(&text, figure, share), &style),
            diff_text(&HTML, &diff_filled_with(&text, share), &style),
        ] {
            for tag in page.split('<').skip(1) {
                let name: String = tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '!').collect();
                prop_assert!(ours.contains(&name.as_str()), "<{name}");
                let inside = tag.split('>').next().unwrap_or_default();
                prop_assert!(!inside.contains("onerror") && !inside.contains("src="));
            }
        }
    }

    #[test]
    fn json_is_json(text in hostile(), figure in figures(), share in shares()) {
        let style = Style { show_secrets: true, ..Style::default() };
        let json: serde_json::Value = serde_json::from_str(&diagnosis_text(&JSON, &filled_with(&text, figure, share), &style)).unwrap();
        prop_assert_eq!(json["findings"][0]["title"].as_str(), Some(text.as_str()));
        let json: serde_json::Value = serde_json::from_str(&table_text(&JSON, &table_filled_with(&text, figure, share), &style)).unwrap();
        prop_assert_eq!(json["rows"][0]["syscall"].as_str(), Some(text.as_str()));
        prop_assert_eq!(json["rows"][0]["calls"].as_u64(), Some(figure));
        prop_assert!(json["rows"][3]["calls"].is_null());
    }

    #[test]
    fn planted_secrets_reach_no_format(secret in "[A-Za-z0-9]{3,9}Zq9xW", place in prop::sample::select(vec![
        "Authorization: Bearer {}\\r\\nHost: x", "redis://:{}@10.0.0.1/0", "GET /a?n=1&token={} HTTP/1.1", "DB_PASSWORD={}", "{\"password\":\"{}\"}",
    ]), explain: bool) {
        let text = place.replace("{}", &secret);
        let style = Style { explain, ..Style::default() };
        for (format, output) in all_outputs(&text, 7, 0.5, &style) {
            prop_assert!(!output.contains("Zq9xW"), "{format}: {output}");
        }
    }

    #[test]
    fn table_lines_fit(text in "[a-z /日本]{0,60}", figure in figures(), share in 0.0..1.0f64, width in 40usize..200) {
        let style = Style { width, ..Style::default() };
        let table = table_filled_with(text.trim(), figure, share);
        for line in table_text(&TERMINAL, &table, &style).lines() {
            prop_assert!(line.width() <= width, "{} > {width}: {line}", line.width());
        }
    }
}

#[test]
fn only_commands_are_wider_than_the_terminal() {
    let diagnosis = crate::common::slow_service();
    for width in [40, 50, 69, 70, 100, 200] {
        for line in diagnosis_text(&TERMINAL, &diagnosis, &crate::common::style(width)).lines() {
            let command =
                ["strace -", "lsof -", "unzip -", "redis-cli "].iter().any(|name| line.contains(name));
            assert!(line.width() <= width || command, "{} > {width}: {line}", line.width());
        }
    }
}

#[test]
fn secrets_are_shown_where_asked_for() {
    let diagnosis = crate::common::slow_service();
    assert!(!diagnosis_text(&JSON, &diagnosis, &Style::default()).contains("hunter2"));
    let style = Style { show_secrets: true, ..Style::default() };
    assert!(diagnosis_text(&JSON, &diagnosis, &style).contains("hunter2"));
}

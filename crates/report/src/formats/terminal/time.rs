//! Where the time went, on a terminal: the account's rows; behind it each thread's time, as a bar of parts that sum to 100 %
//! and in words, where all is asked for or there is no account.

use super::detail::Detail;
use super::layout::{DIM, PLAIN, Page, ink};
use crate::account;
use crate::phrases;
use crate::time_parts::{Part, UNKNOWN, apportion, parts};
use anstyle::AnsiColor;
use whyslow_model::figures::{percent, plural};
use whyslow_model::{Diagnosis, ThreadTime, TimeAccount};

/// Columns of the bar.
const BAR: u64 = 20;
/// Shades tell neighbours apart without colour; they repeat.
const SHADES: [&str; 4] = ["█", "▓", "▒", "░"];
const COLORS: [AnsiColor; 4] = [AnsiColor::Red, AnsiColor::Yellow, AnsiColor::Cyan, AnsiColor::Green];
const UNKNOWN_SHADE: &str = "·";

pub(super) fn section(page: &mut Page, diagnosis: &Diagnosis, detail: &Detail) {
    match &diagnosis.account {
        Some(account) => {
            page.heading("Where the time went");
            rows(page, account, detail.rows);
            if page.explain {
                page.heading("By thread");
                by_thread(page, &diagnosis.time, detail.rows);
            }
        }
        None if diagnosis.time.is_empty() => {}
        None => {
            page.heading("Where the time went");
            by_thread(page, &diagnosis.time, detail.rows);
        }
    }
}

/// Columns of `100.0 %  `.
const SHARE: usize = 9;

fn rows(page: &mut Page, account: &TimeAccount, most: usize) {
    let most_lines = if page.explain || !page.is_wide() { usize::MAX } else { 1 };
    page.some_lines("  ", 4, &account::heading(account), DIM, most_lines);
    for line in account::requests(account, page.explain) {
        page.some_lines("  ", 4, &line, DIM, most_lines);
    }
    let (lines, left, share) = account::lines(account, most, page.explain);
    for line in &lines {
        page.some_lines(&format!("  {:>7}  ", line.share), 2 + SHARE, &line.text, PLAIN, most_lines);
    }
    if left > 0 {
        let more = format!("  {:>7}  in {} (--verbose)", percent(share), plural(left as u64, "smaller part"));
        let more = page.paint(DIM, &more);
        page.line(&more);
    }
}

fn by_thread(page: &mut Page, threads: &[ThreadTime], shown: usize) {
    if threads.iter().all(|thread| parts(thread).is_none()) {
        page.text(2, "Unknown: the capture shows no durations.");
        return;
    }
    for thread in threads.iter().take(shown) {
        let of = if thread.wall_ns.is_known() { format!(", {}", thread.wall_ns) } else { String::new() };
        page.hanging("  ", 4, &format!("{}{of}", phrases::thread_name(thread)), PLAIN);
        match parts(thread) {
            Some(parts) => bar(page, &parts),
            None => page.text(4, "unknown"),
        }
    }
    let left = threads.len().saturating_sub(shown);
    if left > 0 {
        let more = page.paint(DIM, &format!("  and {} more (--verbose)", plural(left as u64, "thread")));
        page.line(&more);
    }
}

fn bar(page: &mut Page, parts: &[Part]) {
    let permilles: Vec<u64> = parts.iter().map(|part| part.permille).collect();
    let mut bar = String::new();
    for (i, (part, columns)) in parts.iter().zip(apportion(&permilles, BAR)).enumerate() {
        let (shade, style) = match part.label.as_str() {
            UNKNOWN => (UNKNOWN_SHADE, DIM),
            _ => (SHADES[i % SHADES.len()], ink(COLORS[i % COLORS.len()])),
        };
        bar.push_str(&page.paint(style, &shade.repeat(columns as usize)));
    }
    let text = parts.iter().map(Part::text).collect::<Vec<_>>().join(" · ");
    if page.is_wide() {
        page.hanging(&format!("    {bar} "), 4 + BAR as usize + 1, &text, PLAIN);
    } else {
        page.line(&format!("    {bar}"));
        page.text(4, &text);
    }
}

//! The stacks of all threads of a C++ server (`/threadz`): `--- Thread 7f00 (name: main/123) stack: ---`, then addresses.

use super::*;

pub(in crate::formats) static THREADS: ProfileFormat =
    ProfileFormat { name: "threadz", made_by: "/threadz", sniff, read };

fn is_thread(line: &str) -> bool {
    line.starts_with("--- Thread ") && line.contains("(name: ") && line.ends_with("stack: ---")
}

fn sniff(head: &[u8]) -> bool {
    let mut lines = head_lines(head).filter(|line| !is_space_or_comment(line));
    lines.next().is_some_and(|line| {
        is_thread(line) || line.strip_prefix("--- threadz ").is_some_and(|rest| rest.ends_with(" ---"))
    })
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut legacy = Legacy::counting(&[("thread", "count")])?;
    legacy.period("thread", "count", 1)?;
    legacy.drop_frames(drop_frames::CPU, "")?;
    let mut line = String::new();
    // Whether a stack is open, and whether it is said to be that of the thread before.
    let (mut is_open, mut is_same, mut before) = (false, false, 0);
    loop {
        let is_there = bytes.line(&mut line)?;
        let is_map = maps::begins(&line);
        if !is_there || line.starts_with("---") || is_map {
            if is_open && is_same {
                if let Some(last) = legacy.samples.last_mut() {
                    last.values[0] = last.values[0].saturating_add(1);
                }
            } else if is_open && legacy.addresses.len() > before {
                legacy.sample(&[1], LabelSetId(0))?;
            }
            (is_open, is_same, before) = (is_thread(&line), false, legacy.addresses.len());
            if !is_there || is_map || line.starts_with("---- no stack trace for") {
                break;
            }
            continue;
        }
        if line.contains("same as previous thread") {
            is_same = true;
        } else if is_open {
            for word in line.split_whitespace() {
                let Some(address) = scan::hex(word) else { continue };
                // The leaf is no call.
                let is_leaf = legacy.addresses.len() == before;
                legacy.addresses.push(if is_leaf { address } else { address.wrapping_sub(1) });
            }
        }
    }
    legacy.without_repeated_leaf();
    legacy.rest(bytes, &mut line)?;
    legacy.finish(THREADS.name, bytes)
}

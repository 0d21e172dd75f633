//! While it is recorded: killed at any moment, on a full disk, within a bounded size.

use crate::common::{Owned, call, replay, skipped};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use whyslow_model::{Event, Nanos, NoteKind, ProcessInfo, Sink, Timestamp};
use whyslow_store::{Meta, StoreError, WriteOptions, Writer};

/// Where the child of the kill test writes.
const PLACE: &str = "WHYSLOW_TEST_RECORD_INTO";
/// Calls in a second of recorded time: [`call`] makes one a millisecond.
const PER_SECOND: u64 = 1_000;

/// Not a test: what the kill test kills. Says in a file how many calls it has given to the writer.
#[test]
#[ignore = "run by the kill test"]
fn child_that_records_until_it_is_killed() {
    let Ok(place) = std::env::var(PLACE) else { return };
    let place = Path::new(&place);
    let said = fs::File::create(place.join("said")).unwrap();
    let mut writer = Writer::create(place.join("x.whyslow"), Meta::new("test"), WriteOptions::LIVE).unwrap();
    for i in 1.. {
        call(i).push(&mut writer);
        writer.check().unwrap();
        said.write_all_at(&i.to_le_bytes(), 0).unwrap();
    }
}

#[test]
fn a_killed_recorder_leaves_all_but_the_last_second() {
    let mut lost_most = 0;
    for round in 0..20u64 {
        let place = TempDir::new().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "live::child_that_records_until_it_is_killed", "--ignored"])
            .env(PLACE, place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let said = || -> Option<u64> {
            let bytes = fs::read(place.path().join("said")).ok()?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        while said().is_none() {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Any moment will do: in a call, between two parts, while parts are joined.
        std::thread::sleep(Duration::from_micros(round * 37_813 % 400_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let said = said().unwrap();
        let (events, notes, outcome) = replay(&place.path().join("x.whyslow"));
        let kept = events.len() as u64;
        // The call that was being given when it was killed may be there, though not yet said.
        assert!(kept <= said + 1 && said <= kept + PER_SECOND + 1, "{said} calls, {kept} kept");
        for (i, event) in events.iter().enumerate() {
            assert!(event.contains(&format!("line {}\"", i + 1)), "call {i} is {event}");
        }
        assert!(!outcome.meta.complete && outcome.damaged_parts == 0);
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert_eq!(notes[0].kind, NoteKind::Truncated);
        lost_most = lost_most.max(said - kept.min(said));
    }
    println!("20 recorders killed; at most {lost_most} ms of recorded time lost");
}

#[test]
fn parts_are_closed_in_time_though_no_events_come() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    let mut writer = Writer::create(&dir, Meta::new("test"), WriteOptions::LIVE).unwrap();
    call(0).push(&mut writer);
    let Owned::Call { fields, .. } = call(0) else { unreachable!() };
    writer.tick(fields.ts.plus(Nanos::from_millis(900)));
    assert_eq!(replay(&dir).0.len(), 0);
    writer.tick(fields.ts.plus(Nanos::from_millis(1100)));
    assert_eq!(replay(&dir).0.len(), 1);
}

fn size(dir: &Path) -> u64 {
    let folders = fs::read_dir(dir).unwrap().flatten().filter(|entry| entry.path().is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn the_oldest_calls_go_where_the_size_is_bounded() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    let most = 200_000;
    let options = WriteOptions { max_size: Some(most), ..WriteOptions::LIVE };
    let mut writer = Writer::create(&dir, Meta::new("test"), options).unwrap();
    writer.push(Event::Process(ProcessInfo {
        pid: 100,
        comm: Some("app".to_string()),
        ..ProcessInfo::default()
    }));
    let total = 300_000;
    for i in 0..total {
        call(i).push(&mut writer);
        if i % 50_000 == 0 {
            // Beyond it stands at most what is joined at once.
            assert!(size(&dir) <= 3 * most, "{}", size(&dir));
        }
    }
    writer.finish().unwrap();
    assert!(size(&dir) <= most, "{}", size(&dir));
    let (events, notes, outcome) = replay(&dir);
    // What was not covered any more, who ran, and the last calls without a gap.
    assert!(
        events[0].starts_with("Span(RecordedSpan {") && events[0].ends_with("calls: None })"),
        "{}",
        events[0]
    );
    assert!(events[1].starts_with("Process("), "{}", events[1]);
    let calls = &events[2..];
    let first = total - calls.len() as u64;
    for (i, event) in calls.iter().enumerate() {
        assert!(event.contains(&format!("line {}\"", first + i as u64)), "call {i} is {event}");
    }
    assert!(first > 0 && calls.len() > 5_000, "{} calls", calls.len());
    let removed = outcome.meta.removed.unwrap();
    assert_eq!(removed.rows["syscalls"], first);
    assert!(notes[0].text.contains(&format!("{first} of syscalls")), "{notes:?}");
    // All that is left lies behind the time until which calls were removed.
    let until = Timestamp::new(removed.calls_until.unwrap());
    let Owned::Call { fields, .. } = call(first - 1) else { unreachable!() };
    assert!(fields.ts <= until);
}

#[test]
fn a_full_disk_is_told_and_leaves_what_was_written() {
    let place = TempDir::new().unwrap();
    let mount =
        |args: &[&str]| Command::new("mount").args(args).arg(place.path()).stderr(Stdio::null()).status();
    if !mount(&["-t", "tmpfs", "-o", "size=512k", "none"]).is_ok_and(|status| status.success()) {
        skipped("no file system may be mounted here");
        return;
    }
    let dir = place.path().join("x.whyslow");
    let mut writer = Writer::create(&dir, Meta::new("test"), WriteOptions::LIVE).unwrap();
    let mut given = 0;
    while writer.check().is_ok() && given < 2_000_000 {
        call(given).push(&mut writer);
        given += 1;
    }
    let error = writer.finish().unwrap_err();
    let (events, notes, _) = replay(&dir);
    let unmounted = Command::new("umount").arg(place.path()).status();
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(error.to_string().contains("Free some space"), "{error}");
    assert!(events.len() as u64 >= given - 2 * PER_SECOND, "{} of {given}", events.len());
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(unmounted.is_ok_and(|status| status.success()));
}

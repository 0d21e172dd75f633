//! Events through a recording and back: the same events, field by field, in the same order.

use crate::common::{Owned, call, event, replay, shown, write};
use proptest::prelude::*;
use tempfile::TempDir;
use whyslow_model::{Event, Nanos, Sink};
use whyslow_store::{Meta, StoreError, WriteOptions, Writer};

fn expected(events: &[Owned]) -> Vec<String> {
    let mut all = Vec::new();
    let mut sink = |event: Event<'_>| all.push(shown(&event));
    events.iter().for_each(|event| event.push(&mut sink));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_events_come_back_equal_and_in_order(events in prop::collection::vec(event(), 0..60), live: bool) {
        let place = TempDir::new().unwrap();
        let dir = place.path().join("x.whyslow");
        // Live with arbitrary times: parts are closed again and again, and joined.
        let options = if live { WriteOptions::LIVE } else { WriteOptions::CONVERT };
        write(&dir, &events, options);
        let (got, notes, outcome) = replay(&dir);
        prop_assert_eq!(got, expected(&events));
        prop_assert!(notes.is_empty(), "{:?}", notes);
        prop_assert!(outcome.meta.complete);
    }
}

#[test]
fn many_parts_and_joined_parts_give_the_same_events() {
    let events: Vec<Owned> = (0..40_000).map(call).collect();
    let wanted = expected(&events);
    for (options, parts) in [
        (WriteOptions::CONVERT, 1),
        (WriteOptions { part_rows: 10_000, ..WriteOptions::CONVERT }, 3),
        // 40 seconds, joined at the end.
        (WriteOptions::LIVE, 1),
        // 400 parts, joined by 60.
        (WriteOptions { part_time: Some(Nanos::from_millis(100)), ..WriteOptions::LIVE }, 7),
    ] {
        let place = TempDir::new().unwrap();
        let dir = place.path().join("x.whyslow");
        write(&dir, &events, options);
        let (got, notes, outcome) = replay(&dir);
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(outcome.meta.tables["syscalls"].parts, parts, "{options:?}");
        assert_eq!(outcome.meta.tables["syscalls"].rows, 40_000);
        assert!(got == wanted);
    }
}

#[test]
fn long_and_foreign_text_is_kept_as_far_as_it_can_be() {
    let place = TempDir::new().unwrap();
    let dir = place.path().join("x.whyslow");
    let mut writer = Writer::create(&dir, Meta::new("test"), WriteOptions::CONVERT).unwrap();
    let long = format!("3, \"{}\"", "x".repeat(20_000));
    let mut cut = whyslow_model::Call::new("write", &long);
    cut.tid = 1;
    writer.push(Event::Call(&cut));
    let mut foreign = whyslow_model::Call::new("write", "");
    foreign.args = b"3, \"\xff\xfe\"";
    writer.push(Event::Call(&foreign));
    writer.finish().unwrap();
    let mut args = Vec::new();
    let mut sink = |event: Event<'_>| {
        if let Event::Call(call) = event {
            args.push(String::from_utf8(call.args.to_vec()).unwrap());
        }
    };
    whyslow_store::read(&dir, whyslow_model::SourceId(0), &mut sink, &mut |_, _| {}).unwrap();
    assert_eq!(args[0].len(), whyslow_store::MAX_TEXT);
    assert!(args[0].ends_with("..."));
    assert_eq!(args[1], "3, \"\\377\\376\"");
}

#[test]
fn nothing_is_written_over() {
    let place = TempDir::new().unwrap();
    let error =
        Writer::create(place.path(), Meta::new("test"), WriteOptions::LIVE).err().expect("it is there");
    assert!(matches!(error, StoreError::Exists(_)), "{error}");
    assert!(error.to_string().contains("never written over"), "{error}");
}

#[test]
fn no_folder_above_it_is_made() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("typo/x.whyslow");
    assert!(Writer::create(&path, Meta::new("test"), WriteOptions::LIVE).is_err());
    assert!(!place.path().join("typo").exists());
}

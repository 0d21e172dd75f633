//! A directory as a store.

use crate::common::{each_once, part, rows_read, wait_until};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use whyslow_depot::{
    Depot, DepotOptions, PutOutcome, Spool, UploadOptions, Uploader, check, upload_all, wait_for,
};
use whyslow_parts::PartHour;

fn quick() -> UploadOptions {
    UploadOptions { first_pause: Duration::from_millis(1), longest_pause: Duration::from_millis(5) }
}

#[test]
fn a_part_is_created_once() {
    let dir = tempfile::tempdir().unwrap();
    let depot = Depot::open(&dir.path().display().to_string(), &DepotOptions::default()).unwrap();
    // A host's name with all that is escaped.
    let (name, bytes) = part("calls", "_a b/%ü", "run0", 7);
    let end = wait_for(async {
        assert_eq!(depot.create(&name, bytes.clone().into()).await.unwrap(), PutOutcome::Created);
        assert_eq!(depot.create(&name, bytes.clone().into()).await.unwrap(), PutOutcome::AlreadyThere);
        let error = depot.create(&name, vec![1, 2, 3].into()).await.unwrap_err().to_string();
        assert!(error.contains("is there with other bytes"), "{error}");
        assert_eq!(depot.read(&name).await.unwrap(), bytes);
        rows_read(&depot).await.unwrap()
    });
    assert_eq!(end.unwrap(), each_once([&name]));
    assert!(dir.path().join(name.path()).is_file(), "it lies where its name says");
}

#[test]
fn what_waits_is_uploaded_over_restarts_and_while_the_store_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, store) = (dir.path().join("spool"), dir.path().join("store"));
    let names: Vec<_> = (0..20).map(|minute| part("calls", "h", "run0", minute)).collect();
    let said = Arc::new(Mutex::new(Vec::new()));
    for half in names.chunks(10) {
        let spool = Arc::new(Spool::open(&folder, 1 << 20).unwrap());
        let told = said.clone();
        let say = move |text: &str| told.lock().unwrap().push(text.to_string());
        let url = store.display().to_string();
        let uploader = Uploader::start(spool.clone(), &url, &DepotOptions::default(), quick(), say).unwrap();
        for (name, bytes) in half {
            spool.put(name, bytes).unwrap();
        }
        uploader.nudge();
        if !store.exists() {
            wait_until("the missing store is noticed", || uploader.state().failures > 20);
            assert_eq!((uploader.state().uploaded, spool.state().waiting), (0, 10));
            // The agent stops now, and starts again when the store is there.
            let state = uploader.stop(Duration::ZERO);
            assert!(state.problem.unwrap().contains("there is no such bucket, container or directory"));
            std::fs::create_dir(&store).unwrap();
        } else {
            wait_until("all is uploaded", || spool.state().waiting == 0);
            assert_eq!(uploader.stop(Duration::from_secs(10)).uploaded, 20);
        }
    }
    assert_eq!(said.lock().unwrap().len(), 1, "the same problem is told once");
    let depot = Depot::open(&store.display().to_string(), &DepotOptions::default()).unwrap();
    let read = wait_for(rows_read(&depot)).unwrap().unwrap();
    assert_eq!(read, each_once(names.iter().map(|(name, _)| name)));
}

#[test]
fn stopping_sends_what_waits_while_there_is_patience() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let spool = Arc::new(Spool::open(&dir.path().join("spool"), 1 << 20).unwrap());
    for minute in 0..10 {
        let (name, bytes) = part("calls", "h", "run0", minute);
        spool.put(&name, &bytes).unwrap();
    }
    let url = store.display().to_string();
    let uploader = Uploader::start(spool.clone(), &url, &DepotOptions::default(), quick(), |_| {}).unwrap();
    assert_eq!(uploader.stop(Duration::from_secs(30)).uploaded, 10);
    assert_eq!(spool.state().waiting, 0);
}

#[test]
fn a_check_tells_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let depot = Depot::open(&dir.path().display().to_string(), &DepotOptions::default()).unwrap();
    let spool = Spool::open(&dir.path().join("spool"), 1 << 20).unwrap();
    let mut names = BTreeSet::new();
    for minute in 0..3 {
        let (name, bytes) = part("calls", "h", "run0", minute);
        spool.put(&name, &bytes).unwrap();
        names.insert(name);
    }
    let report = wait_for(async {
        upload_all(&spool, &depot).await.unwrap();
        let first = names.first().unwrap();
        std::fs::write(dir.path().join(first.folder()).join("notes.txt"), "mine").unwrap();
        std::fs::write(dir.path().join(first.path()), "PAR1 and then nothing").unwrap();
        check(&depot, &(PartHour::FIRST..PartHour::LAST), true, true).await.unwrap()
    });
    let report = report.unwrap();
    assert_eq!((report.parts, report.strangers, report.damaged, report.hours_of_small_parts), (3, 1, 1, 1));
    assert!(report.notes.iter().any(|note| note.contains("notes.txt: no part")), "{report:?}");
    assert!(!dir.path().join("_check").exists(), "what was tried is gone");
}

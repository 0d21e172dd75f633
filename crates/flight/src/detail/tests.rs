//! A shell stands in for the recorder of its own: what became of it is told, nobody waits for it, and it ends with the recorder.

use super::*;
use crate::ask::{Asks, NoDetail};

type Asker = std::thread::JoinHandle<Result<PathBuf, NoDetail>>;

/// A request by somebody: what is asked, and what is answered in the end.
fn asked(asks: &mut Asks) -> (Asked, Asker) {
    let sender = asks.sender();
    asks.let_record(true);
    let asker = std::thread::spawn(move || sender.record("http", "a test", "", Duration::from_secs(2)));
    loop {
        if let Some(asked) = asks.take() {
            return (asked, asker);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

struct Begun {
    detail: Detail,
    news: Vec<FlightNews>,
    asker: Asker,
}

/// Begins one whose process is that script; its last word is the folder.
fn begun(place: &Path, script: &str, whom: WatchedNow) -> Begun {
    let mut asks = Asks::default();
    let (asked, asker) = asked(&mut asks);
    let shelf = Shelf::new(&place.join("kept"), "shop", 5).expect("made").within(7 << 20);
    let command = ["sh", "-c", script, "whyslow"].map(OsString::from);
    let (mut detail, mut news) = (Detail::default(), Vec::new());
    let at = Timestamp::new(1_795_296_895_000_000_000);
    let length = Duration::from_secs(2);
    let meta = Meta::default();
    let order = DetailOrder { command: &command, whom, shelf: &shelf, meta: &meta, at, length };
    detail.begin(asked, &order, &mut news);
    Begun { detail, news, asker }
}

fn somebody() -> WatchedNow {
    WatchedNow { pids: vec![1, 2], tids: vec![3], ..WatchedNow::default() }
}

fn failed(asker: Asker) -> String {
    match asker.join().expect("joined") {
        Err(NoDetail::Failed(why)) => why,
        other => panic!("{other:?}"),
    }
}

fn ended(begun: &mut Begun) {
    let until = Instant::now() + Duration::from_secs(30);
    while begun.detail.under_way().is_some() {
        assert!(Instant::now() < until, "it does not end");
        begun.detail.look(&mut begun.news);
        std::thread::sleep(PAUSE);
    }
}

/// Moves the recording to its name, as the process does; the folder is its last word.
const KEEPS: &str =
    "eval \"folder=\\${$#}\"; mkdir \"$folder/recording\"; echo \"$@\" >\"$folder/recording/words\";
    name=${folder##*/.}; mv \"$folder/recording\" \"${folder%/*}/${name%.asked}\"; rm -r \"$folder\"";

#[test]
fn what_it_kept_is_told_and_it_was_told_whom_to_record() {
    let place = tempfile::tempdir().expect("a folder");
    let mut begun = begun(place.path(), KEEPS, somebody());
    ended(&mut begun);
    let path = begun.asker.join().expect("joined").expect("kept");
    assert!(path.ends_with("shop-2026-11-21-213455-asked.whyslow"), "{path:?}");
    let words = std::fs::read_to_string(path.join("words")).expect("words");
    assert!(words.starts_with("-p 1,2 --tid 3 --no-children -d 2s --max-size 7340032 --asked "), "{words}");
    let [FlightNews::Begun(first), FlightNews::Kept(last)] = begun.news.as_slice() else {
        panic!("{:?}", begun.news)
    };
    assert_eq!((first, &first.path), (last, &path));
    assert!(first.why.contains("at 21:34:55 UTC"), "{}", first.why);
    let left: Vec<_> = std::fs::read_dir(place.path().join("kept")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_it_may_not_rename_the_recorder_does() {
    let place = tempfile::tempdir().expect("a folder");
    let script = "eval \"folder=\\${$#}\"; mkdir \"$folder/recording\"";
    let mut begun = begun(place.path(), script, somebody());
    ended(&mut begun);
    assert!(begun.asker.join().expect("joined").is_ok_and(|path| path.exists()));
    assert_eq!(std::fs::read_dir(place.path().join("kept")).expect("a folder").count(), 1);
}

#[test]
fn why_it_failed_is_told_with_what_it_said_last_and_nothing_is_left() {
    let place = tempfile::tempdir().expect("a folder");
    for (script, told) in [
        ("echo first >&2; echo 'whyslow: no rights' >&2; exit 2", "whyslow: no rights"),
        (
            "echo 'whyslow: no rights' >&2; echo 'next: be root' >&2; exit 2",
            "whyslow: no rights; next: be root",
        ),
        ("kill -9 $$", "the process that records ended with signal: 9 (SIGKILL)"),
    ] {
        let mut begun = begun(place.path(), script, somebody());
        ended(&mut begun);
        assert_eq!(begun.asker.join().expect("joined"), Err(NoDetail::Failed(told.to_string())));
        assert!(matches!(begun.news.last(), Some(FlightNews::Failed(why)) if why.contains(told)));
        assert_eq!(std::fs::read_dir(place.path().join("kept")).expect("a folder").count(), 0, "{script}");
    }
    let mut nothing = begun(place.path(), "exit 0", somebody());
    ended(&mut nothing);
    assert!(failed(nothing.asker).contains("No such file"));
    let nobody = begun(place.path(), KEEPS, WatchedNow::default());
    assert!(failed(nobody.asker).contains("no process"));
    assert!(nobody.news.is_empty() && nobody.detail.under_way().is_none());
}

#[test]
fn it_ends_with_the_recorder_and_keeps_what_it_has() {
    let place = tempfile::tempdir().expect("a folder");
    let script = format!(
        "eval \"folder=\\${{$#}}\"; trap '{KEEPS}; exit 0' TERM; : >\"$folder/ready\"; while :; do sleep 0.05; done"
    );
    let mut begun = begun(place.path(), &script, somebody());
    let ready = begun.detail.under_way.as_ref().expect("under way").folder.join("ready");
    let until = Instant::now() + Duration::from_secs(30);
    while !ready.exists() {
        assert!(Instant::now() < until, "the shell does not begin");
        std::thread::sleep(PAUSE);
    }
    begun.detail.look(&mut begun.news);
    assert!(begun.detail.under_way().is_some());
    let began = Instant::now();
    begun.detail.end(&mut begun.news);
    assert!(began.elapsed() < ENDS_WITHIN);
    assert!(begun.asker.join().expect("joined").is_ok_and(|path| path.exists()));
    assert!(begun.detail.take_cpu() < Duration::from_secs(5));
}

#[test]
fn what_is_given_up_is_killed_and_whoever_asked_is_told() {
    let place = tempfile::tempdir().expect("a folder");
    let mut begun = begun(place.path(), "sleep 100", somebody());
    begun.detail.look(&mut begun.news);
    let pid = begun.detail.under_way.as_ref().expect("under way").child.id();
    drop(begun.detail);
    assert!(failed(begun.asker).contains("gave the recording up"));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert_eq!(std::fs::read_dir(place.path().join("kept")).expect("a folder").count(), 0);
}

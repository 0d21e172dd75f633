//! What is given to the commands may be a stranger's, or in the way of what is written: nothing of it is lost or followed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use whyslow_read::{Input, ReadOptions};
use whyslow_store::{Meta, WriteOptions, Writer};

const TRACE: &str = "9 1700000000.000000 openat(AT_FDCWD, \"/data/a\", O_RDONLY) = 3</data/a> <0.200000>\n\
                     9 1700000001.000000 read(3</data/a>, \"x\", 4096) = 1 <0.300000>\n";

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.args(args).stdin(Stdio::null()).output().expect("the binary runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn trace(folder: &Path) -> PathBuf {
    let path = folder.join("trace.st");
    fs::write(&path, TRACE).expect("written");
    path
}

fn recording(folder: &Path) -> PathBuf {
    let path = folder.join("r.whyslow");
    let mut writer = Writer::create(&path, Meta::new("test"), WriteOptions::CONVERT).expect("a recording");
    whyslow_read::read(&[Input::File(trace(folder))], &ReadOptions::default(), &(), &mut writer)
        .expect("read");
    writer.finish().expect("written");
    path
}

#[test]
fn a_folder_of_other_files_does_not_hide_the_answer() {
    let place = TempDir::new().expect("a folder");
    for number in 0..40 {
        fs::write(place.path().join(format!("{number}.txt")), "nothing that is known\n").expect("written");
    }
    let said = |args: &[&str]| told(&run(args)).lines().filter(|line| line.contains(".txt")).count();
    let path = text(place.path());
    // Where there is no answer, the first few say why.
    assert_eq!(said(&["diagnose", path]), 5);
    trace(place.path());
    assert_eq!(said(&["diagnose", path]), 10);
    assert_eq!(said(&["diagnose", "--verbose", path]), 40);
}

#[test]
fn one_capture_among_20_000_empty_files_is_read() {
    let place = TempDir::new().expect("a folder");
    for number in 0..20_001 {
        fs::File::create(place.path().join(format!("empty{number}"))).expect("made");
    }
    trace(place.path());
    let output = run(&["summary", text(place.path())]);
    let (shown, told) = (String::from_utf8_lossy(&output.stdout).into_owned(), told(&output));
    assert!(output.status.success() && shown.contains("openat"), "{shown}{told}");
    assert!(told.contains("20001 empty ones and 0 others are passed over"), "{told}");
}

#[test]
fn nothing_is_written_into_an_input() {
    let place = TempDir::new().expect("a folder");
    let recording = recording(place.path());
    let meta = recording.join("meta.json");
    let before = fs::read(&meta).expect("its head");
    let folded = place.path().join("p.folded");
    fs::write(&folded, "main;work 5\n").expect("written");
    let link = place.path().join("link.json");
    std::os::unix::fs::symlink(&meta, &link).expect("linked");
    let (recording, meta, folded) = (text(&recording), text(&meta), text(&folded));
    let inside = format!("{recording}/new.html");
    for args in [
        &["report", recording, "-o", meta][..],
        &["report", recording, "-o", text(&link)],
        &["report", recording, "-o", &inside],
        &["profile", folded, "folded", "-o", meta],
        &["profile", folded, "folded", "-o", folded],
        &["trace", "-o", meta, "--", "true"],
    ] {
        let output = run(args);
        let told = told(&output);
        let is_refused = output.status.code() == Some(2) && told.contains("next: give another name by -o");
        assert!(is_refused, "{args:?}: {told}");
    }
    assert_eq!(fs::read(meta).expect("its head"), before);
    assert!(!Path::new(&inside).exists());
    assert_eq!(fs::read_to_string(folded).expect("the profile"), "main;work 5\n");
}

#[test]
fn an_output_is_there_whole_or_not_at_all() {
    let place = TempDir::new().expect("a folder");
    let trace = trace(place.path());
    let small = place.path().join("small");
    fs::create_dir(&small).expect("made");
    // An existing file keeps its rights, and a pipe is written as it is.
    let page = place.path().join("page.html");
    fs::write(&page, "before").expect("written");
    fs::set_permissions(&page, fs::Permissions::from_mode(0o640)).expect("set");
    assert!(run(&["report", text(&trace), "-o", text(&page)]).status.success());
    assert!(fs::read_to_string(&page).expect("the page").contains("<html"));
    assert_eq!(fs::metadata(&page).expect("the page").permissions().mode() & 0o777, 0o640);
    let through = run(&["report", text(&trace), "--format", "json", "-o", "/dev/stdout"]);
    assert!(through.status.success() && through.stdout.starts_with(b"{"), "{}", told(&through));
    let mut mount = Command::new("mount");
    let mounted = mount.args(["-t", "tmpfs", "-o", "size=8k", "none", text(&small)]).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return println!("note: to fill a disk needs root");
    }
    let page = small.join("page.html");
    let output = run(&["report", text(&trace), "-o", text(&page)]);
    let left = fs::read_dir(&small).expect("the folder").count();
    let unmounted = Command::new("umount").arg(&small).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert_eq!((output.status.code(), left), (Some(2), 0), "{}", told(&output));
    let told = told(&output);
    assert_eq!(told.matches("No space left").count(), 1, "{told}");
}

//! The agent with windows of a few seconds: two services, of which one is slow and then mended; a kill; a folder that may hold little.

use crate::common::skipped;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");
/// Seconds of a window: some hundred samples of a busy thread.
const WINDOW: &str = "5";
/// For what a busy machine does late.
const LONGEST: Duration = Duration::from_secs(240);

/// A service that decodes its settings for each order as long as a file says so, and then none but every 20 ms.
const ORDERS: &str = r#"
import json, os, sys, time
settings, slow = sys.argv[1], sys.argv[2]
def load():
    with open(settings) as file:
        return json.load(file)
while True:
    if os.path.exists(slow):
        load()
    else:
        os.stat(settings)
        time.sleep(0.02)
"#;

/// What is ended with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The services end before their folder goes.
struct Place {
    services: Vec<Ended>,
    folder: TempDir,
}

type Row = BTreeMap<String, String>;

impl Place {
    /// Two services, of which `orders.py` is slow; `None` (and said so) where nothing can be recorded by BPF.
    fn new() -> Option<Place> {
        let folder = tempfile::tempdir().expect("a folder");
        let try_it = ["record", "--by", "bpf", "-d", "100ms", "--", "true"];
        let tried = Command::new(WHYSLOW).args(try_it).current_dir(folder.path()).output().expect("whyslow");
        if !tried.status.success() {
            skipped(String::from_utf8_lossy(&tried.stderr));
            return None;
        }
        let mut place = Place { services: Vec::new(), folder };
        std::fs::write(place.path("settings.json"), format!("[{}0]", "1,".repeat(20_000))).expect("written");
        std::fs::write(place.path("slow"), "").expect("written");
        for name in ["orders.py", "mails.py"] {
            std::fs::write(place.path(name), ORDERS).expect("written");
            let slow = if name == "orders.py" { "slow" } else { "none" };
            let mut command = Command::new("python3");
            command.arg(place.path(name)).arg(place.path("settings.json")).arg(place.path(slow));
            match command.stdin(Stdio::null()).spawn() {
                Ok(child) => place.services.push(Ended(child)),
                Err(error) => {
                    skipped(format!("no python3 here: {error}"));
                    return None;
                }
            }
        }
        Some(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self, more: &[&str]) -> Ended {
        let pids: Vec<String> = self.services.iter().map(|service| service.0.id().to_string()).collect();
        let mut command = Command::new(WHYSLOW);
        command.args(["agent", "run", "--config"]).arg(self.path("agent.toml"));
        command.args(["-p", &pids.join(","), "--window", WINDOW, "--host", "h1", "--close-after", "2"]);
        // What it takes on a busy machine is another test's matter.
        command.args(["--keep-detail", "--state"]).arg(self.path("state")).args(more);
        if !self.path("agent.toml").exists() {
            std::fs::write(self.path("agent.toml"), "# options say the rest\n").expect("written");
        }
        Ended(
            command
                .stdin(Stdio::null())
                .stderr(File::create(self.path("said")).expect("made"))
                .spawn()
                .expect("started"),
        )
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.path("said")).unwrap_or_default()
    }

    fn status(&self) -> Option<serde_json::Value> {
        let output = self.agent(&["status", "--json", "--state"]);
        serde_json::from_slice(&output.stdout).ok()
    }

    fn agent(&self, args: &[&str]) -> Output {
        Command::new(WHYSLOW).arg("agent").args(args).arg(self.path("state")).output().expect("whyslow")
    }

    /// All rows of a table, those of earlier parts first.
    fn rows(&self, table: &str) -> Vec<Row> {
        let mut parts = Vec::new();
        collect(&self.path("state/parts").join(table), &mut parts);
        parts.sort_by_key(|part| part.file_name().map(|name| name.to_string_lossy()[5..].to_string()));
        parts.iter().flat_map(|part| read(part)).collect()
    }

    fn findings(&self, service: &str) -> Vec<(String, String)> {
        let rows = self.rows("findings").into_iter().filter(|row| row["service"] == service);
        rows.map(|row| (row["finding"].clone(), row["state"].clone())).collect()
    }

    /// A further window comes, and none was lost.
    fn goes_on(&self) {
        let windows = self.rows("agents").len();
        self.wait_for("a window after it", |place| (place.rows("agents").len() > windows).then_some(()));
        let lost = self.status().and_then(|status| status["windows_lost"].as_u64());
        assert_eq!(lost, Some(0), "{}", self.said());
    }

    fn wait_for<T>(&self, what: &str, mut done: impl FnMut(&Place) -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(done) = done(self) {
                return done;
            }
            assert!(began.elapsed() < LONGEST, "{what} does not come; the agent says:\n{}", self.said());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn collect(folder: &Path, parts: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, parts);
        } else if path.extension().is_some_and(|end| end == "parquet") {
            parts.push(path);
        }
    }
}

fn read(part: &Path) -> Vec<Row> {
    // It may have made room for others meanwhile.
    let Ok(file) = File::open(part) else { return Vec::new() };
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("rows");
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.expect("whole");
        for at in 0..batch.num_rows() {
            let schema = batch.schema();
            let value = |column: usize| {
                let column = batch.column(column);
                let text = column.as_string_opt::<i32>().map(|text| text.value(at).to_string());
                let number =
                    column.as_primitive_opt::<UInt64Type>().map(|number| number.value(at).to_string());
                let real =
                    column.as_primitive_opt::<Float64Type>().map(|number| number.value(at).to_string());
                text.or(number).or(real).unwrap_or_default()
            };
            rows.push(
                schema
                    .fields()
                    .iter()
                    .enumerate()
                    .map(|(column, field)| (field.name().clone(), value(column)))
                    .collect(),
            );
        }
    }
    rows
}

fn signal(agent: &Ended, name: &str) {
    let status = Command::new("kill").args([name, &agent.0.id().to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn a_finding_opens_continues_over_a_kill_and_closes_once_the_service_is_mended() {
    let Some(place) = Place::new() else { return };
    let agent = place.start(&[]);
    let of_rule = |place: &Place, state: &str| {
        let rows = place.rows("findings").into_iter();
        rows.filter(|row| row["service"] == "orders.py" && row["state"] == state)
            .map(|row| (row["finding"].clone(), row["rule"].clone()))
            .collect::<Vec<_>>()
    };
    // One that is told in two windows is of what goes on and not of the moment.
    let (finding, rule) =
        place.wait_for("a finding that continues", |place| of_rule(place, "continues").pop());
    assert!(of_rule(&place, "open").contains(&(finding.clone(), rule.clone())), "{rule}");
    let mine: Vec<Row> =
        place.rows("accounts").into_iter().filter(|row| row["service"] == "orders.py").collect();
    assert!(
        mine.iter().any(|row| row["state"] == "user" && row["ns"].parse::<u64>().expect("ns") > 0),
        "{mine:?}"
    );
    assert!(mine.iter().all(|row| row["host"] == "h1" && row["process"] == "orders.py"), "{mine:?}");
    let calls = place.rows("calls");
    for (service, call) in [("orders.py", "openat"), ("mails.py", "clock_nanosleep")] {
        assert!(calls.iter().any(|row| row["service"] == service && row["call"] == call), "{service} {call}");
    }
    let uses = place.rows("uses");
    assert!(
        uses.iter().any(|row| row["service"] == "orders.py" && row["kind"] == "file" && row["opened"] != "0"),
        "{uses:?}"
    );
    assert!(
        place.rows("stacks").iter().any(|row| row["service"] == "orders.py" && row["stack"].contains("load"))
    );
    assert!(place.rows("hosts").iter().any(|row| row["resource"] == "cpu"));

    signal(&agent, "-9");
    drop(agent);
    let before = place.findings("orders.py").len();
    let agent = place.start(&[]);
    place.wait_for("the next window", |place| (place.findings("orders.py").len() > before).then_some(()));
    let after: Vec<_> = place.findings("orders.py").into_iter().filter(|(one, _)| *one == finding).collect();
    assert_eq!(after.iter().filter(|(_, state)| state == "open").count(), 1, "{after:?}");
    // Two, where it was killed while it cut one.
    let lost = place.status().and_then(|status| status["windows_lost"].as_u64());
    assert!(matches!(lost, Some(1 | 2)), "{lost:?}");

    std::fs::remove_file(place.path("slow")).expect("mended");
    place.wait_for("its end", |place| {
        of_rule(place, "closed").contains(&(finding.clone(), rule.clone())).then_some(())
    });
    // What it ends with is one more window.
    let windows = place.rows("agents").len();
    signal(&agent, "-TERM");
    let mut agent = agent;
    let status = agent.0.wait().expect("ended");
    assert!(status.success(), "{}", place.said());
    assert!(place.rows("agents").len() > windows);
    assert!(std::fs::read_dir(place.path("state/windows")).expect("a folder").next().is_none());
    let starts: Vec<String> = place.rows("agents").iter().map(|row| row["cpu_share"].clone()).collect();
    assert!(starts.iter().all(|share| share.parse::<f64>().is_ok_and(|share| share > 0.0)), "{starts:?}");
    let status = place.agent(&["status", "--state"]);
    assert_eq!(status.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&status.stdout).contains("does not run"));
}

#[test]
fn check_says_whether_it_will_run_and_a_wrong_file_is_told() {
    let Some(place) = Place::new() else { return };
    let pid = place.services[0].0.id().to_string();
    let checked = place.agent(&["check", "-p", &pid, "--state"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("The agent runs here."));
    std::fs::write(place.path("agent.toml"), "window = 7\n").expect("written");
    let config = place.path("agent.toml");
    let config = config.to_str().expect("UTF-8");
    for what in ["run", "check"] {
        let refused = place.agent(&[what, "--config", config, "-p", &pid, "--state"]);
        let told = [refused.stdout, refused.stderr].concat();
        assert!(
            !refused.status.success() && String::from_utf8_lossy(&told).contains("60 is a multiple of"),
            "{what}"
        );
    }
}

#[test]
fn the_ring_is_kept_at_a_trigger_and_when_asked_for_and_windows_go_on() {
    let Some(place) = Place::new() else { return };
    let agent = place.start(&["--ring", "10", "--on", "signal=SIGUSR2"]);
    place.wait_for("the second window", |place| (place.rows("agents").len() >= 2).then_some(()));
    let asked = Command::new(WHYSLOW)
        .args(["dump", "--pid", &agent.0.id().to_string(), "--reason", "a person wants it"])
        .output()
        .expect("whyslow");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let path = String::from_utf8_lossy(&asked.stdout).lines().next().expect("a path").to_string();
    let report = Command::new(WHYSLOW).args(["report", &path]).output().expect("whyslow");
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.contains("a person wants it"), "{report}");
    // Both services are in it, from before it was asked for on: the ring went on through the cut of windows.
    let meta: serde_json::Value =
        serde_json::from_slice(&std::fs::read(Path::new(&path).join("meta.json")).expect("a head"))
            .expect("JSON");
    let held = meta["end"].as_u64().expect("an end") - meta["start"].as_u64().expect("a start");
    assert!((9_000_000_000..60_000_000_000).contains(&held), "{held}");
    assert!(meta["tables"]["syscalls"]["rows"].as_u64().is_some_and(|rows| rows > 20), "{}", meta["tables"]);

    let target = place.services[1].0.id().to_string();
    let sent = Command::new("kill").args(["-USR2", &target]).status().expect("kill");
    assert!(sent.success());
    let kept = place.wait_for("what the signal kept", |place| {
        let status = place.status()?;
        let kept = status["kept"].as_array()?;
        (kept.len() >= 2 && kept.iter().all(|one| one["findings"].is_array())).then(|| kept.clone())
    });
    let triggers: Vec<&str> = kept.iter().filter_map(|one| one["trigger"].as_str()).collect();
    assert_eq!(triggers, ["dump", "signal=SIGUSR2"]);
    // Findings that were open meanwhile say where it lies.
    place.wait_for("a finding with its recording", |place| {
        place.rows("findings").iter().any(|row| row["dump"].ends_with(".whyslow")).then_some(())
    });
    let shown = place.agent(&["status", "--state"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("ring") && shown.contains("SIGUSR2"), "{shown}");
    place.goes_on();
}

#[test]
fn a_recording_that_is_asked_for_is_named_by_the_status_while_windows_go_on() {
    use std::io::{Read, Write};
    let Some(place) = Place::new() else { return };
    let token = "0123456789abcdef";
    std::fs::write(place.path("token"), format!("{token}\n")).expect("written");
    let file = place.path("token").display().to_string();
    let settings =
        format!("[ring]\nseconds = 10\nhttp = \"127.0.0.1:0\"\ntoken_file = \"{file}\"\nrecord = true\n");
    std::fs::write(place.path("agent.toml"), settings).expect("written");
    let agent = place.start(&[]);
    let address = place.wait_for("where it listens", |place| {
        let said = place.said();
        let at = said.lines().find(|line| line.contains("/record?seconds="))?.split("http://").nth(1)?;
        Some(at.split('/').next()?.to_string())
    });
    place.wait_for("the first window", |place| (!place.rows("agents").is_empty()).then_some(()));
    let asker = std::thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).expect("it listens");
        let head = format!(
            "POST /record?seconds=3&reason=a+person HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    });
    place.wait_for("the recording in the status", |place| {
        (place.status()?["recording"]["trigger"] == "asked").then_some(())
    });
    let shown = place.agent(&["status", "--state"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("records") && shown.contains("3 s in detail (a person)"), "{shown}");
    let answer = asker.join().expect("joined");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("-asked.whyslow"), "{answer}");
    let kept = place.wait_for("it among the kept ones", |place| {
        let status = place.status()?;
        let is_over = status["recording"].is_null();
        status["kept"].as_array()?.last().filter(|_| is_over).cloned()
    });
    let path = kept["path"].as_str().expect("a path").to_string();
    let account = Command::new(WHYSLOW).args(["account", &path]).output().expect("whyslow");
    let account = String::from_utf8_lossy(&account.stdout).into_owned();
    // Both services.
    assert!(account.contains("orders.py") || account.contains("python3"), "{account}");
    place.goes_on();
    drop(agent);
}

#[test]
fn parts_are_joined_and_uploaded_as_the_agent_ends_and_wait_where_the_store_is_away() {
    let Some(place) = Place::new() else { return };
    let store = place.path("store");
    let store_name = store.to_str().expect("UTF-8").to_string();
    let end = |agent: Ended| {
        let mut agent = agent;
        signal(&agent, "-TERM");
        assert!(agent.0.wait().expect("ended").success(), "{}", place.said());
    };
    let agent = place.start(&["--storage", &store_name]);
    place.wait_for("two windows", |place| (place.rows("agents").len() >= 2).then_some(()));
    end(agent);
    let status = place.status().expect("a status");
    let waiting = status["upload"]["waiting"][0].as_u64().expect("a number");
    assert!(waiting >= 6 && status["upload"]["uploaded"][0] == 0, "{}", status["upload"]);
    let problem = status["upload"]["problem"].as_str().unwrap_or_default();
    assert!(problem.contains("no such bucket, container or directory"), "{}", status["upload"]);
    assert!(place.rows("agents").is_empty(), "they are joined");

    std::fs::create_dir(&store).expect("made");
    let agent = place.start(&["--storage", &store_name]);
    place.wait_for("the parts in the store", |place| {
        let status = place.status()?;
        (status["upload"]["uploaded"][0].as_u64()? >= waiting).then_some(())
    });
    place.wait_for("a window", |place| (!place.rows("agents").is_empty()).then_some(()));
    end(agent);
    let mut parts = Vec::new();
    collect(&store, &mut parts);
    let rows: usize = parts.iter().map(|part| read(part).len()).sum();
    let tables = std::fs::read_dir(&store).expect("the store").count();
    assert!(tables >= 6 && rows > 50, "{tables} {rows}");
    // Of a table and an hour there is one part of each run.
    assert!(parts.len() <= 4 * tables, "{parts:?}");
}

/// A file system of a mebibyte at that folder, while this is there.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn at(folder: PathBuf) -> Option<SmallDisk> {
        std::fs::create_dir(&folder).expect("made");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=700", "none"]).arg(&folder);
        mount.status().is_ok_and(|status| status.success()).then_some(SmallDisk(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_windows_and_recording_goes_on() {
    let Some(place) = Place::new() else { return };
    let Some(_disk) = SmallDisk::at(place.path("state")) else {
        skipped("no file system may be mounted here");
        return;
    };
    let agent = place.start(&[]);
    place.wait_for("a window", |place| (!place.rows("agents").is_empty()).then_some(()));
    let ballast = place.path("state/ballast");
    let fill =
        Command::new("dd").args(["if=/dev/zero", "bs=4k"]).arg(format!("of={}", ballast.display())).output();
    assert!(fill.is_ok_and(|output| !output.status.success()), "the disk is not full");
    place.wait_for("that it says so", |place| {
        let said = place.said();
        ["No space left", "not whole", "cannot be written"]
            .iter()
            .any(|words| said.contains(words))
            .then_some(())
    });
    let windows = place.rows("agents").len();
    std::fs::remove_file(ballast).expect("removed");
    place.wait_for("windows after it", |place| (place.rows("agents").len() > windows + 1).then_some(()));
    let mut agent = agent;
    signal(&agent, "-TERM");
    assert!(agent.0.wait().expect("ended").success(), "{}", place.said());
}

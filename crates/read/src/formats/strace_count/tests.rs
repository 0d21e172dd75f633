use super::*;
use crate::formats::collect::{Captures, assert_accounted, collect, own, published, sniffs};
use crate::formats::ltrace_count::LTRACE_COUNT;
use proptest::prelude::*;

fn only_table(data: &str) -> CountTable {
    let got = collect(&STRACE_COUNT, "x.txt", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    assert_eq!(got.info.rejects, 0, "{:?}", got.notes);
    assert_eq!((got.tables.len(), got.notes.len()), (1, 0), "{:?}", got.notes);
    got.tables[0].clone()
}

const DEFAULT: &str = "\
strace: Process 5971 attached
loading 3 files
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000900         450         2           read
 40.00    0.000600         600         1         1 openat
------ ----------- ----------- --------- --------- ----------------
100.00    0.001500         500         3         1 total
";

#[test]
fn the_default_columns() {
    let got = collect(&STRACE_COUNT, "x.txt", DEFAULT.as_bytes());
    assert_accounted(&got, DEFAULT.as_bytes());
    assert_eq!((got.info.events, got.info.foreign, got.info.rejects), (7, 1, 0));
    assert!(got.notes.is_empty(), "{:?}", got.notes);
    let table = &got.tables[0];
    assert_eq!((table.stated_calls, table.stated_total), (Some(3), Nanos::new(1_500_000)));
    assert_eq!(table.time, TimeKind::Unknown);
    let [read, open] = &table.rows[..] else { panic!("{table:?}") };
    assert_eq!((read.name.as_str(), read.calls, read.errors, read.line), ("read", Some(2), Some(0), 5));
    assert_eq!((open.errors, open.total, open.mean), (Some(1), Nanos::new(600_000), Nanos::new(600_000)));
    assert!(!open.min.is_known() && !open.max.is_known());
}

#[test]
fn chosen_columns_in_another_order() {
    let table = only_table(
        "\
syscall              calls    errors     seconds shortest  longest  usecs/call % time
---------------- --------- --------- ----------- -------- -------- ----------- ------
mmap                    30              0.000670 0.000007 0.000152          22  53.43
openat                  34        13    0.000584 0.000001 0.000113          17  46.57
---------------- --------- --------- ----------- -------- -------- ----------- ------
total                   64        13    0.001254 0.000001 0.000152          19 100.00
",
    );
    assert_eq!((table.stated_calls, table.stated_total), (Some(64), Nanos::new(1_254_000)));
    assert_eq!((table.rows[0].errors, table.rows[1].errors), (Some(0), Some(13)));
    assert_eq!((table.rows[1].min, table.rows[1].max), (Nanos::new(1_000), Nanos::new(113_000)));
}

#[test]
fn columns_left_out_are_unknown() {
    let table = only_table(
        "\
 longest syscall
-------- ----------------
0.100716 clock_nanosleep
-------- ----------------
0.100716 total
",
    );
    assert_eq!(
        (table.rows[0].calls, table.rows[0].errors, table.rows[0].total),
        (None, None, Nanos::UNKNOWN)
    );
    assert_eq!((table.stated_calls, table.stated_total), (None, Nanos::UNKNOWN));
    assert_eq!(table.time, TimeKind::Unknown);
}

#[test]
fn wall_columns_and_decimal_commas() {
    let table = only_table(
        "\
    seconds  wall-total     calls syscall
----------- ----------- --------- ----------------
   0,000100    1,500000         3 read
----------- ----------- --------- ----------------
   0,000100    1,500000         3 total
",
    );
    assert_eq!((table.time, table.rows[0].total), (TimeKind::Wall, Nanos::from_millis(1500)));
}

#[test]
fn several_tables_and_a_missing_total() {
    let data = format!(
        "System call usage summary for 64 bit mode:\n{DEFAULT}\n{}",
        &DEFAULT[..DEFAULT.rfind("------ ").unwrap()]
    );
    let got = collect(&STRACE_COUNT, "x.txt", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    assert_eq!(got.tables.len(), 2);
    let notes = got.notes_of(NoteKind::Truncated);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("no readable total line"), "{notes:?}");
}

/// What `-w` does to the figures of `sleep 0.3` and what its absence does, both measured.
#[test]
fn the_time_is_named_only_where_the_figures_prove_it() {
    let with = |rows: &str| {
        let text = format!(
            "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n{rows}"
        );
        collect(&STRACE_COUNT, "x.txt", text.as_bytes()).tables[0].time
    };
    assert_eq!(with(" 86.12    0.300166      300166         1           clock_nanosleep\n"), TimeKind::Wall);
    assert_eq!(
        with("  4.23    0.000073          73         1           clock_nanosleep\n"),
        TimeKind::Unknown
    );
    assert_eq!(with("  0.00    0.000000           0         2           pread64\n"), TimeKind::SystemCpu);
    assert_eq!(with("  0.00    0.000000           0         1           execve\n"), TimeKind::Unknown);
    // A child's CPU time, not a wait.
    assert_eq!(with(" 98.71    0.051108       51108         1           wait4\n"), TimeKind::Unknown);
}

#[test]
fn library_tables() {
    let data = "\
% time     seconds  usecs/call     calls      function
------ ----------- ----------- --------- --------------------
 60.00    0.000900         450         2 std::string::append(char const*)
 40.00    0.000600         600         1 SYS_openat
------ ----------- ----------- --------- --------------------
100.00    0.001500                     3 total
";
    let got = collect(&LTRACE_COUNT, "x", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    let table = &got.tables[0];
    assert_eq!((table.time, table.library, table.stated_calls), (TimeKind::Wall, true, Some(3)));
    assert_eq!(
        (table.rows[0].name.as_str(), table.rows[0].errors),
        ("std::string::append(char const*)", None)
    );
    assert!(sniffs(&LTRACE_COUNT, "x", data.as_bytes()) && !sniffs(&STRACE_COUNT, "x", data.as_bytes()));
    assert!(got.notes.is_empty());
}

#[test]
fn damaged_rows_are_rejected_and_the_rest_used() {
    let data = DEFAULT.replace("0.000900", "0.0009x0").replace("loading", "\u{fffd}loading");
    let got = collect(&STRACE_COUNT, "x.txt", data.as_bytes());
    assert_accounted(&got, data.as_bytes());
    assert_eq!(got.tables[0].rows.len(), 1);
    assert_eq!(got.info.rejects, 1);
    assert!(got.notes_of(NoteKind::Truncated)[0].contains("the rows count 1 calls, the total line 3"));
}

#[test]
fn a_log_with_a_table_behind_it_is_for_the_reader_of_logs() {
    let call = "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3\n";
    assert!(sniffs(&STRACE_COUNT, "x", DEFAULT.as_bytes()));
    assert!(!sniffs(&STRACE_COUNT, "x", format!("{}{DEFAULT}", call.repeat(3)).as_bytes()));
    assert!(!sniffs(&STRACE_COUNT, "x", b"% time seconds syscall are the columns\nof strace -c\n"));
}

#[test]
fn our_captures_are_read_exactly() {
    assert_read_exactly(own());
}

#[test]
fn published_captures_are_read_exactly() {
    if let Some(captures) = published() {
        assert_read_exactly(captures);
    }
}

fn assert_read_exactly(captures: Captures) {
    for (folder, path) in captures {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let data = std::fs::read(&path).unwrap();
        let ours = folder == "strace-c" || name.starts_with("strace-c");
        if !ours {
            continue;
        }
        let got = collect(&STRACE_COUNT, &name, &data);
        assert_accounted(&got, &data);
        assert_eq!((got.tables.len(), got.info.rejects), (1, 0), "{name}");
        let notes = got.notes_of(NoteKind::Truncated);
        let damaged = [
            // Rows cut out by its author, with `<truncated>` in their place.
            "tnear__linux__strace_891.txt",
        ];
        assert_eq!(notes.len(), damaged.contains(&name.as_str()) as usize, "{name}: {notes:?}");
        let kind = match name.as_str() {
            // Nothing in them says whether it is CPU time or, with `-w`, wall time.
            "redis.txt" | "wall.txt" => TimeKind::Unknown,
            name if damaged.contains(&name) => TimeKind::Unknown,
            _ => TimeKind::SystemCpu,
        };
        assert_eq!(got.tables[0].time, kind, "{name}");
        if name == "strace-c.before.txt" {
            let stat = &got.tables[0].rows[0];
            assert_eq!(
                (stat.name.as_str(), stat.calls, stat.total),
                ("stat", Some(200_135), Nanos::new(10_488_000))
            );
            assert_eq!(
                (got.tables[0].calls(), got.tables[0].total()),
                (Some(200_836), Nanos::new(11_775_000))
            );
        }
    }
}

proptest! {
    #[test]
    fn any_damage_is_survived_and_accounted(at in 0usize..600, bytes in prop::collection::vec(any::<u8>(), 0..40), cut in 0usize..700) {
        let mut data = DEFAULT.as_bytes().to_vec();
        let at = at.min(data.len());
        data.splice(at..(at + bytes.len() / 2).min(data.len()), bytes);
        data.truncate(cut);
        assert_accounted(&collect(&STRACE_COUNT, "x", &data), &data);
        assert_accounted(&collect(&LTRACE_COUNT, "x", &data), &data);
        sniffs(&STRACE_COUNT, "x", &data);
    }
}

#[test]
fn the_table_behind_a_log_is_read_too() {
    for prefix in ["", "21124 ", "12:00:00.000001 ", "     0.000061 "] {
        let call = format!("{prefix}openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3\n");
        let data = format!("{}{}", call.repeat(5), DEFAULT.split_once("files\n").unwrap().1);
        let format = &crate::formats::strace::STRACE;
        assert!(sniffs(format, "x", data.as_bytes()) && !sniffs(&STRACE_COUNT, "x", data.as_bytes()));
        let info = SourceInfo::new(Default::default(), "x", format.kind);
        let mut source = Source::new(info, data.clone().into_bytes(), Box::new(io::empty()));
        let (mut calls, mut tables) = (0, Vec::new());
        let mut sink = |event: Event<'_>| match event {
            Event::Call(_) => calls += 1,
            Event::Counts(table) => tables.push(table),
            other => panic!("{other:?}"),
        };
        (format.read)(&mut source, &mut sink).unwrap();
        assert_eq!(
            (calls, tables.len(), source.info.events, source.info.rejects),
            (5, 1, 11, 0),
            "{prefix:?}"
        );
        assert_eq!((tables[0].calls(), tables[0].rows[0].line), (Some(3), 8));
    }
}

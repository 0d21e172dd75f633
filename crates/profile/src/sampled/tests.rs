use super::*;
use whyslow_model::profile::StackSample;
use whyslow_model::{Loss, ProcessInfo, RecordedSpan};

fn at(seconds: u64) -> Timestamp {
    Timestamp::new(seconds * 1_000_000_000)
}

fn frame(address: u64, function: &str, module: &str, place: &str) -> StackFrame {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_string());
    StackFrame { address, function: some(function), module: some(module), place: some(place) }
}

fn stack(id: u32, frames: Vec<StackFrame>) -> Event<'static> {
    Event::Stack(Stack { id: StackId(id), frames, cut: false })
}

fn sample(kind: SampleKind, tid: Tid, ns: u64, user: u32, kernel: Option<u32>) -> Event<'static> {
    Event::Sample(SampledStack {
        kind,
        ts: at(1),
        cpu: 0,
        pid: 7,
        tid,
        weight: Nanos::new(ns),
        user: Some(StackId(user)),
        kernel: kernel.map(StackId),
    })
}

fn thread(tid: Tid, comm: &str, exe: Option<&str>) -> Event<'static> {
    let (comm, exe) = (Some(comm.to_string()), exe.map(str::to_string));
    Event::Process(ProcessInfo { pid: 7, tid: Some(tid), comm, exe, ..ProcessInfo::default() })
}

fn names(profile: &Profile, sample: &StackSample<'_>) -> Vec<String> {
    let lines = sample.stack.iter().flat_map(|location| profile.lines_of(*location));
    let functions = lines.filter_map(|line| profile.function(line.function?));
    functions.map(|function| profile.str(function.name).to_string()).collect()
}

fn label(profile: &Profile, sample: &StackSample<'_>, key: &str) -> Option<LabelValue> {
    sample.labels.iter().find(|label| profile.str(label.key) == key).map(|label| label.value)
}

#[test]
fn samples_of_one_stack_and_thread_are_one() {
    let mut sampled = Sampled::new(SampleKind::OnCpu);
    let mut tell = |event| sampled.push(event);
    tell(thread(7, "whyslow", Some("/bin/whyslow")));
    tell(stack(1, vec![frame(0xff10, "ksys_read", "[kernel]", "")]));
    let inlined = vec![
        frame(0x11, "strlen", "/lib/libc.so.6", ""),
        frame(0x20, "small", "/srv/app", "src/a.c:3"),
        frame(0x20, "work", "/srv/app", "src/a.c:12"),
        frame(0x30, "main", "/srv/app", "src/main.js:40:7"),
    ];
    tell(stack(2, inlined));
    for _ in 0..3 {
        tell(sample(SampleKind::OnCpu, 7, 10_000_000, 2, Some(1)));
    }
    tell(sample(SampleKind::OnCpu, 8, 10_000_000, 2, None));
    tell(sample(SampleKind::OffCpu, 8, 1, 2, None));
    tell(thread(8, "worker", None));
    tell(thread(7, "app", Some("/srv/app")));
    let (from, to) = (at(10), at(40));
    tell(Event::Span(RecordedSpan { from, to, calls: whyslow_model::Coverage::None }));
    for (table, lost, refused) in [("samples", 5, 3), ("offcpu", 9, 8)] {
        tell(Event::Loss(Loss { table: table.to_string(), from, to, lost, produced: 100, refused }));
    }
    assert_eq!(sampled.samples(), 4);

    let profile = sampled.finish().unwrap();
    let types: Vec<_> =
        profile.sample_types.iter().map(|of| (profile.str(of.kind), profile.str(of.unit))).collect();
    assert_eq!(types, [("samples", "count"), ("cpu", "nanoseconds")]);
    assert_eq!((profile.sample_count(), profile.total(0), profile.total(1)), (2, 4, 40_000_000));
    assert_eq!((profile.period, profile.duration_ns), (Some(10_000_000), Some(30_000_000_000)));
    assert_eq!(profile.time_ns, Some(10_000_000_000));
    let comments: Vec<_> = profile.comments.iter().map(|text| profile.str(*text)).collect();
    assert_eq!(
        comments,
        [
            "5 samples were lost while recording",
            "3 stacks were left out, to keep the cost of recording low: what stands here is a part"
        ]
    );

    let first = profile.sample(0);
    assert_eq!(first.values, [3, 30_000_000]);
    assert_eq!(names(&profile, &first), ["ksys_read", "strlen", "small", "work", "main"]);
    // What was inlined is a line of the same location.
    assert_eq!(first.stack.len(), 4);
    let work = profile.lines_of(first.stack[2]);
    assert_eq!(work.iter().map(|line| line.line).collect::<Vec<_>>(), [3, 12]);
    let main = profile.lines_of(first.stack[3])[0];
    assert_eq!((main.line, main.column), (40, 7));
    assert_eq!(profile.str(profile.function(main.function.unwrap()).unwrap().file), "src/main.js");
    // The program's mapping is the first, whatever was seen first.
    let files: Vec<_> = profile.mappings.iter().map(|mapping| profile.str(mapping.file)).collect();
    assert_eq!(files, ["/srv/app", "/lib/libc.so.6", "[kernel]"]);
    let of = |at: usize| profile.locations[first.stack[at].0 as usize].mapping.map(|mapping| mapping.0);
    assert_eq!([of(0), of(1), of(2)], [Some(2), Some(1), Some(0)]);
    let thread = |at| match label(&profile, &profile.sample(at), "thread") {
        Some(LabelValue::Text(text)) => profile.str(text).to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!((thread(0), thread(1)), ("app".to_string(), "worker".to_string()));
    assert!(matches!(label(&profile, &profile.sample(1), "tid"), Some(LabelValue::Number(8, _))));
}

#[test]
fn waits_without_a_stack_are_told_by_their_sum() {
    let mut sampled = Sampled::new(SampleKind::OffCpu);
    sampled.push(stack(2, vec![frame(0x30, "main", "/srv/app", "")]));
    sampled.push(sample(SampleKind::OffCpu, 7, 5_000_000, 2, None));
    let stretch = |blocked: Nanos, runnable: u64| Stretch {
        ts: at(1),
        cpu: 0,
        pid: 7,
        tid: 7,
        left_as: whyslow_model::LeftAs::Sleeping,
        on_cpu: Nanos::new(1),
        runnable: Nanos::new(runnable),
        blocked,
    };
    // Short; short; with a stack of its own; preempted; unknown.
    let unknown = Nanos::UNKNOWN;
    for (blocked, runnable) in [
        (Nanos::new(400), 100),
        (Nanos::new(500), 0),
        (Nanos::new(4_990_000), 10_000),
        (Nanos::new(0), 70),
        (unknown, 9),
    ] {
        sampled.push(Event::Stretch(stretch(blocked, runnable)));
    }
    let profile = sampled.finish().unwrap();
    let told: Vec<_> =
        profile.samples().map(|sample| (names(&profile, &sample), sample.values.to_vec())).collect();
    let row = |name: &str, values: [i64; 2]| (vec![name.to_string()], values.to_vec());
    assert_eq!(
        told,
        [row("main", [1, 5_000_000]), row(SHORT_WAITS, [2, 1_000]), row(WAITS_FOR_CPU, [1, 70])]
    );
    assert_eq!((profile.period, profile.duration_ns), (None, None));
}

#[test]
fn a_recursion_is_no_inlining() {
    let a = || frame(1, "a", "/x", "a.c:1");
    let b = || frame(1, "b", "/x", "a.c:2");
    assert_eq!(inlined(&[a()]), 1);
    assert_eq!(inlined(&[a(), b()]), 2);
    assert_eq!(inlined(&[a(), a(), a()]), 1);
    assert_eq!(inlined(&[a(), b(), a(), b()]), 2);
    assert_eq!(inlined(&[frame(0, "x", "", ""), frame(0, "y", "", "")]), 1);
}

#[test]
fn places_are_read_with_line_and_column() {
    assert_eq!(place("src/a.c:12"), ("src/a.c", 12, 0));
    assert_eq!(place("/app/x.js:12:3"), ("/app/x.js", 12, 3));
    assert_eq!(place("a.c"), ("a.c", 0, 0));
    assert_eq!(place("a:b"), ("a:b", 0, 0));
    assert_eq!(place(""), ("", 0, 0));
}

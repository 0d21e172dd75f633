//! The running system: what is told of it is there, and is no nonsense.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use whyslow_host::{Sample, Sampler, SamplerOptions};
use whyslow_model::{Entity, FigureRow, Metric, Over, Trait, Unit};

fn rows<'a>(sample: &'a Sample, of: &'a Entity) -> impl Iterator<Item = &'a FigureRow> {
    sample.tables.iter().flat_map(|table| &table.rows).filter(move |row| row.of == *of)
}

fn figure(sample: &Sample, of: &Entity, metric: Metric) -> Option<f64> {
    rows(sample, of).find_map(|row| row.get(metric))
}

fn told(sample: &Sample, of: &Entity, which: Trait) -> Option<String> {
    rows(sample, of).find_map(|row| row.told(which).map(str::to_string))
}

/// No figure of any sample may be negative, or a share above its whole.
fn plausible(sample: &Sample) {
    for table in &sample.tables {
        for row in &table.rows {
            for &(metric, value) in &row.figures {
                let least = if metric == Metric::Nice { -20.0 } else { 0.0 };
                assert!(value.is_finite() && value >= least, "{:?} {metric:?} {value}", row.of);
                assert!(metric.unit() != Unit::Share || value <= 1.0, "{:?} {metric:?} {value}", row.of);
            }
            let mut metrics: Vec<Metric> = row.figures.iter().map(|(metric, _)| *metric).collect();
            metrics.sort();
            let all = metrics.len();
            metrics.dedup();
            assert_eq!(metrics.len(), all, "a metric stands twice: {row:?}");
        }
    }
}

#[test]
fn a_thread_that_computes_is_seen() {
    let mut sampler =
        Sampler::new(SamplerOptions { own: true, ..SamplerOptions::default() }).expect("a sampler");
    let first = sampler.sample();
    plausible(&first);
    assert!(first.tables.iter().all(|table| !matches!(table.over, Over::Interval(_))));
    let own = std::process::id();
    let stop = Arc::new(AtomicBool::new(false));
    let (stops, work) = (stop.clone(), std::thread::Builder::new().name("computes".to_string()));
    let work = work.spawn(move || {
        let mut n = 1u64;
        while !stops.load(Ordering::Relaxed) {
            n = std::hint::black_box(n.wrapping_mul(3));
        }
        own_tid()
    });
    let work = work.expect("a thread");
    std::thread::sleep(Duration::from_millis(500));
    let second = sampler.sample();
    stop.store(true, Ordering::Relaxed);
    let tid = work.join().expect("its number");
    plausible(&second);
    let process = Entity::Process(own);
    let thread = Entity::Thread { pid: own, tid };
    assert_eq!(told(&second, &thread, Trait::Name).as_deref(), Some("computes"));
    let (of_thread, of_process) = (
        figure(&second, &thread, Metric::TaskUser).expect("told"),
        figure(&second, &process, Metric::TaskUser).expect("told"),
    );
    assert!(of_thread > 0.05 && of_process >= of_thread - 0.05, "{of_thread} of {of_process}");
    assert!(figure(&second, &process, Metric::Rss).expect("told") > 1e6);
    assert!(figure(&second, &process, Metric::Threads).expect("told") >= 2.0);
    let program = std::env::current_exe().expect("its file");
    let program = program.file_name().and_then(|name| name.to_str()).expect("its name");
    assert!(told(&second, &process, Trait::Command).expect("told").contains(program));
    let shares = [
        Metric::CpuUser,
        Metric::CpuNice,
        Metric::CpuSystem,
        Metric::CpuIdle,
        Metric::CpuIowait,
        Metric::CpuIrq,
        Metric::CpuSoftirq,
        Metric::CpuSteal,
    ];
    let sum: f64 = shares.iter().filter_map(|metric| figure(&second, &Entity::Host, *metric)).sum();
    assert!((sum - 1.0).abs() < 1e-6, "the modes add up to {sum}");
    assert!(figure(&second, &Entity::Host, Metric::MemTotal).expect("told") > 1e8);
    assert!(second.cost.cpu.or_zero() > 0);
}

fn own_tid() -> u32 {
    // /proc/thread-self is PID/task/TID.
    let link = std::fs::read_link("/proc/thread-self").expect("who we are");
    link.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("a number")
}

//! Takes samples and prints what they cost, and with `-v` all that they tell: `sample [SECONDS [COUNT]] [-v]`. The
//! measurement of `bench/host/run`.

use std::time::Duration;
use whyslow_host::{Sample, Sampler, SamplerOptions};
use whyslow_model::{Entity, Metric};

fn main() -> Result<(), whyslow_host::HostError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let verbose = words.iter().any(|word| word == "-v");
    let mut numbers = words.iter().filter_map(|word| word.parse::<f64>().ok());
    let every = Duration::from_secs_f64(numbers.next().unwrap_or(1.0).clamp(0.0, 3600.0));
    let count = numbers.next().unwrap_or(2.0) as u64;
    let mut sampler = Sampler::new(SamplerOptions::default())?;
    let (mut cpu, mut seconds) = (0.0f64, 0.0f64);
    for number in 0..count {
        if number > 0 {
            std::thread::sleep(every);
        }
        let sample = sampler.sample();
        if number > 0 {
            cpu += sample.cost.cpu.as_secs_f64().unwrap_or(0.0);
            seconds += sample.over.as_secs_f64().unwrap_or(0.0);
        }
        let sockets =
            established(&sample).map_or(String::new(), |n| format!(", lists all sockets: {n} established"));
        let rows: usize = sample.tables.iter().map(|table| table.rows.len()).sum();
        let (took, gaps) = (sample.cost.took, sample.gaps.len());
        println!("sample {number}: cpu {}, took {took}, {rows} rows, {gaps} gaps{sockets}", sample.cost.cpu);
        if verbose {
            print(&sample);
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    println!("after the first: {:.2} % of a CPU; peak memory {peak}", 100.0 * cpu / seconds.max(1e-9));
    Ok(())
}

/// Established connections, where this sample listed all sockets.
fn established(sample: &Sample) -> Option<f64> {
    let mut hosts = sample.tables.iter().flat_map(|table| &table.rows).filter(|row| row.of == Entity::Host);
    hosts.find_map(|row| row.get(Metric::TcpEstablished))
}

fn print(sample: &Sample) {
    for gap in &sample.gaps {
        println!("  gap: {gap:?}");
    }
    for row in sample.tables.iter().flat_map(|table| &table.rows) {
        let figures = row.figures.iter().map(|(metric, value)| format!(" {}={value:.4}", metric.name()));
        let traits = row.traits.iter().map(|(of, text)| format!(" {}={text:?}", of.name()));
        println!("  {}:{}", row.of, figures.chain(traits).collect::<String>());
    }
}

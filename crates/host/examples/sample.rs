//! Takes samples and prints what they cost, and with `-v` all that they tell: `sample [SECONDS [COUNT]] [-v]`.

use std::time::Duration;
use whyslow_host::{Options, Sampler};

fn main() -> Result<(), whyslow_host::HostError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let verbose = words.iter().any(|word| word == "-v");
    let mut numbers = words.iter().filter_map(|word| word.parse::<f64>().ok());
    let every = Duration::from_secs_f64(numbers.next().unwrap_or(1.0).clamp(0.0, 3600.0));
    let count = numbers.next().unwrap_or(2.0) as u64;
    let mut sampler = Sampler::new(Options::default())?;
    for number in 0..count {
        if number > 0 {
            std::thread::sleep(every);
        }
        let sample = sampler.sample();
        let rows: usize = sample.tables.iter().map(|table| table.rows.len()).sum();
        println!(
            "sample {number}: cpu {}, took {}, {rows} rows, {} gaps",
            sample.cost.cpu,
            sample.cost.took,
            sample.gaps.len()
        );
        if verbose {
            for gap in &sample.gaps {
                println!("  gap: {gap:?}");
            }
            for row in sample.tables.iter().flat_map(|table| &table.rows) {
                let figures: Vec<String> = row
                    .figures
                    .iter()
                    .map(|(metric, value)| format!("{}={value:.4}", metric.name()))
                    .collect();
                let traits: Vec<String> =
                    row.traits.iter().map(|(of, text)| format!("{}={text:?}", of.name())).collect();
                println!("  {}: {} {}", row.of, figures.join(" "), traits.join(" "));
            }
        }
    }
    Ok(())
}

//! What the account and the folds that it brought add to the CPU time of a diagnosis, measured in one run:
//! `account_cost ROUNDS FILE…`. A diagnosis with all, one without the account and one without each fold take turns; told are the least
//! CPU times, and the median of the ratios of neighbours.

use std::path::PathBuf;
use whyslow_facts::Facts;
use whyslow_model::SourceId;
use whyslow_read::{Input, ReadOptions, read};

/// What is left out in turn: nothing, the account (its fold and what is made of it), a fold.
const LEFT_OUT: [&str; 4] = ["", "accounts", "answers", "readings"];

/// CPU time of this process, ns.
fn cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// CPU time of a diagnosis from the first byte to the last finding, ns. Without the account it is that of the rest: the account is
/// made once more and its time taken off, for a diagnosis has no way of going without.
fn diagnosis(files: &[PathBuf], left_out: &str) -> anyhow::Result<f64> {
    let began = cpu_ns();
    let mut facts = Facts::without(left_out);
    let inputs: Vec<Input> = files.iter().cloned().map(Input::File).collect();
    if files.iter().all(|file| file.join("meta.json").is_file()) {
        for file in files {
            whyslow_store::read(file, SourceId::default(), &mut facts, &mut |_, _| {})?;
        }
    } else {
        read(&inputs, &ReadOptions { threads: 1 }, &(), &mut facts)?;
    }
    facts.finish();
    std::hint::black_box(whyslow_diagnose::diagnose(&facts));
    let spent = cpu_ns() - began;
    if left_out != "accounts" {
        return Ok(spent);
    }
    let began = cpu_ns();
    std::hint::black_box(whyslow_account::account(&facts));
    Ok(spent - (cpu_ns() - began))
}

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1);
    let rounds: usize = arguments.next().and_then(|text| text.to_str()?.parse().ok()).unwrap_or(5);
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    anyhow::ensure!(!files.is_empty(), "account_cost ROUNDS FILE…");
    let mut times: [Vec<f64>; LEFT_OUT.len()] = Default::default();
    // The first warms the page cache.
    diagnosis(&files, "")?;
    for _ in 0..rounds {
        for (left_out, times) in LEFT_OUT.iter().zip(&mut times) {
            times.push(diagnosis(&files, left_out)?);
        }
    }
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min) / 1e9;
    println!(
        "{:<24} {:>12} {:>16} {:>16}",
        "a diagnosis", "least CPU s", "adds, by least", "adds, by median"
    );
    for (left_out, of) in LEFT_OUT.iter().zip(&times) {
        if left_out.is_empty() {
            println!("{:<24} {:>12.3}", "with all", least(of));
            continue;
        }
        let mut ratios: Vec<f64> =
            times[0].iter().zip(of).map(|(all, without)| all / without - 1.0).collect();
        ratios.sort_by(f64::total_cmp);
        let (median, by_least) = (ratios[ratios.len() / 2], least(&times[0]) / least(of) - 1.0);
        let name = format!("without {left_out}");
        println!("{name:<24} {:>12.3} {:>14.1} % {:>14.1} %", least(of), by_least * 100.0, median * 100.0);
    }
    Ok(())
}

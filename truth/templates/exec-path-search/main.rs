// Packs the labels of a shipment with the packer of the tool chain that is installed.
use std::process::Command;
use std::time::{Duration, Instant};

fn wait_until(began: Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(Duration::from_secs_f64(rest));
    }
}

fn report(units: usize, seconds: f64) {
    let text = format!("{{\"units\": {units}, \"seconds\": {seconds:.6}}}");
    std::fs::write("@{report}", text).expect("report");
}

#[inline(never)]
fn @{fn}(label: &str) -> std::io::Result<bool> {
    let mut child = Command::new("@{program}").arg(label).spawn()?;
    Ok(child.wait()?.success())
}

fn main() {
    let conf = std::fs::read_to_string("@{work}/search.conf").expect("search.conf");
    std::env::set_var("PATH", conf.lines().collect::<Vec<_>>().join(":"));
    let began = Instant::now();
    let (mut units, mut busy) = (0usize, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        assert!(@{fn}(&format!("label-{units}")).expect("no packer"));
        units += 1;
        busy += start.elapsed().as_secs_f64();
        wait_until(began, units as f64 / @{rate} as f64);
    }
    report(units, busy);
}

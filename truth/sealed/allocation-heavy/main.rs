use std::time::Instant;

fn wait_until(began: std::time::Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(std::time::Duration::from_secs_f64(rest));
    }
}

fn report_times(units: u64, busy: f64) {
    let text = format!("{{\"units\": {}, \"seconds\": {}}}", units, busy);
    std::fs::write("@{report}", text).unwrap();
}

struct Stop {
    name: String,
    tags: Vec<Box<str>>,
    next: Option<Box<Stop>>,
}

#[inline(never)]
fn @{fn}(plan: &str, count: usize) -> Option<Box<Stop>> {
    let mut first: Option<Box<Stop>> = None;
    for i in 0..count {
        let at = i * 13 % 500;
        let tags = (0..@{fields}).map(|n| plan[at + n..at + n + 9 + (i + n) % @{length}].to_owned().into_boxed_str()).collect::<Vec<_>>();
        first = Some(Box::new(Stop { name: plan[at..at + 12].to_string(), tags, next: first }));
    }
    first
}

fn longest(mut stop: Option<Box<Stop>>) -> usize {
    let mut most = 0;
    while let Some(mut one) = stop {
        most = most.max(one.tags[0].len() + one.name.len());
        stop = one.next.take();
    }
    most
}

#[derive(Default)]
struct Seen<'a> {
    stops: Vec<(&'a str, usize)>,
    tags: Vec<&'a str>,
}

impl<'a> Seen<'a> {
    fn longest(&mut self, plan: &'a str, count: usize) -> usize {
        self.stops.clear();
        self.tags.clear();
        for i in 0..count {
            let at = i * 13 % 500;
            self.stops.push((&plan[at..at + 12], self.tags.len()));
            self.tags.extend((0..@{fields}).map(|n| &plan[at + n..at + n + 9 + (i + n) % @{length}]));
        }
        self.stops.iter().map(|(name, tag)| name.len() + self.tags[*tag].len()).max().unwrap_or(0)
    }
}

fn main() {
    let plan: String = (0..1000).map(|i| (b'a' + (i * 11 % 26) as u8) as char).collect();
    let mut seen = Seen::default();
    let (mut units, mut busy, mut sum) = (0u64, 0.0, 0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        sum += if @{reuse} == 1 { seen.longest(&plan, @{used}) } else { longest(@{fn}(&plan, @{used})) };
        units += 1;
        busy += start.elapsed().as_secs_f64();
        wait_until(began, units as f64 / @{rate} as f64);
    }
    report_times(units, busy);
    println!("{sum}");
}

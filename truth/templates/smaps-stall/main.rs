use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

extern "C" {
    fn prctl(option: i32, a: u64, b: u64, c: u64, d: u64) -> i32;
}

const PR_SET_THP_DISABLE: i32 = 41;
/// The largest answer that there can be.
const ROOM: usize = 48 << 20;

#[derive(Default)]
struct Renderer {
    spent: Duration,
    sum: u64,
}

impl Renderer {
    #[inline(never)]
    fn @{fn}(&mut self, documents: &[u8], from: usize) -> usize {
        let asked = Instant::now();
        let mut page: Vec<u8> = std::hint::black_box(Vec::with_capacity(ROOM));
        self.spent += asked.elapsed();
        page.extend_from_slice(&documents[from % (documents.len() - 4096)..][..4096]);
        for i in 0..@{extra}u64 * 6000 {
            self.sum = self.sum.wrapping_mul(6364136223846793005).wrapping_add(i + page[(i % 4096) as usize] as u64);
        }
        let size = page.len();
        let asked = Instant::now();
        drop(page);
        self.spent += asked.elapsed();
        size
    }
}

fn main() {
    unsafe { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) };
    let documents = vec![7u8; @{held_mb} << 20];
    let (orders, inbox) = mpsc::sync_channel::<u64>(0);
    fs::write("@{work}/server.tmp", format!("{}\n", std::process::id())).unwrap();
    fs::rename("@{work}/server.tmp", "@{work}/server.pid").unwrap();

    let worker = thread::Builder::new()
        .name("renderer".into())
        .spawn(move || {
            let mut renderer = Renderer::default();
            let (mut units, mut busy) = (0u64, Duration::ZERO);
            for order in inbox {
                let start = Instant::now();
                for part in 0..@{maps}u64 {
                    renderer.@{fn}(&documents, (order * 4099 + part) as usize);
                }
                units += 1;
                busy += start.elapsed();
            }
            (units, busy, renderer.spent, renderer.sum)
        })
        .unwrap();
    let began = Instant::now();
    let mut sent = 0u64;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        orders.send(sent).unwrap();
        sent += 1;
        let due = Duration::from_secs_f64(sent as f64 / @{rate} as f64);
        if let Some(rest) = due.checked_sub(began.elapsed()) {
            thread::sleep(rest);
        }
    }
    drop(orders);
    let (units, busy, spent, sum) = worker.join().unwrap();
    let text = format!(
        "{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"odd\": {}}}",
        units, busy.as_secs_f64(), spent.as_secs_f64(), sum & 1
    );
    fs::write("@{report}", text).unwrap();
}

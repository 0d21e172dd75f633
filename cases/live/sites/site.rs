// As site.c, by the standard library of Rust: site PORT FOLDER.
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static LATCH: Mutex<u64> = Mutex::new(0);

fn heron_tally(numbers: &mut [u64]) -> u64 {
    let mut sum = 1u64;
    for (at, number) in numbers.iter_mut().enumerate() { // SITE compute heron_tally
        sum = sum.wrapping_mul(31).wrapping_add(*number >> 7) ^ at as u64; // SITE compute heron_tally
        *number = sum; // SITE compute heron_tally
    }
    sum
}

fn otter_latch() -> u64 {
    let mut taken = LATCH.lock().unwrap(); // SITE lock otter_latch
    *taken += 1;
    *taken
}

fn finch_flush(file: &mut File, block: &[u8]) -> u64 {
    file.rewind().unwrap();
    file.write_all(block).unwrap(); // SITE file finch_flush
    file.sync_data().unwrap(); // SITE file finch_flush
    block.len() as u64
}

fn badger_ask(peer: &mut TcpStream) -> u64 {
    let mut answer = [0; 16];
    peer.write_all(b"?").unwrap();
    let Ok(1..) = peer.read(&mut answer) else { std::process::exit(0) }; // SITE peer badger_ask
    answer[0].into()
}

fn newt_doze() -> u64 {
    thread::sleep(Duration::from_millis(50)); // SITE timer newt_doze
    50
}

fn near_caller<T>(mut of: impl FnMut() -> T) -> T {
    of()
}

#[inline(never)]
fn far_caller(of: impl FnMut() -> u64) -> u64 {
    near_caller(of).wrapping_add(1)
}

fn begin(kind: &str, mut of: impl FnMut() -> u64 + Send + 'static) {
    let work = move || loop {
        std::hint::black_box(far_caller(&mut of));
        if thread::current().name() == Some("lock") {
            thread::sleep(Duration::from_millis(5)); // SITE rest begin
        }
    };
    thread::Builder::new().name(kind.to_string()).spawn(work).unwrap();
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let mut file = File::create(format!("{}/file", words[2])).unwrap();
    let mut peer = TcpStream::connect(format!("127.0.0.1:{}", words[1])).unwrap();
    let mut numbers = vec![1u64; 1 << 20];
    begin("compute", move || heron_tally(&mut numbers));
    begin("lock", otter_latch);
    begin("file", move || finch_flush(&mut file, &[7; 1 << 22]));
    begin("peer", move || badger_ask(&mut peer));
    begin("timer", newt_doze);
    println!("ready");
    loop {
        {
            let _taken = LATCH.lock().unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

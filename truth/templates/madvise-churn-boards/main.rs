// Mixes the announcements of stations: `board 17` in, the level of what was mixed out.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const FRAME: usize = 4096;
const FRAMES: usize = (@{mb} << 20) / FRAME;

extern "C" {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, size: usize, advice: i32) -> i32;
}

/// Memory in which an announcement is mixed, frame by frame.
struct Mixer {
    memory: &'static mut [u8],
    used: Instant,
    is_held: bool,
}

impl Mixer {
    fn new() -> Mixer {
        // Of our own, of nobody else: readable, writable, private, of no file.
        let at = unsafe { mmap(std::ptr::null_mut(), FRAME * FRAMES, 3, 0x22, -1, 0) };
        assert!(at as isize != -1, "no memory for a mixer");
        let mut made = Mixer { memory: unsafe { std::slice::from_raw_parts_mut(at, FRAME * FRAMES) }, used: Instant::now(), is_held: true };
        made.frame(0, b"gong");
        made
    }

    fn frame(&mut self, number: usize, tones: &[u8]) {
        self.memory[number * FRAME..number * FRAME + tones.len()].copy_from_slice(tones);
    }

    fn level(&self, number: usize) -> u64 {
        let at = number * 7919 % FRAMES * FRAME;
        self.memory[at..at + @{cover}].iter().fold(number as u64, |sum, tone| (sum ^ *tone as u64).wrapping_mul(1_099_511_628_211))
    }
}

struct Pool {
    free: Mutex<Vec<Mixer>>,
}

impl Pool {
    fn take(&self) -> Mixer {
        self.free.lock().unwrap().pop().unwrap_or_else(Mixer::new)
    }

    fn give(&self, mut mixer: Mixer) {
        mixer.used = Instant::now();
        if @{idle} as f64 == 0.0 {
            self.@{fn}(&mut mixer);
        }
        self.free.lock().unwrap().push(mixer);
    }

    #[inline(never)]
    fn @{fn}(&self, mixer: &mut Mixer) {
        unsafe { madvise(mixer.memory.as_mut_ptr(), FRAME * FRAMES, 4) };
        mixer.is_held = false;
    }

    fn tidy(&self) {
        loop {
            std::thread::sleep(Duration::from_millis(250));
            let mut free = self.free.lock().unwrap();
            for mixer in free.iter_mut().filter(|mixer| mixer.is_held && mixer.used.elapsed().as_secs_f64() > @{idle} as f64) {
                self.@{fn}(mixer);
            }
        }
    }
}

fn tones(station: usize, part: usize) -> Vec<u8> {
    let text = format!("The train to place {} leaves from platform {} at {:02}:{:02}. ", station % 300, 1 + part % 12, (station + part) % 24, part * 7 % 60);
    text.bytes().cycle().take(@{cover}).map(|letter| letter.wrapping_mul(3)).collect()
}

#[inline(never)]
fn @{fn2}(mixer: &mut Mixer, station: usize) -> u64 {
    let parts: Vec<Vec<u8>> = (0..24).map(|part| tones(station, part)).collect();
    for number in 0..FRAMES {
        mixer.frame(number, &parts[number % 24]);
    }
    mixer.is_held = true;
    (0..@{marks} * 3).fold(0, |sum, number| sum ^ mixer.level(number))
}

fn serve(mut line: TcpStream, pool: Arc<Pool>) -> std::io::Result<()> {
    line.set_nodelay(true)?;
    for asked in BufReader::new(line.try_clone()?).lines() {
        let station = asked?.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0usize);
        let mut mixer = pool.take();
        let sum = @{fn2}(&mut mixer, station % 5000);
        pool.give(mixer);
        writeln!(line, "mixed {sum:016x}")?;
    }
    Ok(())
}

fn main() {
    let pool = Arc::new(Pool { free: Mutex::new((0..@{boards} + @{spares}).map(|_| Mixer::new()).collect()) });
    if @{idle} as f64 > 0.0 {
        let tidied = pool.clone();
        std::thread::spawn(move || tidied.tidy());
    }
    let door = TcpListener::bind("127.0.0.1:@{port}").expect("the port");
    for line in door.incoming().flatten() {
        let shared = pool.clone();
        std::thread::spawn(move || serve(line, shared));
    }
}

// Sends the lights of a stage to their dimmers: each look goes out as packets, one after the other in its time, as the old dimmers want it.
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::UdpSocket;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PACKETS: usize = @{packets};
const BYTES: usize = @{bytes};
const SLOT: Duration = Duration::from_micros(@{slot_us});

// What each lamp is to do in one look, by dimmer.
struct Look {
    number: u32,
    levels: Vec<[u8; BYTES]>,
}

impl Look {
    fn fade(&mut self) {
        self.number += 1;
        for pass in 0..@{effort} {
            for (dimmer, levels) in self.levels.iter_mut().enumerate() {
                let wave = (dimmer as u32).wrapping_mul(self.number) / 7 + pass;
                for (lamp, level) in levels.iter_mut().enumerate() {
                    let target = wave.wrapping_add(lamp as u32 * 5) & 255;
                    *level = ((*level as u32 * 7 + target * target / 255) / 8) as u8;
                }
            }
        }
    }
}

struct Line {
    socket: UdpSocket,
    spent: Duration,
    sent: u64,
    refused: u64,
}

impl Line {
    fn open(port: u16) -> io::Result<Line> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(("127.0.0.1", port))?;
        Ok(Line { socket, spent: Duration::ZERO, sent: 0, refused: 0 })
    }

    // Until the time of the next packet.
    fn @{fn}(&mut self, last: &mut Instant, slots: u32) {
        let start = Instant::now();
        let due = *last + SLOT * slots;
        sleep(due.saturating_duration_since(start).max(Duration::from_micros(1)));
        *last = Instant::now();
        self.spent += start.elapsed();
    }

    fn send(&mut self, look: &Look) {
        let count = if look.number % @{part} == 0 { PACKETS } else { PACKETS / 20 };
        let mut packet = Vec::with_capacity(8 + BYTES);
        let mut last = Instant::now();
        for (place, levels) in look.levels.iter().take(count).enumerate() {
            packet.clear();
            packet.extend_from_slice(&look.number.to_le_bytes());
            packet.extend_from_slice(&(place as u32).to_le_bytes());
            packet.extend_from_slice(levels);
            match self.socket.send(&packet) {
                Ok(_) => self.sent += 1,
                Err(_) => self.refused += 1,
            }
            if (place + 1) % @{burst} == 0 {
                self.@{fn}(&mut last, @{burst});
            }
        }
    }
}

fn main() -> io::Result<()> {
    let mut log = File::create("@{work}/looks.log")?;
    let mut line = Line::open(@{wall})?;
    let mut look = Look { number: 0, levels: vec![[0; BYTES]; PACKETS] };
    let (mut units, mut busy) = (0u32, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} {
        due = (due + Duration::from_secs_f64(1.0 / @{rate})).max(Instant::now());
        sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        look.fade();
        line.send(&look);
        busy += start.elapsed();
        units += 1;
        if units % 10 == 0 {
            writeln!(log, "look {}: {} packets, {} refused", look.number, line.sent, line.refused)?;
        }
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), line.spent.as_secs_f64());
    fs::write("@{report}", report)
}

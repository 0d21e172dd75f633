// Sends the brochures of the orders to the press.
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

unsafe extern "C" {
    fn sendfile(to: i32, from: i32, offset: *mut i64, count: usize) -> isize;
}

struct Order {
    number: u64,
    brochure: u64,
    copies: u64,
}

struct Press {
    line: TcpStream,
    sending: Duration,
}

fn stamp(piece: &mut [u8], order: &Order) {
    for (at, byte) in piece.iter_mut().enumerate() {
        *byte ^= (order.number.wrapping_mul(131).wrapping_add(at as u64) & 1) as u8;
    }
}

impl Press {
    #[inline(never)]
    fn @{fn}(&mut self, sheet: &mut File, order: &Order) -> io::Result<()> {
        if "@{way}" == "whole" {
            let mut left = sheet.metadata()?.len() as usize;
            while left > 0 {
                match unsafe { sendfile(self.line.as_raw_fd(), sheet.as_raw_fd(), std::ptr::null_mut(), left) } {
                    n if n > 0 => left -= n as usize,
                    _ => return Err(io::Error::last_os_error()),
                }
            }
            return Ok(());
        }
        let mut piece = vec![0u8; @{piece_kb} * 1024];
        loop {
            let n = sheet.read(&mut piece)?;
            if n == 0 {
                return Ok(());
            }
            if @{stamp} == 1 {
                stamp(&mut piece[..n], order);
            }
            self.line.write_all(&piece[..n])?;
        }
    }

    fn print(&mut self, order: &Order) -> io::Result<()> {
        let mut sheet = File::open(format!("@{work}/@{shelf}/sheet-{}.@{ending}", order.brochure))?;
        let head = format!("{:<64}", format!("print {} {}", sheet.metadata()?.len(), order.copies));
        self.line.write_all(head.as_bytes())?;
        let start = Instant::now();
        self.@{fn}(&mut sheet, order)?;
        self.sending += start.elapsed();
        // A few may be on the press at once.
        let mut answer = [0u8; 3];
        if order.number < 8 { Ok(()) } else { self.line.read_exact(&mut answer) }
    }
}

fn main() -> io::Result<()> {
    let mut press = Press { line: TcpStream::connect(("127.0.0.1", @{port}))?, sending: Duration::ZERO };
    let (counter, orders) = mpsc::sync_channel::<Order>(1);
    let length = Duration::from_secs_f64(@{seconds} as f64);
    // The counter takes the orders; the press has them one by one.
    thread::spawn(move || {
        let began = Instant::now();
        let mut number = 0u64;
        while began.elapsed() < length {
            let order = Order { number, brochure: number % (@{last} + 1), copies: 1 + number * 7 % 40 };
            if counter.send(order).is_err() {
                return;
            }
            number += 1;
            let due = Duration::from_secs_f64(number as f64 / @{rate} as f64);
            thread::sleep(due.saturating_sub(began.elapsed()));
        }
    });
    let (mut units, mut sheets, mut busy) = (0u64, 0u64, Duration::ZERO);
    for order in orders {
        let start = Instant::now();
        press.print(&order)?;
        sheets += order.copies;
        units += 1;
        busy += start.elapsed();
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"sheets\": {}}}", units, busy.as_secs_f64(), press.sending.as_secs_f64(), sheets);
    std::fs::write("@{report}", text)
}

// The gate of a fair: a badge for each visitor. Those at the gate put an order on the board, the renderer takes the oldest.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const SIDE: usize = @{sides};
const IS_TOLD: bool = matches!("@{wait}".as_bytes(), b"told");

#[derive(Default)]
struct Board {
    ready: Mutex<HashMap<u64, u32>>,
    came: Condvar,
    rendered: AtomicU64,
}

fn milliseconds(n: f64) -> Duration {
    Duration::from_secs_f64(n / 1000.0)
}

/// A pattern that the gates' cameras read: cells that follow from their neighbours.
fn drawn(visitor: u64) -> u32 {
    let mut above: Vec<u8> = (0..SIDE).map(|i| (visitor >> (i % 24)) as u8 & 1).collect();
    let mut sum = visitor as u32;
    for _ in 1..SIDE * 30 {
        let row: Vec<u8> = (0..SIDE)
            .map(|x| above[(x + SIDE - 1) % SIDE] ^ (above[x] | above[(x + 1) % SIDE]))
            .collect();
        sum = row.iter().fold(sum, |sum, cell| sum.wrapping_mul(31).wrapping_add(*cell as u32));
        above = row;
    }
    sum
}

impl Board {
    fn put(&self, order: u64, badge: u32) {
        self.ready.lock().unwrap().insert(order, badge);
        self.rendered.fetch_add(1, Ordering::Relaxed);
        if IS_TOLD {
            self.came.notify_all();
        }
    }

    fn look(&self, order: u64) -> Option<u32> {
        self.ready.lock().unwrap().remove(&order)
    }
}

#[inline(never)]
fn @{fn}(board: &Board, order: u64) -> u32 {
    if IS_TOLD {
        let mut ready = board.ready.lock().unwrap();
        loop {
            if let Some(badge) = ready.remove(&order) {
                return badge;
            }
            ready = board.came.wait(ready).unwrap();
        }
    }
    loop {
        if let Some(badge) = board.look(order) {
            return badge;
        }
        thread::sleep(milliseconds(@{pause} as f64));
    }
}

fn serve(client: TcpStream, first: u64, orders: Sender<(u64, u64)>, board: Arc<Board>) -> Result<()> {
    client.set_nodelay(true)?;
    let mut order = first;
    for line in BufReader::new(client.try_clone()?).lines() {
        let line = line?;
        let visitor = line.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        order += 1;
        orders.send((order, visitor)).expect("the renderer is gone");
        let badge = @{fn}(&board, order);
        (&client).write_all(format!("badge {visitor} {badge:08x}\n").as_bytes())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let board = Arc::new(Board::default());
    let (orders, queue) = channel::<(u64, u64)>();
    let shared = board.clone();
    thread::Builder::new().name("renderer".into()).spawn(move || {
        for (order, visitor) in queue {
            shared.put(order, drawn(visitor));
        }
    })?;
    let shared = board.clone();
    thread::Builder::new().name("counter".into()).spawn(move || loop {
        let before = shared.rendered.load(Ordering::Relaxed);
        thread::sleep(milliseconds(@{tick} as f64));
        let now = shared.rendered.load(Ordering::Relaxed);
        if now - before > 100_000 {
            eprintln!("{} badges", now - before);
        }
    })?;
    for (number, client) in TcpListener::bind(("127.0.0.1", @{port}))?.incoming().enumerate() {
        let (client, orders, board) = (client?, orders.clone(), board.clone());
        thread::Builder::new().name(format!("gate-{number}")).spawn(move || {
            if let Err(error) = serve(client, number as u64 * 1_000_000, orders, board) {
                eprintln!("gate {number}: {error}");
            }
        })?;
    }
    Ok(())
}

// Says how much credit a customer has: a pool of threads takes the connections from a queue.
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

#[derive(Default)]
struct Queue {
    waiting: Mutex<VecDeque<TcpStream>>,
    came: Condvar,
}

impl Queue {
    fn put(&self, client: TcpStream) {
        self.waiting.lock().unwrap().push_back(client);
        self.came.notify_one();
    }

    fn take(&self) -> TcpStream {
        let mut waiting = self.waiting.lock().unwrap();
        loop {
            if let Some(client) = waiting.pop_front() {
                return client;
            }
            waiting = self.came.wait(waiting).unwrap();
        }
    }
}

#[inline(never)]
fn @{fn}(service: &mut BufReader<TcpStream>, customer: &str) -> std::io::Result<String> {
    service.get_ref().write_all(customer.as_bytes())?;
    let mut score = String::new();
    service.read_line(&mut score)?;
    Ok(score)
}

fn weigh(score: &str) -> u64 {
    let (start, mut sum) = (Instant::now(), score.len() as u64);
    while start.elapsed().as_secs_f64() < @{effort} / 1000.0 {
        sum = sum.wrapping_mul(6364136223846793005).wrapping_add(1);
    }
    sum % 5000
}

fn serve(client: TcpStream, service: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    client.set_nodelay(true)?;
    let mut ask = String::new();
    BufReader::new(&client).read_line(&mut ask)?;
    let score = @{fn}(service, &ask)?;
    (&client).write_all(format!("{} limit {}\n", score.trim_end(), weigh(&score)).as_bytes())
}

fn main() -> std::io::Result<()> {
    let queue = Arc::new(Queue::default());
    for number in 0..@{pool} {
        let shared = queue.clone();
        let line = TcpStream::connect(("127.0.0.1", @{service}))?;
        line.set_nodelay(true)?;
        thread::Builder::new().name(format!("@{thread}-{number}")).spawn(move || {
            let mut service = BufReader::new(line);
            loop {
                if let Err(error) = serve(shared.take(), &mut service) {
                    eprintln!("{error}");
                }
            }
        })?;
    }
    for client in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        queue.put(client?);
    }
    Ok(())
}

// Takes the orders of a bell foundry: `bell 17 Gloria` in, the engraving's plan out.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

struct Order {
    bell: usize,
    name: String,
    done: Sender<String>,
}

struct Keeper {
    registry: BufReader<UnixStream>,
    next: u64,
    end: u64,
}

impl Keeper {
    #[inline(never)]
    fn @{fn}(&mut self) -> std::io::Result<()> {
        self.registry.get_mut().write_all(b"numbers @{block}\n")?;
        let mut answer = String::new();
        self.registry.read_line(&mut answer)?;
        let mut range = answer.split_whitespace().map(|number| number.parse().expect("a number"));
        self.next = range.next().expect("the first");
        self.end = range.next().expect("the end");
        Ok(())
    }

    fn keep(mut self, asked: Receiver<Sender<u64>>) {
        for answer in asked {
            if self.next >= self.end {
                self.@{fn}().expect("the registry");
            }
            answer.send(self.next).ok();
            self.next += 1;
        }
    }
}

/// Where each letter goes around the rim, in tenths of a degree.
fn plan(name: &str, number: u64) -> u32 {
    let text: Vec<char> = format!("{name} No {number} MMXXVI ").chars().cycle().take(@{letters}).collect();
    let wide = |letter: char| 4.0 + (letter as u32 % 5) as f64 + (letter as u32 as f64).sqrt();
    let width: f64 = text.iter().map(|letter| wide(*letter)).sum();
    let mut at = 0.0;
    let mut drawn = String::new();
    for letter in text {
        drawn += &format!("{letter}{at:.0},");
        at += 3600.0 * wide(letter) / width;
    }
    drawn.bytes().fold(0, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte as u32))
}

fn engrave(orders: Receiver<Order>, keeper: Sender<Sender<u64>>) {
    let (give, numbers) = channel();
    for order in orders {
        keeper.send(give.clone()).expect("the keeper");
        let number = numbers.recv().expect("a number");
        order.done.send(format!("{} {number} {:x}\n", order.bell, plan(&order.name, number))).ok();
    }
}

fn serve(mut line: TcpStream, engraver: Sender<Order>) -> std::io::Result<()> {
    line.set_nodelay(true)?;
    let (done, plans) = channel();
    for asked in BufReader::new(line.try_clone()?).lines() {
        let asked = asked?;
        let words: Vec<&str> = asked.split(' ').collect();
        engraver.send(Order { bell: words[1].parse().unwrap_or(0), name: words[2].into(), done: done.clone() }).expect("the engraver");
        line.write_all(plans.recv().expect("a plan").as_bytes())?;
    }
    Ok(())
}

fn main() {
    let registry = BufReader::new(UnixStream::connect("@{work}/@{desk}").expect("the registry"));
    let (ask, asked) = channel();
    thread::Builder::new().name("keeper".into()).spawn(move || Keeper { registry, next: 0, end: 0 }.keep(asked)).expect("a thread");
    let (order, orders) = channel();
    thread::Builder::new().name("engraver".into()).spawn(move || engrave(orders, ask)).expect("a thread");
    let door = TcpListener::bind("127.0.0.1:@{port}").expect("the port");
    for line in door.incoming().flatten() {
        let order = order.clone();
        thread::spawn(move || serve(line, order));
    }
}

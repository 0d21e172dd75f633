//! Serves the tiles of a hiking map: heights in steps of fifty metres, run by run.
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

const SIDE: usize = @{side};
const START_PAGE: u32 = 32;
const INSIDE: bool = matches!("@{drawing}".as_bytes(), b"inside");

type Tile = Arc<[u8]>;

#[derive(Default)]
struct Kept {
    tiles: HashMap<u32, Tile>,
    order: VecDeque<u32>,
}

impl Kept {
    fn keep(&mut self, number: u32, tile: &Tile) {
        if self.tiles.insert(number, tile.clone()).is_none() {
            self.order.push_back(number);
        }
        if self.order.len() > @{kept} {
            let oldest = self.order.pop_front().unwrap_or_default();
            self.tiles.remove(&oldest);
        }
    }
}

#[derive(Default)]
struct Map {
    @{lock}: Mutex<Kept>,
}

fn height(x: f64, y: f64) -> f64 {
    (0..4).map(|octave| (f64::from(octave), 0.5f64.powi(octave))).map(|(octave, wide)| ((x / wide + octave).sin() * (y / wide - octave).cos() + 1.0) * 400.0 * wide).sum()
}

fn draw(number: u32) -> Tile {
    let (left, top) = (f64::from(number % 1000), f64::from(number / 1000));
    let mut out = Vec::with_capacity(SIDE * 8);
    for row in 0..SIDE {
        let steps = (0..SIDE).map(|column| (height(left + column as f64 / SIDE as f64, top + row as f64 / SIDE as f64) / 50.0) as u32 as u8);
        let mut run: Option<(u8, u8)> = None;
        for step in steps {
            run = match run {
                Some((length, last)) if last == step && length < 255 => Some((length + 1, last)),
                done => {
                    out.extend(done.into_iter().flat_map(|(length, last)| [length, last]));
                    Some((1, step))
                }
            };
        }
        out.extend(run.into_iter().flat_map(|(length, last)| [length, last]));
    }
    out.into()
}

impl Map {
    #[inline(never)]
    fn @{fn}(&self, number: u32) -> Tile {
        let mut kept = self.@{lock}.lock().unwrap();
        if let Some(tile) = kept.tiles.get(&number) {
            return tile.clone();
        }
        if INSIDE {
            let tile = draw(number);
            kept.keep(number, &tile);
            return tile;
        }
        drop(kept);
        let tile = draw(number);
        self.@{lock}.lock().unwrap().keep(number, &tile);
        tile
    }
}

/// Every third hiker looks at the region's start page, the others at places of their own.
fn place(asked: u32) -> u32 {
    let mixed = asked.wrapping_mul(0x9E37_79B1) >> 8;
    if mixed % 3 == 0 { mixed % START_PAGE } else { 1000 + asked }
}

fn talk(line: TcpStream, map: &Map) -> Result<()> {
    line.set_nodelay(true)?;
    let mut reader = BufReader::new(line.try_clone()?);
    let mut writer = line;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut field = String::new();
        while reader.read_line(&mut field)? > 2 {
            field.clear();
        }
        let asked = first.strip_prefix("GET /tiles/").and_then(|rest| rest.split('.').next()).and_then(|word| word.parse().ok());
        let answer = match asked.map(|asked| map.@{fn}(place(asked))) {
            Some(tile) => [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", tile.len()).as_bytes(), &tile].concat(),
            None => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
        };
        writer.write_all(&answer)?;
    }
}

fn main() -> Result<()> {
    let map = Arc::new(Map::default());
    for number in 0..START_PAGE {
        map.@{fn}(number);
    }
    for line in TcpListener::bind("127.0.0.1:@{port}")?.incoming().flatten() {
        let map = map.clone();
        thread::spawn(move || talk(line, &map));
    }
    Ok(())
}

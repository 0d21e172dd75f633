// Draws posters: a ground, texts and frames on a canvas, of which the proof that the customer sees is made.
use std::collections::HashMap;
use std::time::{Duration, Instant};

const ROW: usize = 8192;
const ROWS: usize = (@{mb} << 20) / ROW;

struct Text {
    row: usize,
    column: usize,
    letters: String,
}

struct Order {
    number: u64,
    ground: u8,
    texts: Vec<Text>,
}

impl Order {
    // As it stands in the shop's file: number|ground|row,column,letters|…
    fn parse(line: &str) -> Option<Order> {
        let mut parts = line.split('|');
        let number = parts.next()?.parse().ok()?;
        let ground = parts.next()?.parse().ok()?;
        let texts = parts.filter_map(|part| {
            let mut fields = part.splitn(3, ',');
            Some(Text { row: fields.next()?.parse().ok()?, column: fields.next()?.parse().ok()?, letters: fields.next()?.to_string() })
        });
        Some(Order { number, ground, texts: texts.collect() })
    }
}

fn order_line(number: u64) -> String {
    let mut line = format!("{number}|{}", 1 + number % 200);
    for i in 0..@{texts}u64 {
        let place = (number * 7919 + i * 104_729) % 1_000_003;
        line += &format!("|{},{},summer fair {}", place as usize % (ROWS - 40), place as usize % (ROW - 900), i % 31);
    }
    line
}

#[derive(Default)]
struct Studio {
    kept: Vec<Vec<u8>>,
    glyphs: HashMap<char, [u8; 48]>,
    preparing: f64,
}

impl Studio {
    fn glyph(&mut self, letter: char) -> [u8; 48] {
        *self.glyphs.entry(letter).or_insert_with(|| {
            let mut shape = [0u8; 48];
            for (i, dot) in shape.iter_mut().enumerate() {
                *dot = (letter as u32 as usize * 31 + i * 17) as u8;
            }
            shape
        })
    }

    // A canvas with its ground: a dot at the start of each half of a row.
    #[inline(never)]
    fn @{fn}(&mut self, order: &Order) -> Vec<u8> {
        let mut canvas = match self.kept.is_empty() || @{fresh} == 1 {
            true => vec![0u8; ROW * ROWS],
            false => self.kept.remove(0),
        };
        for stripe in canvas.chunks_mut(4096) {
            stripe[..8].fill(order.ground);
        }
        canvas
    }

    fn draw(&mut self, canvas: &mut [u8], order: &Order) {
        for text in &order.texts {
            for (i, letter) in text.letters.chars().enumerate() {
                let shape = self.glyph(letter);
                for row in 0..40 {
                    let at = (text.row + row) * ROW + text.column + i * 48;
                    canvas[at..at + 48].copy_from_slice(&shape);
                }
            }
        }
    }

    fn proof(&self, canvas: &[u8], order: &Order) -> u64 {
        let mut sum = order.number;
        for pass in 0..@{passes}u64 {
            for text in &order.texts {
                let at = text.row * ROW + text.column;
                for dot in &canvas[at..at + 900] {
                    sum = (sum ^ (*dot as u64 + pass)).wrapping_mul(1_099_511_628_211);
                }
            }
        }
        sum
    }

    fn poster(&mut self, line: &str) -> u64 {
        let order = Order::parse(line).expect("a line of the shop");
        let began = Instant::now();
        let mut canvas = self.@{fn}(&order);
        self.preparing += began.elapsed().as_secs_f64();
        self.draw(&mut canvas, &order);
        let sum = self.proof(&canvas, &order);
        if @{fresh} == 0 {
            self.kept.push(canvas);
        }
        sum
    }
}

fn main() {
    let mut studio = Studio::default();
    if @{fresh} == 0 {
        studio.kept = (0..@{pool}).map(|_| vec![0u8; ROW * ROWS]).collect();
    }
    let (mut units, mut busy, mut sum) = (0u64, 0.0, 0u64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        sum ^= studio.poster(&order_line(units));
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {busy:.6}, \"culprit\": {:.6}}}", studio.preparing);
    std::fs::write("@{report}", report).unwrap();
    println!("{sum:x}");
}

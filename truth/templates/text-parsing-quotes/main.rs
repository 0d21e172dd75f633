// A desk that keeps the last price of the papers it deals in, and tells when one of them leaves its band.
use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::time::Instant;

struct Quote {
    columns: Vec<String>,
    values: Vec<f64>,
}

struct Book {
    low: f64,
    high: f64,
    traded: u64,
    mean: f64,
    alarms: u64,
}

#[inline(never)]
fn @{fn}(line: &str) -> Quote {
    let columns: Vec<String> = line.split(';').map(|column| column.trim().to_string()).collect();
    let values = columns.iter().map(|column| column.parse::<f64>().unwrap_or(f64::NAN)).collect();
    Quote { columns, values }
}

// Most papers are none of ours: the first column tells.
fn first_three(line: &str) -> Option<(&str, f64, u64)> {
    let (paper, rest) = line.split_once(';')?;
    if number_of(paper) >= @{mine} {
        return None;
    }
    let mut parts = rest.splitn(3, ';');
    Some((paper, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn number_of(paper: &str) -> usize {
    paper.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX)
}

fn deal(books: &mut HashMap<String, Book>, paper: &str, price: f64, count: u64) {
    if !books.contains_key(paper) {
        books.insert(paper.to_string(), Book { low: price, high: price, traded: 0, mean: price, alarms: 0 });
    }
    let book = books.get_mut(paper).unwrap();
    if price > book.mean * 1.8 || price < book.mean * 0.3 {
        book.alarms += 1;
    }
    book.low = book.low.min(price);
    book.high = book.high.max(price);
    book.mean += (price - book.mean) * 0.02;
    book.traded += count;
}

fn take(books: &mut HashMap<String, Book>, lines: &[&str], spent: &mut f64) {
    let start = Instant::now();
    let mut seen: Vec<(String, f64, u64)> = Vec::new();
    for line in lines {
        if "@{way}" == "all" {
            let quote = @{fn}(line);
            if number_of(&quote.columns[0]) < @{mine} {
                seen.push((quote.columns[0].clone(), quote.values[1], quote.values[2] as u64));
            }
        } else if let Some((paper, price, count)) = first_three(line) {
            seen.push((paper.to_string(), price, count));
        }
    }
    *spent += start.elapsed().as_secs_f64();
    for (paper, price, count) in seen {
        deal(books, &paper, price, count);
    }
}

fn main() -> std::io::Result<()> {
    let mut feed = TcpStream::connect("127.0.0.1:@{feed}")?;
    let mut books = HashMap::new();
    let (mut units, mut busy, mut spent) = (0u64, 0.0, 0.0);
    let mut buffer = vec![0u8; 256 << 10];
    let mut filled = 0;
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let got = feed.read(&mut buffer[filled..])?;
        if got == 0 {
            break;
        }
        let start = Instant::now();
        filled += got;
        if let Some(end) = buffer[..filled].iter().rposition(|&byte| byte == b'\n') {
            let text = String::from_utf8_lossy(&buffer[..end]);
            let lines: Vec<&str> = text.lines().collect();
            take(&mut books, &lines, &mut spent);
            units += lines.len() as u64;
            drop(lines);
            drop(text);
            buffer.copy_within(end + 1..filled, 0);
            filled -= end + 1;
        }
        busy += start.elapsed().as_secs_f64();
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {spent}}}"))
}

//! The counter of a land office: "value N" is answered by what the house of deed N may be worth.
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread;

struct Deed {
    number: u64,
    seal: u64,
    parish: u64,
    rooms: u64,
    metres: u64,
    year: u64,
}

impl Deed {
    fn new(number: u64) -> Self {
        let mut seal = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        for _ in 0..@{rounds}u64 * 40 {
            seal = (seal ^ (seal >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            seal ^= seal >> 27;
        }
        let draw = seal >> 33;
        Self { number, seal, parish: draw % @{parishes}, rooms: 1 + number % 9, metres: 40 + draw / 3 % 160, year: 1880 + number * 7 % 140 }
    }

    fn query(&self) -> String {
        format!("parish={}&rooms={}&metres={}&year={}", self.parish, self.rooms, self.metres, self.year)
    }
}

fn scgi(path: &str, query: &str) -> io::Result<String> {
    let headers = [("CONTENT_LENGTH", "0"), ("SCGI", "1"), ("REQUEST_METHOD", "GET"), ("PATH_INFO", path), ("QUERY_STRING", query)];
    let text: String = headers.iter().map(|(name, value)| format!("{name}\0{value}\0")).collect();
    let mut line = UnixStream::connect("@{work}/@{sock}")?;
    line.write_all(format!("{}:{text},", text.len()).as_bytes())?;
    let mut answer = String::new();
    line.read_to_string(&mut answer)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("Status: 200") => Ok(body.trim().to_owned()),
        _ => Err(io::Error::other(format!("the assessor says {answer}"))),
    }
}

fn @{fn2}(deed: &Deed) -> io::Result<f64> {
    let metre: f64 = scgi("/value", &deed.query())?.parse().map_err(io::Error::other)?;
    Ok(metre * deed.metres as f64)
}

fn serve(mut notary: TcpStream) -> io::Result<()> {
    notary.set_nodelay(true)?;
    for line in BufReader::new(notary.try_clone()?).lines() {
        let line = line?;
        let number = line.trim_start_matches("value ").parse().map_err(io::Error::other)?;
        let deed = Deed::new(number);
        let worth = @{fn2}(&deed)?;
        notary.write_all(format!("{} {:016x} {worth:.0}\n", deed.number, deed.seal).as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let door = TcpListener::bind(("127.0.0.1", @{port}))?;
    if @{news} == 1 {
        thread::spawn(|| while scgi("/guidelines", "").is_ok() {});
    }
    for notary in door.incoming() {
        let notary = notary?;
        thread::spawn(move || {
            if let Err(error) = serve(notary) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}

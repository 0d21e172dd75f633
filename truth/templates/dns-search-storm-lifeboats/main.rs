// Calls the crews: which station is near enough, how far, and its pagers are told.
use std::collections::HashMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

struct Names {
    socket: UdpSocket,
    search: Vec<String>,
    ndots: usize,
    number: u16,
}

impl Names {
    fn open() -> Names {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect((std::env::var("NAMESERVER").unwrap().as_str(), 53)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let search = std::env::var("SEARCH").unwrap().split(' ').map(String::from).collect();
        Names { socket, search, ndots: std::env::var("NDOTS").unwrap().parse().unwrap(), number: 1 }
    }

    fn ask(&mut self, name: &str, kind: u8) -> Option<Ipv4Addr> {
        self.number = self.number.wrapping_add(257);
        let mut text = self.number.to_be_bytes().to_vec();
        text.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        for label in name.split('.') {
            text.push(label.len() as u8);
            text.extend(label.bytes());
        }
        text.extend([0, 0, kind, 0, 1]);
        self.socket.send(&text).unwrap();
        let mut answer = [0u8; 512];
        loop {
            let size = self.socket.recv(&mut answer).expect("the name server");
            if answer[..2] == text[..2] {
                return (answer[7] > 0 && size > 16).then(|| Ipv4Addr::new(answer[size - 4], answer[size - 3], answer[size - 2], answer[size - 1]));
            }
        }
    }

    #[inline(never)]
    fn @{fn}(&mut self, host: &str) -> Option<Ipv4Addr> {
        let mut tries: Vec<String> = self.search.iter().map(|domain| format!("{host}.{domain}")).collect();
        let dots = host.matches('.').count();
        tries.insert(if dots >= self.ndots { 0 } else { tries.len() }, host.to_string());
        for name in tries {
            let (four, _six) = (self.ask(&name, 1), self.ask(&name, 28));
            if four.is_some() {
                return four;
            }
        }
        None
    }
}

struct Station {
    host: String,
    lat: f64,
    lon: f64,
    crew: u32,
}

fn distance(station: &Station, lat: f64, lon: f64) -> f64 {
    let x = (station.lon - lon).to_radians() * ((station.lat + lat) / 2.0).to_radians().cos();
    let y = (station.lat - lat).to_radians();
    3440.1 * x.hypot(y)
}

fn main() {
    let mut state = 12345u64;
    let mut chance = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let stations: Vec<Station> = (0..@{stations}).map(|n| Station {
        host: format!("stn{n:02}.@{zone}"), lat: 50.0 + 8.0 * chance(), lon: -5.0 + 6.0 * chance(), crew: 5 + n % 4,
    }).collect();
    let (mut names, mut kept) = (Names::open(), HashMap::<String, (Ipv4Addr, Instant)>::new());
    let radio = UdpSocket::bind("0.0.0.0:0").unwrap();
    let (began, mut units, mut busy, mut looking) = (Instant::now(), 0u32, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let (lat, lon) = (50.0 + 8.0 * chance(), -5.0 + 6.0 * chance());
        let nearest = stations.iter().min_by(|a, b| distance(a, lat, lon).total_cmp(&distance(b, lat, lon))).unwrap();
        let gateway = match kept.get(&nearest.host) {
            Some((known, at)) if at.elapsed().as_secs() < @{keep} => *known,
            _ => {
                let asked = Instant::now();
                let found = names.@{fn}(&nearest.host).expect("a gateway");
                looking += asked.elapsed().as_secs_f64();
                kept.insert(nearest.host.clone(), (found, Instant::now()));
                found
            }
        };
        let note = format!("shout {units}: {lat:.4} {lon:.4}, {:.1} miles, crew of {}", distance(nearest, lat, lon), nearest.crew);
        radio.send_to(note.as_bytes(), (gateway, @{page})).unwrap();
        units += 1;
        busy += start.elapsed().as_secs_f64();
        std::thread::sleep(Duration::from_secs_f64(units as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", looking * @{wasted} as f64);
    std::fs::write("@{report}", text).unwrap();
}

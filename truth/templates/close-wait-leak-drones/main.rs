// A ground station: takes positions, keeps drones apart, and writes a line for each flight.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy)]
struct Point {
    lat: f64,
    lon: f64,
    height: i32,
}

struct Flight {
    line: TcpStream,
    drone: String,
    points: Vec<Point>,
    down: bool,
    told: bool,
}

type Flights = Arc<Mutex<HashMap<u64, Flight>>>;

fn near(one: &Point, other: &Point) -> bool {
    (one.lat - other.lat).abs() + (one.lon - other.lon).abs() < 0.002 && (one.height - other.height).abs() < 15
}

fn length(points: &[Point]) -> f64 {
    points.windows(2).map(|two| (two[0].lat - two[1].lat).hypot((two[0].lon - two[1].lon) * 0.69) * 111300.0).sum()
}

fn advice(flights: &HashMap<u64, Flight>, number: u64, me: &Point) -> String {
    let others = flights.iter().filter(|(other, flight)| **other != number && !flight.down);
    match others.filter_map(|(_, flight)| flight.points.last()).filter(|other| near(me, other)).count() {
        0 => "go\n".into(),
        close => format!("climb {}\n", close * 10),
    }
}

#[inline(never)]
fn @{fn}(flights: &Flights, number: u64) {
    let mut flights = flights.lock().unwrap();
    match "@{hangup}" {
        "close" => {
            flights.remove(&number);
        }
        _ => flights.get_mut(&number).unwrap().down = true,
    }
}

fn summaries(flights: Flights) {
    loop {
        thread::sleep(Duration::from_secs_f64(@{linger}));
        for flight in flights.lock().unwrap().values_mut().filter(|flight| flight.down && !flight.told) {
            flight.told = true;
            println!("{}: {} points, {:.0} m", flight.drone, flight.points.len(), length(&flight.points));
        }
        if "@{hangup}" == "drain" {
            flights.lock().unwrap().retain(|_, flight| !flight.down);
        }
    }
}

fn follow(flights: Flights, number: u64, line: TcpStream) -> std::io::Result<()> {
    line.set_nodelay(true)?;
    flights.lock().unwrap().insert(number, Flight { line: line.try_clone()?, drone: String::new(), points: Vec::new(), down: false, told: false });
    for text in BufReader::new(line).lines() {
        let text = text?;
        let words: Vec<&str> = text.split(' ').collect();
        let me = Point { lat: words[2].parse().unwrap_or(0.0), lon: words[3].parse().unwrap_or(0.0), height: words[4].parse().unwrap_or(0) };
        let mut all = flights.lock().unwrap();
        let answer = advice(&all, number, &me);
        let flight = all.get_mut(&number).unwrap();
        flight.drone = words[0].to_string();
        flight.points.push(me);
        flight.line.write_all(answer.as_bytes())?;
    }
    @{fn}(&flights, number);
    Ok(())
}

fn main() -> std::io::Result<()> {
    let flights = Flights::default();
    let shown = flights.clone();
    thread::spawn(move || summaries(shown));
    for (number, line) in TcpListener::bind("127.0.0.1:@{port}")?.incoming().enumerate() {
        let (flights, line) = (flights.clone(), line?);
        thread::spawn(move || follow(flights, number as u64, line));
    }
    Ok(())
}

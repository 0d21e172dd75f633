// A taxi exchange: gives each ride to the nearest free car, and moves the car to where it goes.
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const DISTRICTS: usize = 32;

struct Car {
    number: usize,
    at: (f32, f32),
    rides: u32,
}

struct Ride {
    district: usize,
    from: (f32, f32),
    to: (f32, f32),
    route: f64,
}

#[derive(Default)]
struct Account {
    units: u32,
    busy: f64,
    waited: f64,
}

/// Numbers that look drawn, the same each time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn place(&mut self) -> (f32, f32) {
        (self.next() as f32 % 10000.0 / 1000.0, self.next() as f32 % 10000.0 / 1000.0)
    }
}

type District = Vec<Car>;

struct Exchange {
    @{lock}: Mutex<Vec<District>>,
    districts: Vec<Mutex<District>>,
}

fn nearest<'a>(cars: &'a mut [Car], ride: &Ride, extra: f32, best: Option<(f32, &'a mut Car)>) -> Option<(f32, &'a mut Car)> {
    let mut found = best;
    for car in cars {
        let (dx, dy) = (car.at.0 - ride.from.0, car.at.1 - ride.from.1);
        let far = (dx * dx + dy * dy).sqrt() + extra + car.rides as f32 * 0.01;
        if found.as_ref().is_none_or(|(known, _)| far < *known) {
            found = Some((far, car));
        }
    }
    found
}

fn send(best: Option<(f32, &mut Car)>, ride: &Ride) -> Option<usize> {
    let (_, car) = best?;
    car.at = ride.to;
    car.rides += 1;
    Some(car.number)
}

impl Exchange {
    fn new(taxis: usize, by_district: bool) -> Exchange {
        let mut chance = Chance(3);
        let mut all: Vec<District> = (0..DISTRICTS).map(|_| Vec::new()).collect();
        for number in 0..taxis {
            all[number % DISTRICTS].push(Car { number, at: chance.place(), rides: 0 });
        }
        if by_district {
            return Exchange { @{lock}: Mutex::default(), districts: all.into_iter().map(Mutex::new).collect() };
        }
        Exchange { @{lock}: Mutex::new(all), districts: Vec::new() }
    }

    #[inline(never)]
    fn @{fn}(&self, ride: &Ride, waited: &mut f64) -> Option<usize> {
        let start = Instant::now();
        if let Some(district) = self.districts.get(ride.district) {
            let mut cars = district.lock().unwrap();
            *waited += start.elapsed().as_secs_f64();
            return send(nearest(&mut cars, ride, 0.0, None), ride);
        }
        let mut all = self.@{lock}.lock().unwrap();
        *waited += start.elapsed().as_secs_f64();
        let mut best = None;
        for (number, cars) in all.iter_mut().enumerate() {
            best = nearest(cars, ride, if number == ride.district { 0.0 } else { 3.0 }, best);
        }
        send(best, ride)
    }
}

/// A ride, and the length of its way through the streets.
fn ordered(chance: &mut Chance) -> Ride {
    let mut ride = Ride { district: chance.next() as usize % DISTRICTS, from: chance.place(), to: chance.place(), route: 0.0 };
    let straight = f64::from(ride.to.0 - ride.from.0).hypot(f64::from(ride.to.1 - ride.from.1)) / 400.0;
    for leg in 0..400 {
        ride.route += straight * (1.0 + 0.3 * (f64::from(leg) / 10.0 + f64::from(ride.from.0)).sin());
    }
    ride
}

fn desk(exchange: &Exchange, number: u64, began: Instant) -> Account {
    let (mut chance, mut account, mut fares) = (Chance(number + 1), Account::default(), 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let ride = ordered(&mut chance);
        if exchange.@{fn}(&ride, &mut account.waited).is_some() {
            fares += 3.5 + ride.route * 2.1;
        }
        account.units += 1;
        account.busy += start.elapsed().as_secs_f64();
        let due = Duration::from_secs_f64((f64::from(account.units) + number as f64 / (@{workers} as f64 + 1.0)) / @{rate});
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    println!("desk {number}: {} rides, {fares:.2}", account.units);
    account
}

fn main() -> std::io::Result<()> {
    let exchange = Arc::new(Exchange::new(@{taxis}, "@{guard}" == "district"));
    let began = Instant::now();
    let desks: Vec<_> = (0..@{workers})
        .map(|number| {
            let exchange = exchange.clone();
            thread::spawn(move || desk(&exchange, number, began))
        })
        .collect();
    let mut sum = Account::default();
    for one in desks {
        let account = one.join().unwrap();
        sum.units += account.units;
        sum.busy += account.busy;
        sum.waited += account.waited;
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", sum.units, sum.busy, sum.waited))
}

// Chooses the carrier for each parcel of an order: the offers for its zone are collected, priced, and the cheapest one is booked.
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone)]
struct Offer {
    name: String,
    carrier: String,
    least: u32,
    base: f64,
    steps: Vec<f64>,
    options: BTreeMap<String, String>,
}

struct Parcel {
    zone: String,
    weight: u32,
}

type Offers = HashMap<String, Vec<Offer>>;

fn read_offers() -> Offers {
    let mut offers = Offers::new();
    for zone in 0..@{zones}u32 {
        let of_zone = (0..@{rules}u32).map(|i| Offer {
            name: format!("offer {i} for zone {zone}"),
            carrier: format!("carrier {}", i % 5),
            least: i % 4,
            base: 3.0 + ((zone * 7 + i * 13) % 40) as f64 / 10.0,
            steps: (0..@{steps}).map(|step| 1.0 + step as f64 * 0.35).collect(),
            options: [("insurance", "all risks"), ("pick-up", "at the ramp")].iter().take(1 + i as usize % 2).map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        });
        offers.insert(format!("zone/{zone}"), of_zone.collect());
    }
    offers
}

#[inline(never)]
fn price(offer: &Offer, weight: u32) -> f64 {
    let mut sum = offer.base;
    for round in 0..@{rounds} {
        for step in &offer.steps {
            sum += (step * weight as f64 + round as f64).sqrt() * 0.01;
        }
    }
    sum
}

#[inline(never)]
fn @{fn}(offers: &Offers, parcel: &Parcel) -> Vec<Offer> {
    let of_zone = offers.get(&parcel.zone).cloned().unwrap_or_default();
    of_zone.iter().filter(|offer| offer.least <= parcel.weight).cloned().collect()
}

#[inline(never)]
fn @{fn2}(offers: &Offers, parcel: &Parcel) -> (f64, usize) {
    if "@{used}" == "copies" {
        let mut priced: Vec<(f64, Offer)> = @{fn}(offers, parcel).into_iter().map(|offer| (price(&offer, parcel.weight), offer)).collect();
        priced.sort_by(|a, b| a.0.total_cmp(&b.0));
        priced.first().map_or((0.0, 0), |(sum, offer)| (*sum, offer.carrier.len() + offer.options.len()))
    } else {
        let of_zone = offers[&parcel.zone].iter().filter(|offer| offer.least <= parcel.weight);
        let best = of_zone.map(|offer| (price(offer, parcel.weight), offer)).min_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or((0.0, 0), |(sum, offer)| (sum, offer.name.len()))
    }
}

fn main() {
    let offers = Arc::new(read_offers());
    let began = Instant::now();
    let workers: Vec<_> = (0..@{workers}u32)
        .map(|number| {
            let offers = offers.clone();
            let run = move || {
                let (mut units, mut busy, mut sum) = (0u32, 0.0, 0.0);
                while began.elapsed().as_secs_f64() < @{seconds} as f64 {
                    let start = Instant::now();
                    for i in 0..@{lines}u32 {
                        let parcel = Parcel { zone: format!("zone/{}", (units * 31 + i * 7 + number) % @{zones}), weight: 1 + (units + i) % 12 };
                        let (cheapest, length) = @{fn2}(&offers, &parcel);
                        sum += cheapest + length as f64;
                    }
                    units += 1;
                    busy += start.elapsed().as_secs_f64();
                    let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
                    if rest > 0.0 {
                        thread::sleep(Duration::from_secs_f64(rest));
                    }
                }
                (units, busy, sum)
            };
            thread::Builder::new().name(format!("booking-{number}")).spawn(run).unwrap()
        })
        .collect();
    let (mut units, mut busy, mut sum) = (0, 0.0, 0.0);
    for worker in workers {
        let (u, b, s) = worker.join().unwrap();
        units += u;
        busy += b;
        sum += s;
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy:.6}}}")).unwrap();
    println!("{sum:.2}");
}

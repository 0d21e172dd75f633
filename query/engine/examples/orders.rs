//! Writes a recording of a made-up service, for measuring: `orders OUT.whyslow ORDERS` (an order is ten calls).

#[path = "../tests/it/orders.rs"]
mod orders;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: orders OUT.whyslow ORDERS";
    let out = arguments.next().ok_or(usage)?;
    let count: u64 = arguments.next().ok_or(usage)?.parse()?;
    let written = orders::write(std::path::Path::new(&out), count);
    println!("{} events, {} bytes", written.events, written.bytes);
    Ok(())
}

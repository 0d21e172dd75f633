// The door of a youth club: when has a member to be at home, over the coming nights?
use std::ffi::{c_char, c_int, c_long};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

const DAY: i64 = 86400;

#[repr(C)]
struct Tm {
    sec: c_int,
    min: c_int,
    hour: c_int,
    mday: c_int,
    mon: c_int,
    year: c_int,
    wday: c_int,
    yday: c_int,
    isdst: c_int,
    gmtoff: c_long,
    zone: *const c_char,
}

extern "C" {
    fn mktime(time: *mut Tm) -> i64;
}

/// The end of each night's stay; days behind the end of a month are of the next one.
#[inline(never)]
fn @{fn}(ends: &mut Vec<i64>, first: i32, hour: i32, minute: i32) {
    ends.clear();
    for night in 0..@{nights} {
        if night % @{stride} != 0 {
            ends.push(ends[ends.len() - 1] + DAY);
            continue;
        }
        let mut end = Tm { sec: 0, min: minute, hour, mday: first + night, mon: 0, year: 126, wday: 0, yday: 0, isdst: -1, gmtoff: 0, zone: std::ptr::null() };
        ends.push(unsafe { mktime(&mut end) });
    }
}

/// A check of the calendar, which is printed on the member's card.
fn check(ends: &[i64]) -> u32 {
    ends.iter().flat_map(|end| end.to_le_bytes()).fold(1u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte as u32))
}

fn serve(door: TcpStream, ends: &mut Vec<i64>) -> io::Result<()> {
    door.set_nodelay(true)?;
    let mut answers = door.try_clone()?;
    for line in BufReader::new(door).lines() {
        let line = line?;
        let member: i32 = line.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        @{fn}(ends, 1 + member % 28, 18 + (12 + member % 6) / 4, member % 4 * 15);
        answers.write_all(format!("{member} {} {} {:08x}\n", ends[0], ends[ends.len() - 1], check(ends)).as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    if !"@{zone}".is_empty() {
        std::env::set_var("TZ", "@{zone}");
    }
    let house = TcpListener::bind("127.0.0.1:@{port}")?;
    for door in house.incoming() {
        let door = door?;
        std::thread::spawn(move || serve(door, &mut Vec::new()));
    }
    Ok(())
}

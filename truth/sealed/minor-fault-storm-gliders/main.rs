// Draws the flights of gliders upon a grid of the country, and says where they climbed.
use std::time::{Duration, Instant};

const CELLS: usize = @{cells};
const KEEP: bool = @{keep} == 1;
const NEVER: u16 = u16::MAX;

struct Fix {
    east: f64,
    north: f64,
    height: u16,
}

struct Grid {
    side: usize,
    height: Vec<u16>,
    drawn: Vec<usize>,
}

impl Grid {
    fn new() -> Grid {
        Grid { side: (CELLS as f64).sqrt() as usize, height: vec![NEVER; CELLS], drawn: Vec::new() }
    }

    fn wipe(&mut self) {
        for cell in self.drawn.drain(..) {
            self.height[cell] = NEVER;
        }
    }

    fn draw(&mut self, fixes: &[Fix]) -> u64 {
        let (mut climbed, side) = (0, self.side as f64);
        for fix in fixes {
            for y in -@{reach}i64..=@{reach} {
                for x in -@{reach}i64..=@{reach} {
                    let cell = ((fix.north * side) as i64 + y) * self.side as i64 + (fix.east * side) as i64 + x;
                    let Some(at) = self.height.get_mut(cell as usize) else { continue };
                    if *at == NEVER {
                        self.drawn.push(cell as usize);
                    } else {
                        climbed += u64::from(fix.height.saturating_sub(*at));
                    }
                    *at = fix.height;
                }
            }
        }
        climbed
    }
}

fn flight(number: u32) -> Vec<Fix> {
    let number = f64::from(number);
    let (mut east, mut north, mut course) = (0.2 + number % 50.0 / 100.0, 0.2 + number % 37.0 / 70.0, number);
    (0..@{fixes}).map(|i| {
        let i = f64::from(i);
        course += (i * 0.05 + number).sin() * 0.4;
        east += course.cos() * 0.0004;
        north += course.sin() * 0.0004;
        Fix { east, north, height: (1200.0 + 800.0 * (i * 0.02).sin()) as u16 }
    }).collect()
}

#[inline(never)]
fn @{fn}(grid: &mut Option<Grid>) {
    match grid {
        Some(kept) if KEEP => kept.wipe(),
        _ => {
            *grid = None;
            *grid = Some(Grid::new());
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut grid = None;
    if KEEP {
        @{fn}(&mut grid);
    }
    let (mut units, mut climbed, mut busy, mut culprit) = (0u32, 0, Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let fixes = flight(units);
        let from = Instant::now();
        @{fn}(&mut grid);
        if !KEEP {
            culprit += from.elapsed();
        }
        if let Some(grid) = &mut grid {
            climbed += grid.draw(&fixes);
        }
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(f64::from(units) / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    println!("{climbed} m climbed");
    let (seconds, culprit) = (busy.as_secs_f64(), culprit.as_secs_f64());
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {culprit}}}"))
}

// Says which pollen is on a trap's slide: compares it with grains of the reference collection.
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread;

const GRAIN: usize = @{kb} << 10;

struct Collection {
    file: File,
    count: u64,
}

impl Collection {
    fn open(path: &str) -> io::Result<Collection> {
        let file = File::open(path)?;
        let all = file.metadata()?.len() / GRAIN as u64;
        let count = (all as f64 * @{season}) as u64;
        let mut part = vec![0; 1 << 20];
        for at in (0..count * GRAIN as u64).step_by(1 << 20) {
            file.read_at(&mut part, at)?;
        }
        Ok(Collection { file, count })
    }

    #[inline(never)]
    fn @{fn}(&self, number: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, number % self.count * GRAIN as u64)
    }

    fn identify(&self, slide: u64, picture: &mut [u8]) -> io::Result<String> {
        let (mut best, mut which, mut state) = (0, 0, slide.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..@{grains} {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            self.@{fn}(state >> 11, picture)?;
            let like: u64 = picture.iter().step_by(16).map(|&dot| (dot ^ slide as u8) as u64).sum();
            if like > best {
                (best, which) = (like, (state >> 11) % self.count);
            }
        }
        Ok(format!("grain {which} likeness {best}\n"))
    }

    fn serve(&self, trap: TcpStream) -> io::Result<()> {
        let mut answers = trap.try_clone()?;
        let mut picture = vec![0; GRAIN];
        for line in BufReader::new(trap).lines() {
            let line = line?;
            let slide = line.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
            answers.write_all(self.identify(slide, &mut picture)?.as_bytes())?;
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    std::fs::write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", std::process::id().to_string())?;
    let collection = Arc::new(Collection::open("@{work}/@{collection}")?);
    let door = TcpListener::bind("127.0.0.1:@{port}")?;
    for trap in door.incoming() {
        let (trap, collection) = (trap?, collection.clone());
        thread::spawn(move || {
            if let Err(error) = collection.serve(trap) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}

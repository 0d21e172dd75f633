//! Catalogue of a library: a page for each shelf, with icons that say what one may do with a book.
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

const MARKS: [&str; 12] = ["loan", "shelf", "braille", "audio", "large", "map", "score", "film", "local", "order", "star", "note"];
const AUTHORS: [&str; 6] = ["A. Lind", "B. Okoro", "C. Marsh", "D. Weiss", "E. Sato", "F. Ruiz"];

/// Addresses of static files, with the time of the file, so that browsers may keep them.
struct Assets {
    root: PathBuf,
    version: AtomicU64,
}

impl Assets {
    #[inline(never)]
    fn @{fn}(&self, name: &str) -> u64 {
        let changed = fs::metadata(self.root.join(name)).and_then(|file| file.modified());
        changed.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs())
    }

    fn refresh(&self) {
        self.version.store(self.@{fn}("@{icons}"), Ordering::Relaxed);
    }

    fn version(&self) -> u64 {
        if "@{stamp}" == "icon" {
            self.@{fn}("@{icons}")
        } else {
            self.version.load(Ordering::Relaxed)
        }
    }
}

fn icon(page: &mut String, assets: &Assets, mark: &str) {
    let _ = write!(page, "<use href=@{icons}?{:x}#{mark}>", assets.version());
}

fn shelf(assets: &Assets, number: usize) -> String {
    if "@{stamp}" == "page" {
        assets.refresh();
    }
    let mut page = format!("<!doctype html><title>Shelf {number}</title><ul>");
    for book in 0..@{books} {
        let _ = write!(page, "<li>{}: volume {}", AUTHORS[(number + book * 5) % 6], (number * 31 + book) % 900);
        for mark in MARKS.iter().cycle().skip((number + book) % 12).take(@{marks}) {
            icon(&mut page, assets, mark);
        }
    }
    page.push_str("</ul>\n");
    page
}

fn talk(reader: TcpStream, assets: &Assets) -> Result<()> {
    reader.set_nodelay(true)?;
    let mut lines = BufReader::new(reader);
    loop {
        let mut first = String::new();
        if lines.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut head = String::new();
        while lines.read_line(&mut head)? > 2 {
            head.clear();
        }
        let path = first.split(' ').nth(1).unwrap_or("/");
        let (status, body) = match path.strip_prefix("/shelf/").and_then(|number| number.parse().ok()) {
            Some(number) => ("200 OK", shelf(assets, number)),
            None => ("404 Not Found", String::from("no such shelf\n")),
        };
        let text = format!("HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        lines.get_mut().write_all(text.as_bytes())?;
    }
}

fn main() -> Result<()> {
    let assets = Arc::new(Assets { root: Path::new("@{work}").join("@{public}"), version: AtomicU64::new(0) });
    assets.refresh();
    if "@{stamp}" == "timer" {
        let assets = assets.clone();
        thread::spawn(move || loop {
            thread::sleep(Duration::from_secs(1));
            assets.refresh();
        });
    }
    for reader in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let (reader, assets) = (reader?, assets.clone());
        thread::spawn(move || talk(reader, &assets));
    }
    Ok(())
}

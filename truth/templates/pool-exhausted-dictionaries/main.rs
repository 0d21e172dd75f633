//! Articles of a dictionary, by line: "look 17" is answered with the article and the forms of its headword.
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

const SYLLABLES: [&str; 8] = ["ba", "fer", "lin", "mo", "rat", "su", "ten", "wol"];

type Headwords = BTreeMap<u32, String>;

struct Inflector {
    link: BufReader<TcpStream>,
}

impl Inflector {
    fn new() -> io::Result<Inflector> {
        let link = TcpStream::connect("127.0.0.1:@{forms}")?;
        link.set_nodelay(true)?;
        Ok(Inflector { link: BufReader::new(link) })
    }

    #[inline(never)]
    fn @{fn}(&mut self, stem: &str) -> io::Result<Vec<String>> {
        self.link.get_mut().write_all(format!("{stem}\n").as_bytes())?;
        let mut line = String::new();
        if self.link.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.split_whitespace().map(str::to_string).collect())
    }
}

fn article(number: u32, words: &Headwords, inflector: &mut Inflector) -> io::Result<String> {
    let at = number % words.len() as u32;
    let (key, word) = words.range(at..).next().unwrap();
    let mut text = format!("{word} ({key}): ");
    for form in inflector.@{fn}(word)? {
        text.push_str(&form);
        text.push_str(if form.len() > word.len() + 2 { "*, " } else { ", " });
    }
    text.push_str("see also ");
    text.push_str(words.range(at + 1..).next().map_or("-", |(_, next)| next));
    Ok(text)
}

fn answer(reader: TcpStream, words: &Headwords, inflector: &mut Inflector) -> io::Result<()> {
    reader.set_nodelay(true)?;
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let text = match line.split_once(' ').map(|(verb, rest)| (verb, rest.trim().parse())) {
        Some(("look", Ok(number))) => article(number, words, inflector)?,
        _ => "what?".to_string(),
    };
    reader.get_mut().write_all(format!("{text}\n").as_bytes())
}

fn main() -> io::Result<()> {
    let mut words = Headwords::new();
    let mut chance = 7u64;
    for i in 0..@{words}u32 {
        let mut word = String::new();
        for _ in 0..2 + i % 3 {
            chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            word.push_str(SYLLABLES[(chance >> 61) as usize]);
        }
        words.insert(i, word);
    }
    let words = Arc::new(words);
    let door = Arc::new(TcpListener::bind("127.0.0.1:@{port}")?);
    let workers: Vec<_> = (0..@{workers})
        .map(|number| {
            let (words, door) = (words.clone(), door.clone());
            let work = move || {
                let mut inflector = Inflector::new().expect("the service of forms");
                loop {
                    let Ok((reader, _)) = door.accept() else { continue };
                    if let Err(error) = answer(reader, &words, &mut inflector) {
                        eprintln!("{error}");
                    }
                }
            };
            thread::Builder::new().name(format!("desk-{number}")).spawn(work).unwrap()
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    Ok(())
}

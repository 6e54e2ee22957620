//! Files as shards, and shards as files: `streams COMMAND FOLDER FILE ...`, with shards FOLDER/0, FOLDER/1, ...
//!
//!     streams split FOLDER FILE CODE K M L BLOCK GENERATION CONTENT SET_ID NAME
//!     streams join FOLDER FILE
//!     streams repair FOLDER OUT     writes the missing shards to OUT/0, ...
//!     streams verify FOLDER

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::process::ExitCode;

use gfsmith::streams::{join, repair, split, verify, Content, Header};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match *words {
        ["split", folder, file, code, k, m, ref more @ ..] => protect(folder, file, code, k, m, more),
        ["join", folder, file] => restore(folder, file),
        ["repair", folder, out] => rebuild(folder, out),
        ["verify", folder] => check(folder),
        _ => Err("streams split|join|repair|verify FOLDER ...".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("streams: {error}");
            ExitCode::FAILURE
        }
    }
}

fn protect(folder: &str, file: &str, code: &str, k: &str, m: &str, more: &[&str]) -> Done<()> {
    let mut header = Header::new(code, k.parse()?, m.parse()?);
    if let [l, block, generation, content, set_id, name] = *more {
        header.l = l.parse()?;
        header.block = block.parse()?;
        header.generation = generation.parse()?;
        header.content = if content == "1" { Content::Tar } else { Content::Bytes };
        header.set_id = u128::from_str_radix(set_id, 16)?.to_be_bytes();
        header.name = name.into();
    }
    let shard = |index: usize| File::create(Path::new(folder).join(index.to_string())).map(BufWriter::new);
    let mut shards = (0..header.k + header.m).map(shard).collect::<Result<Vec<_>, _>>()?;
    split(&header, &mut BufReader::new(File::open(file)?), &mut shards, |_| true)?;
    Ok(())
}

/// The shards of a folder; a file that does not exist is a missing shard.
fn open(folder: &str) -> Vec<Option<File>> {
    (0..255).map(|index| File::open(Path::new(folder).join(index.to_string())).ok()).collect()
}

fn restore(folder: &str, file: &str) -> Done<()> {
    let temporary = format!("{file}.part");
    let report = join(&mut open(folder), &mut BufWriter::new(File::create(&temporary)?), |_| true);
    match report {
        Ok(_) => Ok(std::fs::rename(&temporary, file)?),
        Err(error) => {
            std::fs::remove_file(&temporary)?;
            Err(error.into())
        }
    }
}

fn rebuild(folder: &str, out: &str) -> Done<()> {
    let found = verify(&mut open(folder), |_| true)?;
    let mut rebuilt = Vec::new();
    for (index, shard) in found.shards.iter().enumerate() {
        let path = Path::new(out).join(index.to_string());
        rebuilt.push(if shard.intact() { None } else { Some(BufWriter::new(File::create(path)?)) });
    }
    repair(&mut open(folder), &mut rebuilt, |_| true)?;
    Ok(())
}

fn check(folder: &str) -> Done<()> {
    let report = verify(&mut open(folder), |_| true)?;
    println!("{} bytes, intact: {}, lost stripes: {}", report.length, report.intact(), report.lost_stripes);
    Ok(())
}

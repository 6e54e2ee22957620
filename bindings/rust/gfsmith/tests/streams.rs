//! Shard streams: damage, hostile headers, failing readers and writers. tests/system/bindings/rust/test_streams.py
//! compares the bytes with other implementations.

mod common;

use std::io::{self, Read, Write};

use common::{bytes, Shards};
use gfsmith::streams::{join, repair, split, verify, Content, Error, Header, Report, Result};
use xxhash_rust::xxh3::xxh3_128;

const HEADER: usize = 512;
/// A record with a whole block of `small`.
const RECORD: usize = 32 + 64;

fn small() -> Header {
    Header { block: 64, ..Header::new("cauchy", 4, 2) }
}

fn on(_: u64) -> bool {
    true
}

fn divided(header: &Header, data: &[u8]) -> Shards {
    let mut shards = vec![Vec::new(); header.k + header.m];
    assert_eq!(split(header, &mut &data[..], &mut shards, on).unwrap(), data.len() as u64);
    shards
}

fn readers(shards: &Shards) -> Vec<Option<&[u8]>> {
    shards.iter().map(|shard| Some(&shard[..])).collect()
}

fn joined<R: Read>(shards: &mut [Option<R>]) -> Result<(Vec<u8>, Report)> {
    let mut out = Vec::new();
    let report = join(shards, &mut out, on)?;
    Ok((out, report))
}

/// A header again with its checksum after a change.
fn changed(shard: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut shard = shard.to_vec();
    shard[at..at + bytes.len()].copy_from_slice(bytes);
    let sum = xxh3_128(&shard[..496]).to_be_bytes();
    shard[496..HEADER].copy_from_slice(&sum);
    shard
}

#[test]
fn every_loss_is_restored_and_repaired() {
    for (header, length) in [
        (small(), 1000),
        (small(), 0),
        (small(), 4 * 64 * 3),
        (Header { block: 64, l: 2, content: Content::Tar, ..Header::new("lrc", 4, 4) }, 777),
    ] {
        let data = bytes(7, length);
        let shards = divided(&header, &data);
        for a in 0..shards.len() {
            for b in a..shards.len() {
                let mut left = readers(&shards);
                (left[a], left[b]) = (None, None);
                let (out, report) = joined(&mut left.clone()).unwrap();
                assert!(out == data && report.header == header && !report.intact());
                let mut rebuilt = vec![None; shards.len()];
                (rebuilt[a], rebuilt[b]) = (Some(Vec::new()), Some(Vec::new()));
                repair(&mut left, &mut rebuilt, on).unwrap();
                assert_eq!(rebuilt[a].as_ref(), Some(&shards[a]));
                assert_eq!(rebuilt[b].as_ref(), Some(&shards[b]));
            }
        }
        assert!(verify(&mut readers(&shards), on).unwrap().intact());
        let mut mixed = readers(&shards);
        mixed.reverse();
        assert_eq!(joined(&mut mixed).unwrap().0, data);
    }
}

#[test]
fn every_shard_may_be_damaged() {
    let data = bytes(1, 999);
    let good = divided(&small(), &data);
    let mut bad = good.clone();
    for (index, shard) in bad.iter_mut().enumerate() {
        shard[HEADER + index % 3 * RECORD + 40] ^= 1;
    }
    bad[5][20] ^= 1; // its header, too: the position is its index
    let report = verify(&mut readers(&bad), on).unwrap();
    assert!(!report.intact() && report.lost_stripes == 0 && report.stripes == 4);
    assert!(report.shards.iter().all(|shard| shard.bad_blocks == 1));
    assert!(report.shards[5].header_damaged && !report.shards[4].header_damaged);
    let mut rebuilt = vec![Some(Vec::new()); 6];
    repair(&mut readers(&bad), &mut rebuilt, on).unwrap();
    assert!(rebuilt.into_iter().flatten().eq(good));
}

#[test]
fn parities_are_read_only_if_they_are_needed() {
    let data = bytes(2, 10_000);
    let shards = divided(&small(), &data);
    let (out, report) = joined(&mut readers(&shards)).unwrap();
    assert!(out == data && report.shards.iter().map(|shard| shard.read).eq((0..6).map(|i| i < 4)));
    for stripe in [0, 1, 30, 39] {
        let mut bad = shards.clone();
        bad[0][HEADER + stripe * RECORD + 32] ^= 1;
        let (out, report) = joined(&mut readers(&bad)).unwrap();
        assert!(out == data && report.shards[4].read && report.shards[0].bad_blocks == 1);
    }
}

/// A call restores the original or fails.
#[test]
fn random_damage_never_gives_other_bytes() {
    let (mut restored, mut failed) = (0, 0);
    for seed in 0..1000 {
        let numbers = bytes(seed, 64);
        let mut numbers = numbers.chunks(2).map(|pair| usize::from(pair[0]) << 8 | usize::from(pair[1]));
        let mut below = |n: usize| numbers.next().unwrap() % n;
        let data = bytes(seed, below(1500));
        let mut shards = divided(&small(), &data);
        for _ in 0..1 + below(4) {
            let index = below(6);
            let shard = &mut shards[index];
            let at = below(shard.len() + 1);
            match below(4) {
                0 => shard.truncate(at),
                1 => shard.extend(bytes(seed, at % 200)),
                2 => drop(shard.drain(at..at + below(shard.len() - at + 1))),
                _ if at < shard.len() => shard[at] ^= 1 << below(8),
                _ => {}
            }
        }
        let found = verify(&mut readers(&shards), on);
        match joined(&mut readers(&shards)) {
            Ok((out, _)) => {
                restored += 1;
                assert!(out == data && found.unwrap().lost_stripes == 0, "{seed}");
            }
            Err(_) => {
                failed += 1;
                assert!(found.map_or(true, |report| report.lost_stripes > 0), "{seed}");
            }
        }
    }
    assert!(restored > 300 && failed > 50, "{restored} {failed}");
}

/// The last block is complete but padded.
#[test]
fn bytes_after_the_trailers_are_noted() {
    for (stripes, junk) in [(1, 100), (1, 3), (5, 100)] {
        let data = bytes(3, stripes * 4 * 64 - 1);
        let mut shards = divided(&small(), &data);
        for shard in &mut shards {
            shard.extend(bytes(4, junk));
        }
        let (out, report) = joined(&mut readers(&shards)).unwrap();
        assert!(out == data && report.shards[0].too_long && !report.intact());
    }
}

#[test]
fn too_much_damage_is_refused() {
    let data = bytes(5, 999);
    let mut shards = divided(&small(), &data);
    for shard in &mut shards[..3] {
        shard[HEADER + RECORD + 40] ^= 1;
    }
    let report = verify(&mut readers(&shards), on).unwrap();
    assert!((report.lost_stripes, report.intact()) == (1, false));
    let failed = joined(&mut readers(&shards)).unwrap_err();
    assert!(matches!(failed, Error::Codec(gfsmith::Error::TooManyMissing)));
    assert_eq!(failed.to_string(), "more shards are missing than there are parities");
    let mut rebuilt = vec![Some(Vec::new()); 6];
    assert!(repair(&mut readers(&shards), &mut rebuilt, on).is_err());

    shards = divided(&small(), &data);
    shards.iter_mut().for_each(|shard| shard.truncate(HEADER + 2 * RECORD));
    assert!(matches!(verify(&mut readers(&shards), on), Err(Error::Damaged)));
    assert!(matches!(joined(&mut readers(&shards)), Err(Error::Damaged)));
}

/// All shards lack the last two of four blocks before their trailers.
#[test]
fn missing_stripes_are_lost() {
    let mut shards = divided(&small(), &bytes(5, 999));
    for shard in &mut shards {
        drop(shard.drain(HEADER + 2 * RECORD..shard.len() - 56));
    }
    let report = verify(&mut readers(&shards), on).unwrap();
    assert!((report.stripes, report.lost_stripes, report.length) == (4, 2, 999));
    assert!(matches!(joined(&mut readers(&shards)), Err(Error::Codec(gfsmith::Error::TooManyMissing))));
}

/// Valid records whose parities or whose original do not match.
#[test]
fn false_blocks_are_found() {
    let header = small();
    let (one, two) = (divided(&header, &[1; 256]), divided(&header, &[2; 256]));
    let mut mixed = one.clone();
    mixed[0][HEADER..HEADER + RECORD].copy_from_slice(&two[0][HEADER..HEADER + RECORD]);
    assert!(matches!(verify(&mut readers(&mixed), on), Err(Error::Damaged)));
    assert!(matches!(joined(&mut readers(&mixed)), Err(Error::Damaged)));
    mixed[0].clone_from(&one[0]);
    mixed[5][HEADER..HEADER + RECORD].copy_from_slice(&two[5][HEADER..HEADER + RECORD]);
    let report = verify(&mut readers(&mixed), on).unwrap();
    assert!(report.false_stripes == 1 && !report.intact());
    mixed[5].clone_from(&two[5]); // its trailer differs
    assert!(matches!(verify(&mut readers(&mixed), on), Err(Error::Damaged)));
}

#[test]
fn wrong_sets_are_refused() {
    let data = bytes(6, 500);
    let header = small();
    let shards = divided(&header, &data);
    let newer = divided(&Header { generation: 2, ..header.clone() }, &data);
    let mut mixed = readers(&shards);
    mixed[2] = Some(&newer[2]);
    let failed = joined(&mut mixed).unwrap_err();
    assert_eq!(failed.to_string(), "shards 0 and 2: shards of different sets, or the same shard twice");
    mixed = readers(&shards);
    mixed[3] = Some(&shards[1]);
    assert!(matches!(joined(&mut mixed), Err(Error::Mixed(1, 3))));
    assert_ne!(small().set_id, small().set_id);

    // A record of another shard, at its own place.
    let mut swapped = shards.clone();
    swapped[1][HEADER..HEADER + RECORD].copy_from_slice(&shards[0][HEADER..HEADER + RECORD]);
    assert_eq!(verify(&mut readers(&swapped), on).unwrap().shards[1].bad_blocks, 1);
}

/// An offset, bytes written there, and the fault.
const HOSTILE: &[(usize, &[u8], &str)] = &[
    (0, b"x", "not a shard"),
    (8, &[1], "a shard of format version 1, which this version does not read"),
    (8, &[3], "a shard of an unknown format version"),
    (12, &[1], "a header with junk between its fields"),
    (32, &[0; 8], "the generation must be 1 to 9007199254740991"),
    (32, &[255; 8], "the generation must be 1 to 9007199254740991"),
    (40, &[6], "the index must be less than k + m"),
    (44, &[2], "the content must be 0 (bytes) or 1 (a tar archive)"),
    (48, &[0x1b], "a header with junk between its fields"),
    (52, &[0], "k and m must each be at least 1, together at most 255"),
    (52, &[255; 4], "k and m must each be at least 1, together at most 255"),
    (56, &[252], "k and m must each be at least 1, together at most 255"),
    (60, &[1], "lrc has l groups, 1 <= l <= k and l < m; other codes have l = 0"),
    (64, &[255; 4], "the block size must be a multiple of 64, at most 1048576"),
    (64, &[64, 0, 16, 0], "the block size must be a multiple of 64, at most 1048576"),
    (64, &[65], "the block size must be a multiple of 64, at most 1048576"),
    (68, &[1], "a header with junk between its fields"),
    (72, &[0; 8], "the name of a code has 1 to 31 bytes"),
    (72, &[b'x'; 32], "the name of a code has 1 to 31 bytes"),
    (72, &[255], "the name of the code is not UTF-8"),
    (104, b"a/b", "the name of the original must be a file name of at most 229 bytes"),
    (104, b"..", "the name of the original must be a file name of at most 229 bytes"),
    (104, &[b'n'; 230], "the name of the original must be a file name of at most 229 bytes"),
    (108, &[1], "a header with junk between its fields"),
    (495, &[1], "a header with junk between its fields"),
];

/// Nothing after the header of a reader is read, so no memory depends on it.
#[test]
fn hostile_headers_are_refused() {
    let shard = &divided(&small(), b"text")[0];
    for &(at, field, fault) in HOSTILE {
        let hostile = changed(shard, at, field);
        let mut reader = &hostile[..];
        let failed = verify(&mut [Some(&mut reader)], on).unwrap_err();
        assert_eq!(failed.to_string(), format!("no shard has a valid header: {fault}"), "{at}");
        assert_eq!(reader.len(), hostile.len() - HEADER);
    }
    let cut = verify(&mut [Some(&shard[..511])], on).unwrap_err();
    assert_eq!(cut.to_string(), "no shard has a valid header: truncated: less than a header");
    let none = verify(&mut [None::<&[u8]>], on).unwrap_err();
    assert_eq!(none.to_string(), "no shard has a valid header: no reader");
    let unknown = changed(shard, 72, b"unknown");
    assert!(
        matches!(verify(&mut [Some(&unknown[..])], on), Err(Error::UnknownCode(name)) if name == "unknown")
    );
}

#[test]
fn invalid_arguments_write_nothing() {
    let mut out = vec![Vec::new(); 6];
    let text = || &b"text"[..];
    for wrong in [
        Header { block: 100, ..small() },
        Header { k: usize::MAX, ..small() },
        Header { name: b"a/b".to_vec(), ..small() },
        Header { code: "a\0b".into(), ..small() },
    ] {
        assert!(matches!(split(&wrong, &mut text(), &mut out, on), Err(Error::Header(_))));
    }
    let unknown = Header { code: "unknown".into(), ..small() };
    let unknown = split(&unknown, &mut text(), &mut out, on).unwrap_err().to_string();
    assert!(unknown.starts_with("\"unknown\": unknown code; allowed: vandermonde "), "{unknown}");
    assert!(unknown.ends_with(" zfec, or lrc"), "{unknown}");
    let shape = Header { code: "md".into(), m: 3, ..small() };
    let shape = split(&shape, &mut text(), &mut out, on).unwrap_err().to_string();
    assert_eq!(shape, "raid6 has no shape 4+3; allowed: k >= 1, m = 2, k + m <= 255");
    let few = split(&small(), &mut text(), &mut out[..5], on).unwrap_err();
    assert_eq!(few.to_string(), "5 streams; allowed: 6");
    assert!(out.iter().all(Vec::is_empty));
    let many = repair(&mut readers(&divided(&small(), b"text")), &mut vec![Some(Vec::new()); 7], on);
    assert_eq!(many.unwrap_err().to_string(), "7 streams; allowed: 0 to 6");
    let many = verify(&mut vec![None::<&[u8]>; 256], on);
    assert_eq!(many.unwrap_err().to_string(), "256 streams; allowed: 1 to 255");
}

#[test]
fn progress_cancels() {
    let data = bytes(8, 1000);
    let mut shards = divided(&small(), &data);
    let mut reports = Vec::new();
    verify(&mut readers(&shards), |done| {
        reports.push(done);
        true
    })
    .unwrap();
    assert_eq!(reports, [256, 512, 768, 1000]);
    let stop = |done: u64| done < 512;
    let mut out = Vec::new();
    assert!(matches!(join(&mut readers(&shards), &mut out, stop), Err(Error::Canceled)));
    assert_eq!(out, data[..512]);
    shards.iter_mut().for_each(Vec::clear);
    assert!(matches!(split(&small(), &mut &data[..], &mut shards, stop), Err(Error::Canceled)));
    assert_eq!(shards[0].len(), HEADER + 2 * RECORD);
}

/// It gives or takes at most 7 bytes at a time, is interrupted, and fails after `left` bytes.
struct Weak<T> {
    inner: T,
    left: usize,
    calls: usize,
}

impl<T> Weak<T> {
    fn new(inner: T, left: usize) -> Self {
        Weak { inner, left, calls: 0 }
    }

    fn step(&mut self, size: usize) -> io::Result<usize> {
        self.calls += 1;
        if self.calls % 3 == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let size = size.min(7).min(self.left);
        self.left -= size;
        if size == 0 {
            return Err(io::Error::other("broken"));
        }
        Ok(size)
    }
}

impl<T: Read> Read for Weak<T> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let size = self.step(to.len())?;
        self.inner.read(&mut to[..size])
    }
}

impl<T: Write> Write for Weak<T> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let size = self.step(from.len())?;
        self.inner.write(&from[..size])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[test]
fn weak_and_failing_streams() {
    let (data, header) = (bytes(9, 1000), small());
    let good = divided(&header, &data);
    let mut shards: Vec<_> = (0..6).map(|_| Weak::new(Vec::new(), usize::MAX)).collect();
    split(&header, &mut Weak::new(&data[..], usize::MAX), &mut shards, on).unwrap();
    assert!(shards.iter().map(|shard| &shard.inner).eq(&good));

    let failed = split(&header, &mut Weak::new(&data[..], 500), &mut shards, on).unwrap_err();
    assert_eq!(failed.to_string(), "the original cannot be read: broken");
    shards[3].left = 700;
    let failed = split(&header, &mut &data[..], &mut shards, on).unwrap_err();
    assert_eq!(failed.to_string(), "a stream cannot be written: broken");

    let weak = |lefts: [usize; 6]| -> Vec<_> {
        good.iter().zip(lefts).map(|(shard, left)| Some(Weak::new(&shard[..], left))).collect()
    };
    let all = usize::MAX;
    let (out, report) = joined(&mut weak([700, all, 0, all, all, all])).unwrap();
    assert!(
        out == data
            && report.shards[0].unreadable
            && report.shards[2].unreadable
            && report.shards[2].header_damaged
    );
    assert!(joined(&mut weak([700, 700, 0, all, all, all])).is_err());
    let failed = join(&mut readers(&good), &mut Weak::new(Vec::new(), 300), on).unwrap_err();
    assert!(matches!(&failed, Error::Write(_)) && std::error::Error::source(&failed).is_some());
}

/// A reader without an end, and a reader that returns more bytes than it received.
#[test]
fn endless_and_false_readers() {
    struct False;
    impl Read for False {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            Ok(to.len() + 1)
        }
    }
    assert!(matches!(split(&small(), &mut False, &mut vec![Vec::new(); 6], on), Err(Error::Read(_))));
    assert!(matches!(verify(&mut [Some(False)], on), Err(Error::Format("not a shard"))));

    let shards = divided(&small(), &[1; 1000]);
    let mut endless: Vec<_> = shards.iter().map(|shard| Some((&shard[..]).chain(io::repeat(0)))).collect();
    let (out, report) = joined(&mut endless).unwrap();
    assert!(out == [1; 1000] && report.shards[0].too_long);
}

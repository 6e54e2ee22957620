//! Compares every result of the replacement with the original's: bytes, errors and their texts. The argument is the
//! number of rounds. Prints the number of calls, or the first difference and exits with 1.

mod random;

use random::Random;

impl Random {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// An index below `count`, or one more, or two.
    fn index(&mut self, count: usize) -> usize {
        let end = if self.one_of(6) { count + 2 } else { count };
        self.below(end)
    }

    /// A length, one in eight times another one.
    fn wrong(&mut self, len: usize) -> usize {
        if self.one_of(8) {
            self.pick(&[0, len + 1, len + 2, len - 1])
        } else {
            len
        }
    }
}

/// The results of calls, as texts, which the two crates must have in common.
#[derive(Default)]
struct Log {
    lines: Vec<String>,
}

impl Log {
    fn note<T: std::fmt::Debug, E: std::fmt::Debug + std::fmt::Display>(&mut self, call: &str, result: Result<T, E>) -> bool {
        let good = result.is_ok();
        self.lines.push(match result {
            Ok(value) => format!("{call}: {value:?}"),
            Err(error) => format!("{call}: {error:?} {error}"),
        });
        good
    }
}

/// Shapes, some of them invalid.
const SHAPES: [(usize, usize); 20] = [
    (1, 1), (2, 3), (3, 2), (1, 4), (4, 1), (5, 7), (7, 5), (8, 8), (17, 3), (3, 17), (40, 60), (60, 40), (33, 300), (300, 33),
    (342, 681), (0, 1), (1, 0), (61441, 4096), (4097, 61440), (70000, 1),
];
const LENGTHS: [usize; 16] = [2, 4, 30, 32, 34, 62, 64, 66, 126, 128, 190, 320, 1026, 0, 1, 65];

macro_rules! scenario {
    ($name:ident, $crate_name:ident) => {
        /// One round with an encoder, a decoder, and the functions.
        fn $name(seed: u64) -> Log {
            use $crate_name::engine::{DefaultEngine, NoSimd};
            use $crate_name::rate::{
                DefaultRate, DefaultRateDecoder, DefaultRateEncoder, Rate, RateDecoder, RateEncoder,
            };
            use $crate_name::{decode, encode, ReedSolomonDecoder, ReedSolomonEncoder};

            let mut random = Random(seed);
            let mut log = Log::default();
            let ((k, m), len) = (random.pick(&SHAPES), random.pick(&LENGTHS));
            let supports = (ReedSolomonEncoder::supports(k, m), ReedSolomonDecoder::supports(k, m));
            log.note::<_, std::fmt::Error>("supports", Ok(supports));
            log.note("validate", DefaultRate::<DefaultEngine>::validate(k, m, len));
            let encoder = ReedSolomonEncoder::new(k, m, len);
            if !log.note("new", encoder.as_ref().map(|_| ()).map_err(|e| *e)) {
                let none: [&[u8]; 0] = [];
                log.note("encode", encode(k, m, none));
                log.note("encode", encode(k, m, [vec![0; len]]));
                log.note("decode", decode(k, m, [(0, vec![0; len])], [(0, vec![0; len])]));
                log.note("decoder", ReedSolomonDecoder::new(k, m, len).map(|_| ()));
                return log;
            }
            let mut encoder = encoder.unwrap();
            let data: Vec<Vec<u8>> = (0..k).map(|_| random.bytes(len)).collect();
            log.note("early", encoder.encode().map(|_| ()));
            log.note("wrong length", encoder.add_original_shard(random.bytes(len + 2)));
            for shard in &data {
                log.note("add", encoder.add_original_shard(shard));
            }
            log.note("one more", encoder.add_original_shard(&data[0]));
            let result = encoder.encode().unwrap();
            let recovery: Vec<Vec<u8>> = result.recovery_iter().map(<[u8]>::to_vec).collect();
            log.note::<_, std::fmt::Error>("recovery", Ok((&recovery, result.recovery_iter().len(), result.recovery(m))));
            assert!((0..m).all(|n| result.recovery(n) == Some(&recovery[n][..])));
            drop(result);
            log.note("after a round", encoder.encode().map(|_| ()));

            let cut = random.wrong(len);
            let some: Vec<&[u8]> = data.iter().take(k + 1 - random.below(3)).map(|s| &s[..s.len().min(cut)]).collect();
            log.note("encode", encode(k, m, &some));

            let mut decoder = ReedSolomonDecoder::new(k, m, len).unwrap();
            for round in 0..3 {
                if round == 2 && random.one_of(2) {
                    log.note("reset", decoder.reset(k, m, len));
                }
                let (mut original, mut restore) = (Vec::new(), Vec::new());
                for _ in 0..k + random.below(4) {
                    let bytes = random.wrong(len);
                    let shard = random.bytes(bytes);
                    if random.one_of(2) {
                        let index = random.index(k);
                        let shard = if index < k && shard.len() == len { data[index].clone() } else { shard };
                        log.note("original", decoder.add_original_shard(index, &shard));
                        original.push((index, shard));
                    } else {
                        let index = random.index(m);
                        let shard = if index < m && shard.len() == len { recovery[index].clone() } else { shard };
                        log.note("recovery", decoder.add_recovery_shard(index, &shard));
                        restore.push((index, shard));
                    }
                }
                log.note("decode", decode(k, m, original, restore));
                for n in 0..k {
                    if log.note("first", decoder.decode().map(|r| format!("{:?}", r.restored_original_iter().collect::<Vec<_>>()))) {
                        break;
                    }
                    log.note("fill", decoder.add_original_shard(n, &data[n]));
                }
                if let Ok(result) = decoder.decode() {
                    let found: Vec<_> = (0..k + 2).map(|n| result.restored_original(n).map(<[u8]>::to_vec)).collect();
                    log.note::<_, std::fmt::Error>("restored", Ok((found, result.restored_original_iter().len())));
                }
            }

            let (k2, m2) = random.pick(&SHAPES[..14]);
            let len2 = random.pick(&LENGTHS[..13]);
            log.note("reset", encoder.reset(k2, m2, len2));
            let first = DefaultRateEncoder::<NoSimd>::new(k, m, len, NoSimd::new(), None).unwrap();
            let (engine, work) = first.into_parts();
            let mut second = DefaultRateEncoder::new(k2, m2, len2, engine, Some(work)).unwrap();
            let first = DefaultRateDecoder::<NoSimd>::new(k, m, len, NoSimd::new(), None).unwrap();
            let (engine, work) = first.into_parts();
            let mut restorer = DefaultRateDecoder::new(k2, m2, len2, engine, Some(work)).unwrap();
            for _ in 0..k2 {
                let shard = random.bytes(len2);
                log.note("again", encoder.add_original_shard(&shard));
                log.note("again", second.add_original_shard(&shard));
            }
            let results = (encoder.encode().unwrap(), second.encode().unwrap());
            assert!(results.0.recovery_iter().eq(results.1.recovery_iter()));
            for (n, shard) in results.0.recovery_iter().enumerate().take(k2) {
                log.note::<_, std::fmt::Error>("recovery", Ok(shard));
                log.note("last", restorer.add_recovery_shard(n, shard));
            }
            log.note("last", restorer.decode().map(|r| format!("{:?}", r.restored_original_iter().collect::<Vec<_>>())));
            log
        }
    };
}

scenario!(ours_round, ours);
scenario!(theirs_round, theirs);

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).expect("the number of rounds");
    let mut calls = 0;
    for seed in 0..rounds {
        let (ours, theirs) = (ours_round(seed).lines, theirs_round(seed).lines);
        for (n, (a, b)) in ours.iter().zip(&theirs).enumerate() {
            if a != b {
                let cut = |text: &str| text.chars().take(200).collect::<String>();
                println!("round {seed}, call {n}: ours {} theirs {}", cut(a), cut(b));
                std::process::exit(1);
            }
        }
        assert_eq!(ours.len(), theirs.len());
        calls += ours.len();
    }
    println!("{calls} calls are equal");
}

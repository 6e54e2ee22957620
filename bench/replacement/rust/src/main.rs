//! Times of the replacement for reed-solomon-erasure and of three other crates, as CSV: the median over the rounds of
//! the others' time over the replacement's, and the replacement's throughput in GB/s of data shards. In each round the
//! samples of the crates follow each other. Parity and reconstructed bytes are compared first.

use std::time::{Duration, Instant};

const SHAPES: [(usize, usize); 3] = [(10, 4), (12, 4), (32, 32)];
const LENGTHS: [usize; 6] = [64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];
/// A sample has as many calls as fill this time.
const SAMPLE: Duration = Duration::from_micros(400);
const NAMES: [&str; 4] = [
    "gfsmith",
    "reed-solomon-erasure",
    "rustfs-erasure-codec",
    "rusty_erasure",
];

type Shards = Vec<Vec<u8>>;

/// A crate's code, with which it encodes, and reconstructs the first shards.
trait Code {
    fn encode(&self, data: &[Vec<u8>], parity: &mut [Vec<u8>]);
    fn reconstruct(&self, shards: &mut [(Vec<u8>, bool)]);
}

macro_rules! same_interface {
    ($name:ident, $path:path) => {
        struct $name($path);

        impl Code for $name {
            fn encode(&self, data: &[Vec<u8>], parity: &mut [Vec<u8>]) {
                self.0.encode_sep(data, parity).unwrap();
            }

            fn reconstruct(&self, shards: &mut [(Vec<u8>, bool)]) {
                for shard in shards
                    .iter_mut()
                    .take(self.0.parity_shard_count().min(self.0.data_shard_count()))
                {
                    shard.1 = false;
                }
                self.0.reconstruct(shards).unwrap();
            }
        }
    };
}

same_interface!(Gfsmith, gfsmith::galois_8::ReedSolomon);
same_interface!(Original, original::galois_8::ReedSolomon);
same_interface!(Rustfs, rustfs_erasure_codec::galois_8::ReedSolomon);

/// rusty_erasure with the matrix of the others. plan: for the loss of the first shards, made before the samples.
struct Rusty {
    coder: rusty_erasure::Coder,
    plan: rusty_erasure::DecodePlan,
    lost: usize,
}

impl Code for Rusty {
    fn encode(&self, data: &[Vec<u8>], parity: &mut [Vec<u8>]) {
        let data: Vec<&[u8]> = data.iter().map(Vec::as_slice).collect();
        let mut parity: Vec<&mut [u8]> = parity.iter_mut().map(Vec::as_mut_slice).collect();
        self.coder.encode(&data, &mut parity).unwrap();
    }

    fn reconstruct(&self, shards: &mut [(Vec<u8>, bool)]) {
        let (lost, present) = shards.split_at_mut(self.lost);
        let mut from: Vec<Option<&[u8]>> = vec![None; self.lost];
        from.extend(present.iter().map(|shard| Some(&shard.0[..])));
        let mut out: Vec<&mut [u8]> = lost.iter_mut().map(|shard| &mut shard.0[..]).collect();
        self.coder
            .recover_with(&self.plan, &from, &mut out)
            .unwrap();
    }
}

fn codes(k: usize, m: usize) -> Vec<Box<dyn Code>> {
    let lost = k.min(m);
    let coder =
        rusty_erasure::coder(rusty_erasure::compat::reed_solomon_erasure_matrix(k, m).unwrap())
            .unwrap();
    let present: Vec<bool> = (0..k + m).map(|i| i >= lost).collect();
    let plan = coder
        .decode_plan(&present, &(0..lost).collect::<Vec<_>>())
        .unwrap();
    vec![
        Box::new(Gfsmith(gfsmith::galois_8::ReedSolomon::new(k, m).unwrap())),
        Box::new(Original(
            original::galois_8::ReedSolomon::new(k, m).unwrap(),
        )),
        Box::new(Rustfs(
            rustfs_erasure_codec::galois_8::ReedSolomon::new(k, m).unwrap(),
        )),
        Box::new(Rusty { coder, plan, lost }),
    ]
}

/// Returns seconds per call.
fn sample(mut call: impl FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| call());
    start.elapsed().as_secs_f64() / f64::from(calls)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs the rounds of one operation and prints its row.
fn measure(what: &str, rounds: usize, bytes: usize, calls: &mut [Box<dyn FnMut() + '_>]) {
    let counts: Vec<u32> = calls
        .iter_mut()
        .map(|call| {
            call();
            let once = sample(&mut *call, 3).max(1e-9);
            (SAMPLE.as_secs_f64() / once).ceil() as u32
        })
        .collect();
    let mut times = vec![Vec::new(); calls.len()];
    for _ in 0..rounds {
        for ((call, &count), times) in calls.iter_mut().zip(&counts).zip(&mut times) {
            times.push(sample(&mut *call, count));
        }
    }
    let ratio = |n: usize| {
        median(
            times[n]
                .iter()
                .zip(&times[0])
                .map(|(theirs, ours)| theirs / ours)
                .collect(),
        )
    };
    let ratios: Vec<String> = (1..times.len())
        .map(|n| format!("{:.2}", ratio(n)))
        .collect();
    println!(
        "{what},{:.2},{}",
        bytes as f64 / median(times[0].clone()) / 1e9,
        ratios.join(",")
    );
}

fn data(k: usize, len: usize) -> Shards {
    let mut state = 1u64;
    let mut byte = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 56) as u8
    };
    (0..k).map(|_| (0..len).map(|_| byte()).collect()).collect()
}

fn cell(rounds: usize, (k, m): (usize, usize), len: usize) {
    let (codes, data, lost) = (codes(k, m), data(k, len), k.min(m));
    let mut encoded: Vec<Shards> = codes
        .iter()
        .map(|_| data.iter().cloned().chain(vec![vec![0; len]; m]).collect())
        .collect();
    for (code, shards) in codes.iter().zip(&mut encoded) {
        let (data, parity) = shards.split_at_mut(k);
        code.encode(data, parity);
    }
    assert!(
        encoded.windows(2).all(|pair| pair[0] == pair[1]),
        "{k}+{m}: parities differ"
    );
    let whole = encoded[0].clone();
    let mut stripes: Vec<Vec<(Vec<u8>, bool)>> = codes
        .iter()
        .map(|_| {
            whole.iter().enumerate().map(|(i, s)| {
                if i < lost {
                    (vec![0; len], false)
                } else {
                    (s.clone(), true)
                }
            })
        })
        .map(Iterator::collect)
        .collect();
    for (code, stripe) in codes.iter().zip(&mut stripes) {
        code.reconstruct(stripe);
        assert!(
            stripe.iter().map(|shard| &shard.0).eq(&whole),
            "{k}+{m}: reconstructed bytes differ"
        );
    }
    let mut calls: Vec<Box<dyn FnMut()>> = Vec::new();
    for (code, shards) in codes.iter().zip(&mut encoded) {
        let (data, parity) = shards.split_at_mut(k);
        calls.push(Box::new(|| code.encode(data, parity)));
    }
    measure(
        &format!("encode,{k}+{m},{len}"),
        rounds,
        k * len,
        &mut calls,
    );
    let mut calls: Vec<Box<dyn FnMut()>> = Vec::new();
    for (code, stripe) in codes.iter().zip(&mut stripes) {
        calls.push(Box::new(|| code.reconstruct(stripe)));
    }
    measure(
        &format!("reconstruct,{k}+{m},{len}"),
        rounds,
        k * len,
        &mut calls,
    );
}

fn main() {
    let Some(rounds) = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .filter(|&rounds: &usize| rounds > 0)
    else {
        eprintln!("replacement: the argument is the number of rounds, 1 or more");
        std::process::exit(2);
    };
    println!("call,shape,bytes a shard,GB/s,{}", NAMES[1..].join(","));
    for shape in SHAPES {
        for len in LENGTHS {
            cell(rounds, shape, len);
        }
    }
}

//! CPU times of the replacement for reed-solomon-simd and of the original, as CSV: the replacement's throughput in GB/s of
//! original and recovery shards, and the original's time over the replacement's, medians with quartiles over the rounds.
//! In each round the samples of the crates follow each other. A call adds all shards to an encoder or decoder that is kept,
//! computes, and reads the results. Bytes are compared first.

use std::time::Duration;

use cpu_time::ThreadTime;

const SHAPES: [(usize, usize); 4] = [(32, 32), (256, 256), (1024, 1024), (342, 681)];
const LENGTHS: [usize; 3] = [1 << 10, 8 << 10, 64 << 10];
/// A sample has as many calls as fill this time.
const SAMPLE: Duration = Duration::from_millis(10);

type Call<'a> = Box<dyn FnMut() -> u64 + 'a>;

/// Sums up one byte of each result.
fn sum<'a>(shards: impl Iterator<Item = &'a [u8]>) -> u64 {
    shards.fold(0, |sum, shard| sum * 31 + u64::from(shard[shard.len() / 3]))
}

macro_rules! calls {
    ($krate:ident, $data:expr, $parity:expr, $lost:expr) => {{
        let (k, m, len) = ($data.len(), $parity.len(), $data[0].len());
        let mut encoder = $krate::ReedSolomonEncoder::new(k, m, len).unwrap();
        let mut decoder = $krate::ReedSolomonDecoder::new(k, m, len).unwrap();
        let (data, parity, lost): (&[Vec<u8>], &[Vec<u8>], usize) = ($data, $parity, $lost);
        let encode: Call = Box::new(move || {
            data.iter()
                .for_each(|shard| encoder.add_original_shard(shard).unwrap());
            let result = encoder.encode().unwrap();
            sum(result.recovery_iter())
        });
        let decode: Call = Box::new(move || {
            (lost..k).for_each(|n| decoder.add_original_shard(n, &data[n]).unwrap());
            (0..lost).for_each(|n| decoder.add_recovery_shard(n, &parity[n]).unwrap());
            let result = decoder.decode().unwrap();
            assert!(result
                .restored_original_iter()
                .all(|(n, shard)| shard[7] == data[n][7]));
            sum(result.restored_original_iter().map(|(_, shard)| shard))
        });
        [encode, decode]
    }};
}

fn sample(call: &mut Call, calls: u32) -> f64 {
    let start = ThreadTime::now();
    (0..calls).for_each(|_| {
        std::hint::black_box(call());
    });
    start.elapsed().as_secs_f64() / f64::from(calls)
}

/// The quartiles.
fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|n| values[(values.len() - 1) * n / 4])
}

fn measure(what: &str, rounds: usize, bytes: usize, mut ours: Call, mut theirs: Call) {
    assert_eq!(ours(), theirs(), "{what}: results differ");
    let count = |call: &mut Call| (SAMPLE.as_secs_f64() / sample(call, 1).max(1e-9)).ceil() as u32;
    let counts = (count(&mut ours), count(&mut theirs));
    let times: Vec<(f64, f64)> = (0..rounds)
        .map(|_| (sample(&mut ours, counts.0), sample(&mut theirs, counts.1)))
        .collect();
    let [low, ratio, high] = quartiles(times.iter().map(|(a, b)| b / a).collect());
    let speed = quartiles(times.iter().map(|(a, _)| bytes as f64 / a / 1e9).collect())[1];
    println!("{what},{speed:.2},{ratio:.2} ({low:.2}-{high:.2})");
}

fn cell(rounds: usize, (k, m): (usize, usize), len: usize) {
    let byte = |n: usize, at: usize| ((n * 31 + at * 7 + n * at / 5) % 251) as u8;
    let data: Vec<Vec<u8>> = (0..k)
        .map(|n| (0..len).map(|at| byte(n, at)).collect())
        .collect();
    let parity = gfsmith::encode(k, m, &data).unwrap();
    assert!(
        parity == original::encode(k, m, &data).unwrap(),
        "{k}+{m}: recovery shards differ"
    );
    for (name, lost) in [("a third", k.min(m) / 3), ("most", k.min(m))] {
        let [encode, decode] = calls!(gfsmith, &data, &parity, lost);
        let [encode2, decode2] = calls!(original, &data, &parity, lost);
        let bytes = (k + m) * len;
        if name == "most" {
            measure(
                &format!("encode,,{k}+{m},{len}"),
                rounds,
                bytes,
                encode,
                encode2,
            );
        }
        measure(
            &format!("decode,{name},{k}+{m},{len}"),
            rounds,
            bytes,
            decode,
            decode2,
        );
    }
}

fn main() {
    let rounds = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .filter(|&rounds: &usize| rounds > 0);
    let Some(rounds) = rounds else {
        eprintln!("replacement-simd: the argument is the number of rounds, 1 or more");
        std::process::exit(2);
    };
    println!("call,lost,shape,bytes a shard,GB/s,original's time over the replacement's");
    for shape in SHAPES {
        for len in LENGTHS {
            cell(rounds, shape, len);
        }
    }
}

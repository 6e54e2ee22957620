//! Answers the requests of tests/oracle/peers.py with the crate reed-solomon-erasure, or with reed-solomon-simd if
//! the argument is its name.

use reed_solomon_erasure::galois_8::ReedSolomon;
use std::io::{self, Read, Write};

type Shard = Vec<u8>;

/// One crate for one shape.
trait Coder {
    fn encode(&self, data: Vec<Shard>) -> Vec<Shard>;
    fn repair(&self, held: Vec<Option<Shard>>) -> Vec<Shard>;
}

struct Erasure(ReedSolomon);

impl Coder for Erasure {
    fn encode(&self, data: Vec<Shard>) -> Vec<Shard> {
        let mut parity = vec![vec![0; data[0].len()]; self.0.parity_shard_count()];
        self.0.encode_sep(&data, &mut parity).expect("parities");
        parity
    }

    fn repair(&self, mut held: Vec<Option<Shard>>) -> Vec<Shard> {
        self.0.reconstruct(&mut held).expect("a repair");
        held.into_iter().map(|shard| shard.expect("all of them")).collect()
    }
}

struct Simd {
    k: usize,
    m: usize,
}

impl Coder for Simd {
    fn encode(&self, data: Vec<Shard>) -> Vec<Shard> {
        reed_solomon_simd::encode(self.k, self.m, data).expect("parities")
    }

    /// The crate rebuilds data; the parities are encoded again.
    fn repair(&self, mut held: Vec<Option<Shard>>) -> Vec<Shard> {
        let parity = held.split_off(self.k);
        let found = |shards: &[Option<Shard>]| -> Vec<(usize, Shard)> {
            shards.iter().enumerate().filter_map(|(n, shard)| Some((n, shard.clone()?))).collect()
        };
        let restored =
            reed_solomon_simd::decode(self.k, self.m, found(&held), found(&parity)).expect("a repair");
        let mut all: Vec<Shard> =
            held.into_iter().enumerate().map(|(n, shard)| shard.unwrap_or_else(|| restored[&n].clone())).collect();
        all.extend(self.encode(all.clone()));
        all
    }
}

fn shards(input: &mut impl Read, count: usize, length: usize) -> Vec<Shard> {
    (0..count)
        .map(|_| {
            let mut shard = vec![0; length];
            input.read_exact(&mut shard).expect("a whole request");
            shard
        })
        .collect()
}

fn main() {
    let simd = std::env::args().nth(1).is_some_and(|name| name == "reed-solomon-simd");
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut header = [0u8; 16];
    while input.read_exact(&mut header).is_ok() {
        let word = |n: usize| u32::from_le_bytes(header[4 * n..4 * n + 4].try_into().unwrap()) as usize;
        let (repair, k, m, length) = (word(0), word(1), word(2), word(3));
        let coder: Box<dyn Coder> =
            if simd { Box::new(Simd { k, m }) } else { Box::new(Erasure(ReedSolomon::new(k, m).expect("a shape"))) };
        let answer = if repair == 0 {
            coder.encode(shards(&mut input, k, length))
        } else {
            let present = shards(&mut input, 1, k + m).remove(0);
            let all = shards(&mut input, k + m, length);
            coder.repair(all.into_iter().zip(present).map(|(s, p)| (p != 0).then_some(s)).collect())
        };
        for shard in answer {
            output.write_all(&shard).expect("a reader");
        }
    }
}

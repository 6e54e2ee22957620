//! The same work with every crate, through its own interface.

use gfsmith::{Code, Codec};
use reed_solomon_erasure::galois_8::ReedSolomon;
use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

#[derive(Clone, Copy)]
pub struct Shape {
    pub k: usize,
    pub m: usize,
    pub length: usize,
}

pub struct Contender {
    pub name: &'static str,
    pub call: Box<dyn FnMut()>,
}

impl Contender {
    fn new(name: &'static str, call: impl FnMut() + 'static) -> Contender {
        Contender { name, call: Box::new(call) }
    }
}

impl Shape {
    fn data(self) -> Vec<Vec<u8>> {
        (0..self.k).map(|n| (0..self.length).map(|b| (b * 31 + n * 7 + b / 251) as u8).collect()).collect()
    }

    fn parity(self) -> Vec<Vec<u8>> {
        vec![vec![0; self.length]; self.m]
    }

    /// Number of lost data shards: as many as there are parities, or all.
    fn lost(self) -> usize {
        self.m.min(self.k)
    }
}

fn codec(shape: Shape) -> Codec {
    Codec::new(Code::Backblaze, shape.k, shape.m).expect("the code has every shape")
}

/// The first two compute the same parities. reed-solomon-simd has its own code over GF(2^16), and copies
/// shards into its own memory; copying the parities out of it is not counted.
pub fn encoders(shape: Shape) -> Vec<Contender> {
    let own = {
        let (codec, data, mut parity) = (codec(shape), shape.data(), shape.parity());
        Contender::new("gfsmith", move || codec.encode(&data, &mut parity).expect("encode"))
    };
    let erasure = {
        let codec = ReedSolomon::new(shape.k, shape.m).expect("shape");
        let (data, mut parity) = (shape.data(), shape.parity());
        Contender::new("reed-solomon-erasure, simd-accel", move || {
            codec.encode_sep(&data, &mut parity).expect("encode");
        })
    };
    let simd = {
        let mut encoder = ReedSolomonEncoder::new(shape.k, shape.m, shape.length).expect("shape");
        let data = shape.data();
        Contender::new("reed-solomon-simd (other code)", move || {
            for shard in &data {
                encoder.add_original_shard(shard).expect("shard");
            }
            drop(encoder.encode().expect("encode"));
        })
    };
    vec![own, erasure, simd]
}

/// The first m data shards are lost (all of them if m > k), and the same number of parities is used to
/// rebuild them.
pub fn repairers(shape: Shape) -> Vec<Contender> {
    vec![own_repair(shape), erasure_repair(shape), simd_repair(shape)]
}

fn encoded(shape: Shape) -> Vec<Vec<u8>> {
    let (mut all, mut parity) = (shape.data(), shape.parity());
    codec(shape).encode(&all, &mut parity).expect("encode");
    all.append(&mut parity);
    all
}

fn own_repair(shape: Shape) -> Contender {
    let (codec, mut shards) = (codec(shape), encoded(shape));
    let present: Vec<bool> = (0..shards.len()).map(|n| n >= shape.lost()).collect();
    Contender::new("gfsmith", move || {
        codec.reconstruct_in_place(&mut shards, &present, None).expect("repair");
    })
}

fn erasure_repair(shape: Shape) -> Contender {
    let codec = ReedSolomon::new(shape.k, shape.m).expect("shape");
    let mut shards: Vec<(Vec<u8>, bool)> = encoded(shape).into_iter().map(|shard| (shard, true)).collect();
    Contender::new("reed-solomon-erasure, simd-accel", move || {
        shards.iter_mut().take(shape.lost()).for_each(|shard| shard.1 = false);
        codec.reconstruct(&mut shards).expect("repair");
    })
}

fn simd_repair(shape: Shape) -> Contender {
    let (data, lost) = (shape.data(), shape.lost());
    let parity = reed_solomon_simd::encode(shape.k, shape.m, &data).expect("encode");
    let mut decoder = ReedSolomonDecoder::new(shape.k, shape.m, shape.length).expect("shape");
    Contender::new("reed-solomon-simd (other code)", move || {
        for (n, shard) in data.iter().enumerate().skip(lost) {
            decoder.add_original_shard(n, shard).expect("shard");
        }
        for (n, shard) in parity.iter().enumerate().take(lost) {
            decoder.add_recovery_shard(n, shard).expect("shard");
        }
        drop(decoder.decode().expect("repair"));
    })
}

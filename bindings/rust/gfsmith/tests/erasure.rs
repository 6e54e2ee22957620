//! Exchange of shards with the crate reed-solomon-erasure, in both directions.

mod common;

use common::{data, lose, shards, whole};
use gfsmith::{Code, Codec};
use reed_solomon_erasure::galois_8::ReedSolomon;

const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 2), (10, 4), (17, 3), (40, 20), (200, 55)];

/// A pseudo-random loss of m shards, reproducible by its seed.
fn loss(k: usize, m: usize, seed: usize) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..k + m).collect();
    (0..m).map(|n| rest.swap_remove((seed * 31 + n * 17) % rest.len())).collect()
}

#[test]
fn the_same_parities() {
    for (k, m) in SHAPES {
        let from = data(1, k, 515);
        let (mut ours, mut theirs) = (vec![vec![0; 515]; m], vec![vec![0; 515]; m]);
        Codec::new(Code::Backblaze, k, m).unwrap().encode(&from, &mut ours).unwrap();
        ReedSolomon::new(k, m).unwrap().encode_sep(&from, &mut theirs).unwrap();
        assert_eq!(ours, theirs, "{k} + {m}");
    }
}

#[test]
fn they_repair_ours() {
    for (k, m) in SHAPES {
        let all = shards(&Codec::new(Code::Backblaze, k, m).unwrap(), 2, 200);
        let peer = ReedSolomon::new(k, m).unwrap();
        assert!(peer.verify(&all).unwrap());
        for seed in 0..2 {
            let mut broken = lose(&all, &loss(k, m, seed));
            peer.reconstruct(&mut broken).unwrap();
            assert_eq!(whole(broken), all, "{k} + {m}");
        }
    }
}

#[test]
fn we_repair_theirs() {
    for (k, m) in SHAPES {
        let mut all = data(3, k, 200);
        all.resize(k + m, vec![0; 200]);
        ReedSolomon::new(k, m).unwrap().encode(&mut all).unwrap();
        let codec = Codec::new(Code::Backblaze, k, m).unwrap();
        assert_eq!(codec.check(&all), Ok(true));
        for seed in 0..2 {
            let mut broken = lose(&all, &loss(k, m, seed));
            codec.reconstruct(&mut broken).unwrap();
            assert_eq!(whole(broken), all, "{k} + {m}");
        }
    }
}

/// encode_single_sep adds every shard except the first to the parities; `append` does the same with
/// `first`.
#[test]
fn shards_one_at_a_time() {
    let (from, peer) = (data(4, 10, 99), ReedSolomon::new(10, 4).unwrap());
    let codec = Codec::new(Code::Backblaze, 10, 4).unwrap();
    let (mut ours, mut theirs) = (vec![vec![0; 99]; 4], vec![vec![0; 99]; 4]);
    for (n, shard) in from.iter().enumerate() {
        codec.append(n, shard, &mut ours, n == 0).unwrap();
        peer.encode_single_sep(n, shard, &mut theirs).unwrap();
        assert_eq!(ours, theirs);
    }
}

/// Another code has other parities, so the tests above can fail.
#[test]
fn other_codes_differ() {
    let all = shards(&Codec::new(Code::Cauchy, 10, 4).unwrap(), 5, 64);
    assert!(!ReedSolomon::new(10, 4).unwrap().verify(&all).unwrap());
}

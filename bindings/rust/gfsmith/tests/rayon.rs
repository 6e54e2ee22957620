//! Calls that rayon's threads share equal those of the calling thread.
#![cfg(feature = "rayon")]

mod common;

use common::{bytes, lose, shards, whole};
use gfsmith::{Code, Codec, Error, Wide, WideCode};

fn pair() -> (Codec, Codec) {
    let alone = Codec::new(Code::Cauchy, 6, 3).unwrap();
    let mut together = Codec::new(Code::Cauchy, 6, 3).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    pool.install(|| together.set_rayon(true));
    (alone, together)
}

#[test]
fn all_calls_give_the_same_bytes() {
    let (alone, together) = pair();
    for length in [1, 1 << 19, (1 << 20) + 77] {
        let all = shards(&alone, 3, length);
        let mut parity = vec![vec![0; length]; 3];
        together.encode(&all[..6], &mut parity).unwrap();
        assert_eq!(parity, all[6..]);
        assert!(together.check(&all).unwrap());
        for wrong in 0..9 {
            let mut changed = all.clone();
            changed[wrong][length - 1 - wrong * length / 10] ^= 1;
            assert!(!together.check(&changed).unwrap());
        }
        let mut broken = lose(&all, &[0, 4, 7]);
        together.reconstruct(&mut broken).unwrap();
        assert_eq!(whole(broken), all);

        let delta = bytes(9, length);
        let mut expected = parity.clone();
        alone.update(2, &delta, &mut expected).unwrap();
        together.update(2, &delta, &mut parity).unwrap();
        assert_eq!(parity, expected);
        alone.update_many(&[(1, &delta), (5, &delta)], &mut expected).unwrap();
        together.update_many(&[(1, &delta), (5, &delta)], &mut parity).unwrap();
        alone.append(3, &delta, &mut expected, false).unwrap();
        together.append(3, &delta, &mut parity, false).unwrap();
        assert_eq!(parity, expected);
        together.append(3, &delta, &mut parity, true).unwrap();
        alone.append(3, &delta, &mut expected, true).unwrap();
        assert_eq!(parity, expected);
    }
}

#[test]
fn a_shared_call_refuses_what_another_refuses() {
    let (alone, mut together) = pair();
    let all = shards(&alone, 4, 1 << 19);
    let mut broken = lose(&all, &[0, 1, 2, 3]);
    assert_eq!(together.reconstruct(&mut broken), Err(Error::TooManyMissing));
    together.set_rayon(false);
    let mut parity = vec![vec![0; 1 << 19]; 3];
    together.encode(&all[..6], &mut parity).unwrap();
    assert_eq!(parity, all[6..]);
}

#[test]
fn calls_of_wide_codes_give_the_same_bytes() {
    for (code, k, m) in [(WideCode::Leopard16, 40, 20), (WideCode::Lch16, 20, 40)] {
        let alone = Wide::new(code, k, m).unwrap();
        let mut together = Wide::new(code, k, m).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| together.set_rayon(true));
        for length in [64, 64 << 10, (96 << 10) + 64] {
            let mut all: Vec<_> = (0..k).map(|n| bytes(n as u64, length)).collect();
            let (mut parity, mut shared) = (vec![vec![0; length]; m], vec![vec![1; length]; m]);
            alone.encode(&all, &mut parity).unwrap();
            together.encode(&all, &mut shared).unwrap();
            assert!(shared == parity, "{together:?}, {length} bytes");
            all.append(&mut parity);
            let lost: Vec<usize> = (0..20).map(|n| 2 * n).collect();
            let mut broken = lose(&all, &lost);
            together.reconstruct(&mut broken).unwrap();
            assert!(whole(broken) == all, "{together:?}, {length} bytes");
        }
        together.set_rayon(false);
        let mut parity = vec![vec![0; 65]; m];
        let odd: Vec<_> = (0..k).map(|n| bytes(n as u64, 65)).collect();
        assert!(together.encode(&odd, &mut parity).is_err());
    }
}

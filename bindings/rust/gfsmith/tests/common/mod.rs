//! Common functions of the tests: pseudo-random bytes, and an independent implementation of the field.
#![allow(dead_code)] // each test program uses a part

use gfsmith::Codec;

pub type Shards = Vec<Vec<u8>>;

/// The product in GF(2)[x] / (x^8 + x^4 + x^3 + x^2 + 1), bit by bit.
pub fn multiply(a: u8, b: u8) -> u8 {
    let (mut a, mut sum) = (u16::from(a), 0);
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a <<= 1;
        if a & 0x100 != 0 {
            a ^= 0x11d;
        }
    }
    sum as u8
}

/// a^254, as a^255 = 1.
pub fn inverse(a: u8) -> u8 {
    (0..254).fold(1, |product, _| multiply(product, a))
}

/// parity[i] = sum over j of c(i, j) * data[j].
pub fn encode(data: &[Vec<u8>], m: usize, c: impl Fn(usize, usize) -> u8) -> Shards {
    let parity = |i: usize| {
        let mut sum = vec![0; data[0].len()];
        for (j, shard) in data.iter().enumerate() {
            let coefficient = c(i, j);
            let products: Vec<u8> = (0..=255).map(|byte| multiply(coefficient, byte)).collect();
            for (to, &byte) in sum.iter_mut().zip(shard) {
                *to ^= products[usize::from(byte)];
            }
        }
        sum
    };
    (0..m).map(parity).collect()
}

/// Pseudo-random bytes: xorshift64*.
pub fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

pub fn data(seed: u64, count: usize, length: usize) -> Shards {
    (0..count).map(|n| bytes(seed ^ (n as u64) << 32, length)).collect()
}

/// Data and parities, encoded by the codec.
pub fn shards(codec: &Codec, seed: u64, length: usize) -> Shards {
    let mut all = data(seed, codec.data_shard_count(), length);
    let mut parity = vec![vec![0x5a; length]; codec.parity_shard_count()];
    codec.encode(&all, &mut parity).unwrap();
    all.append(&mut parity);
    all
}

/// The shards without those at `lost`.
pub fn lose(all: &[Vec<u8>], lost: &[usize]) -> Vec<Option<Vec<u8>>> {
    (0..all.len()).map(|n| (!lost.contains(&n)).then(|| all[n].clone())).collect()
}

pub fn whole(shards: Vec<Option<Vec<u8>>>) -> Shards {
    shards.into_iter().map(Option::unwrap).collect()
}

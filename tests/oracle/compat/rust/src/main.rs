//! Answers the requests of tests/oracle/peers.py with the crate reed-solomon-erasure.

use reed_solomon_erasure::galois_8::ReedSolomon;
use std::io::{self, Read, Write};

fn shards(input: &mut impl Read, count: usize, length: usize) -> Vec<Vec<u8>> {
    (0..count)
        .map(|_| {
            let mut shard = vec![0; length];
            input.read_exact(&mut shard).expect("a whole request");
            shard
        })
        .collect()
}

fn main() {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut header = [0u8; 16];
    while input.read_exact(&mut header).is_ok() {
        let word = |n: usize| u32::from_le_bytes(header[4 * n..4 * n + 4].try_into().unwrap()) as usize;
        let (repair, k, m, length) = (word(0), word(1), word(2), word(3));
        let coder = ReedSolomon::new(k, m).expect("a shape");
        let answer = if repair == 0 {
            let data = shards(&mut input, k, length);
            let mut parity = vec![vec![0; length]; m];
            coder.encode_sep(&data, &mut parity).expect("parities");
            parity
        } else {
            let present = shards(&mut input, 1, k + m).remove(0);
            let all = shards(&mut input, k + m, length);
            let mut held: Vec<_> = all.into_iter().zip(present).map(|(s, p)| (p != 0).then_some(s)).collect();
            coder.reconstruct(&mut held).expect("a repair");
            held.into_iter().map(|shard| shard.expect("all of them")).collect()
        };
        for shard in answer {
            output.write_all(&shard).expect("a reader");
        }
    }
}

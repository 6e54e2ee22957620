//! An erasure batch of Solana: 32 data shreds and 32 coding shreds. Half of them are lost, and reconstructed.
//!
//! The program calls nothing that the original lacks, and prints the same with both crates.

use reed_solomon_erasure::galois_8::ReedSolomon;

const SHREDS: usize = 32;
/// Bytes of a shred that the code covers; a packet has 1,232.
const LENGTH: usize = 987;

/// FNV-1a of all bytes.
fn digest(shards: &[Vec<u8>]) -> u64 {
    let bytes = shards.iter().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn main() {
    let code = ReedSolomon::new(SHREDS, SHREDS).unwrap();
    let mut shreds = vec![vec![0; LENGTH]; 2 * SHREDS];
    for (i, shred) in shreds[..SHREDS].iter_mut().enumerate() {
        for (n, byte) in shred.iter_mut().enumerate() {
            *byte = (i * 131 + n * n % 251) as u8;
        }
    }
    code.encode(&mut shreds).unwrap();
    println!("{SHREDS} data and {SHREDS} coding shreds of {LENGTH} bytes, digest {:016x}", digest(&shreds));

    let mut received: Vec<Option<Vec<u8>>> = shreds.iter().cloned().map(Some).collect();
    received.iter_mut().step_by(2).for_each(|shred| *shred = None);
    code.reconstruct(&mut received).unwrap();
    assert!(received.iter().flatten().eq(&shreds));
    println!("{SHREDS} lost shreds reconstructed");
}

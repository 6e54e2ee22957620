//! Any third of 1,023 chunks restores the data: 342 original and 681 recovery shards, as in availability layers of
//! Polkadot. Prints a sum of the recovery shards, which the original crate prints too.

use reed_solomon_simd::{ReedSolomonDecoder, ReedSolomonEncoder};

const ORIGINAL: usize = 342;
const RECOVERY: usize = 681;
const BYTES: usize = 12 * 64 + 2;

fn main() -> Result<(), reed_solomon_simd::Error> {
    let byte = |shard: usize, at: usize| (shard * 31 + at * 7 + shard * at / 5) as u8;
    let data: Vec<Vec<u8>> = (0..ORIGINAL).map(|n| (0..BYTES).map(|at| byte(n, at)).collect()).collect();

    let mut encoder = ReedSolomonEncoder::new(ORIGINAL, RECOVERY, BYTES)?;
    data.iter().try_for_each(|shard| encoder.add_original_shard(shard))?;
    let result = encoder.encode()?;
    let sum = result
        .recovery_iter()
        .flatten()
        .fold(0u64, |sum, &b| (sum ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
    println!("recovery shards: {sum:016x}");

    let mut decoder = ReedSolomonDecoder::new(ORIGINAL, RECOVERY, BYTES)?;
    for n in (0..RECOVERY).rev().take(ORIGINAL) {
        decoder.add_recovery_shard(n, result.recovery(n).expect("an index below the number of shards"))?;
    }
    let restored = decoder.decode()?;
    assert!(restored.restored_original_iter().all(|(n, shard)| shard == data[n]));
    println!("{} lost shards restored", restored.restored_original_iter().len());
    Ok(())
}

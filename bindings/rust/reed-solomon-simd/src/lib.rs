//! Reed-Solomon codes with thousands of shards over GF(2^16): the interface and the bytes of the crate
//! reed-solomon-simd 3, with gfsmith's proved kernels.
//!
//! A code computes recovery shards of original shards. From as many shards as there are original ones, whichever
//! they are, a decoder restores the others. It does not detect wrong bytes: leave out damaged shards.
//!
//! ```
//! let original = [b"one ", b"two ", b"six "];
//! let recovery = reed_solomon_simd::encode(3, 2, original)?;
//!
//! let restored = reed_solomon_simd::decode(3, 2, [(1, "two ")], [(0, &recovery[0]), (1, &recovery[1])])?;
//! assert_eq!(restored[&0], original[0]);
//! assert_eq!(restored[&2], original[2]);
//! # Ok::<(), reed_solomon_simd::Error>(())
//! ```
//!
//! [`ReedSolomonEncoder`] and [`ReedSolomonDecoder`] take shards one at a time and keep their memory for the next
//! round.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod code;
mod decoder_result;
mod encoder_result;
pub mod engine;
mod error;
pub mod rate;
mod reed_solomon;
mod work;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub use decoder_result::{DecoderResult, RestoredOriginal};
pub use encoder_result::{EncoderResult, Recovery};
pub use error::Error;
pub use reed_solomon::{ReedSolomonDecoder, ReedSolomonEncoder};

/// Computes all recovery shards of the original shards, which are given in order. Their length is that of the first.
///
/// # Errors
/// As [`ReedSolomonEncoder`].
pub fn encode<T>(original_count: usize, recovery_count: usize, original: T) -> Result<Vec<Vec<u8>>, Error>
where
    T: IntoIterator,
    T::Item: AsRef<[u8]>,
{
    code::supported(original_count, recovery_count)?;
    let mut shards = original.into_iter();
    let none = Error::TooFewOriginalShards { original_count, original_received_count: 0 };
    let first = shards.next().ok_or(none)?;
    let mut encoder = ReedSolomonEncoder::new(original_count, recovery_count, first.as_ref().len())?;
    encoder.add_original_shard(first)?;
    shards.try_for_each(|shard| encoder.add_original_shard(shard))?;
    let result = encoder.encode()?;
    Ok(result.recovery_iter().map(<[u8]>::to_vec).collect())
}

/// Restores the original shards that are not given, by their indices. The length of shards is that of the first
/// recovery shard. Without any the original ones are counted: if none is missing, nothing is restored.
///
/// # Errors
/// As [`ReedSolomonDecoder`].
pub fn decode<O, R, OT, RT>(
    original_count: usize,
    recovery_count: usize,
    original: O,
    recovery: R,
) -> Result<BTreeMap<usize, Vec<u8>>, Error>
where
    O: IntoIterator<Item = (usize, OT)>,
    R: IntoIterator<Item = (usize, RT)>,
    OT: AsRef<[u8]>,
    RT: AsRef<[u8]>,
{
    code::supported(original_count, recovery_count)?;
    let (mut original, mut recovery) = (original.into_iter(), recovery.into_iter());
    let Some((index, first)) = recovery.next() else {
        return match original.count() {
            count if count == original_count => Ok(BTreeMap::new()),
            original_received_count => Err(Error::NotEnoughShards {
                original_count,
                original_received_count,
                recovery_received_count: 0,
            }),
        };
    };
    let mut decoder = ReedSolomonDecoder::new(original_count, recovery_count, first.as_ref().len())?;
    original.try_for_each(|(index, shard)| decoder.add_original_shard(index, shard))?;
    decoder.add_recovery_shard(index, first)?;
    recovery.try_for_each(|(index, shard)| decoder.add_recovery_shard(index, shard))?;
    let result = decoder.decode()?;
    Ok(result.restored_original_iter().map(|(index, shard)| (index, shard.to_vec())).collect())
}

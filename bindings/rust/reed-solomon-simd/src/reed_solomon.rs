//! The encoder and the decoder for most programs.

use crate::engine::DefaultEngine;
use crate::rate::{DefaultRate, DefaultRateDecoder, DefaultRateEncoder, Rate, RateDecoder, RateEncoder};
use crate::{DecoderResult, EncoderResult, Error};

/// Computes recovery shards.
///
/// ```
/// use reed_solomon_simd::ReedSolomonEncoder;
///
/// let mut encoder = ReedSolomonEncoder::new(3, 2, 4)?;
/// for shard in ["one ", "two ", "six "] {
///     encoder.add_original_shard(shard)?;
/// }
/// let result = encoder.encode()?;
/// assert_eq!(result.recovery_iter().len(), 2);
/// # Ok::<(), reed_solomon_simd::Error>(())
/// ```
pub struct ReedSolomonEncoder(DefaultRateEncoder<DefaultEngine>);

impl ReedSolomonEncoder {
    /// An encoder for shards of `shard_bytes` bytes.
    ///
    /// # Errors
    /// [`Error::UnsupportedShardCount`], [`Error::InvalidShardSize`].
    pub fn new(original_count: usize, recovery_count: usize, shard_bytes: usize) -> Result<Self, Error> {
        DefaultRateEncoder::new(original_count, recovery_count, shard_bytes, DefaultEngine::new(), None)
            .map(Self)
    }

    /// Copies the next original shard; their indices are 0, 1, ...
    ///
    /// # Errors
    /// [`Error::TooManyOriginalShards`], [`Error::DifferentShardSize`].
    pub fn add_original_shard<T: AsRef<[u8]>>(&mut self, original_shard: T) -> Result<(), Error> {
        self.0.add_original_shard(original_shard)
    }

    /// Computes the recovery shards.
    ///
    /// # Errors
    /// [`Error::TooFewOriginalShards`].
    pub fn encode(&mut self) -> Result<EncoderResult<'_>, Error> {
        self.0.encode()
    }

    /// Removes all shards and changes the arguments. The memory is kept.
    ///
    /// # Errors
    /// As [`new`](Self::new); then the encoder does not change.
    pub fn reset(
        &mut self,
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
    ) -> Result<(), Error> {
        self.0.reset(original_count, recovery_count, shard_bytes)
    }

    /// Does the code have this shape?
    pub fn supports(original_count: usize, recovery_count: usize) -> bool {
        DefaultRate::<DefaultEngine>::supports(original_count, recovery_count)
    }
}

/// Restores original shards.
pub struct ReedSolomonDecoder(DefaultRateDecoder<DefaultEngine>);

impl ReedSolomonDecoder {
    /// A decoder for shards of `shard_bytes` bytes.
    ///
    /// # Errors
    /// [`Error::UnsupportedShardCount`], [`Error::InvalidShardSize`].
    pub fn new(original_count: usize, recovery_count: usize, shard_bytes: usize) -> Result<Self, Error> {
        DefaultRateDecoder::new(original_count, recovery_count, shard_bytes, DefaultEngine::new(), None)
            .map(Self)
    }

    /// Copies an original shard.
    ///
    /// # Errors
    /// [`Error::InvalidOriginalShardIndex`], [`Error::DuplicateOriginalShardIndex`], [`Error::DifferentShardSize`].
    pub fn add_original_shard<T: AsRef<[u8]>>(
        &mut self,
        index: usize,
        original_shard: T,
    ) -> Result<(), Error> {
        self.0.add_original_shard(index, original_shard)
    }

    /// Copies a recovery shard.
    ///
    /// # Errors
    /// [`Error::InvalidRecoveryShardIndex`], [`Error::DuplicateRecoveryShardIndex`], [`Error::DifferentShardSize`].
    pub fn add_recovery_shard<T: AsRef<[u8]>>(
        &mut self,
        index: usize,
        recovery_shard: T,
    ) -> Result<(), Error> {
        self.0.add_recovery_shard(index, recovery_shard)
    }

    /// Restores the original shards that the decoder was not given.
    ///
    /// # Errors
    /// [`Error::NotEnoughShards`]; more shards can be added then.
    pub fn decode(&mut self) -> Result<DecoderResult<'_>, Error> {
        self.0.decode()
    }

    /// Removes all shards and changes the arguments. The memory is kept.
    ///
    /// # Errors
    /// As [`new`](Self::new); then the decoder does not change.
    pub fn reset(
        &mut self,
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
    ) -> Result<(), Error> {
        self.0.reset(original_count, recovery_count, shard_bytes)
    }

    /// Does the code have this shape?
    pub fn supports(original_count: usize, recovery_count: usize) -> bool {
        DefaultRate::<DefaultEngine>::supports(original_count, recovery_count)
    }
}

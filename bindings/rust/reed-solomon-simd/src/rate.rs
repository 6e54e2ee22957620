//! Encoders and decoders whose memory another one can take over.

mod rate_default;

use crate::engine::Engine;
use crate::work::Round;
use crate::{DecoderResult, EncoderResult, Error};

pub use crate::work::{DecoderWork, EncoderWork};
pub use rate_default::{DefaultRate, DefaultRateDecoder, DefaultRateEncoder};

/// A family of encoders and decoders.
pub trait Rate<E: Engine> {
    /// Its encoder.
    type RateEncoder: RateEncoder<E>;
    /// Its decoder.
    type RateDecoder: RateDecoder<E>;

    /// Does the code have this shape?
    fn supports(original_count: usize, recovery_count: usize) -> bool;

    /// [`RateEncoder::new`].
    fn encoder(
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
        engine: E,
        work: Option<EncoderWork>,
    ) -> Result<Self::RateEncoder, Error> {
        Self::RateEncoder::new(original_count, recovery_count, shard_bytes, engine, work)
    }

    /// [`RateDecoder::new`].
    fn decoder(
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
        engine: E,
        work: Option<DecoderWork>,
    ) -> Result<Self::RateDecoder, Error> {
        Self::RateDecoder::new(original_count, recovery_count, shard_bytes, engine, work)
    }

    /// Checks the shape and the length of shards.
    fn validate(original_count: usize, recovery_count: usize, shard_bytes: usize) -> Result<(), Error> {
        Round::new(original_count, recovery_count, shard_bytes).map(|_| ())
    }
}

/// An encoder with an engine and memory.
pub trait RateEncoder<E: Engine>
where
    Self: Sized,
{
    /// Its family.
    type Rate: Rate<E>;

    /// [`ReedSolomonEncoder::add_original_shard`](crate::ReedSolomonEncoder::add_original_shard).
    fn add_original_shard<T: AsRef<[u8]>>(&mut self, original_shard: T) -> Result<(), Error>;

    /// [`ReedSolomonEncoder::encode`](crate::ReedSolomonEncoder::encode).
    fn encode(&mut self) -> Result<EncoderResult<'_>, Error>;

    /// The engine and the memory.
    fn into_parts(self) -> (E, EncoderWork);

    /// An encoder, with the memory of another one if that is given.
    fn new(
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
        engine: E,
        work: Option<EncoderWork>,
    ) -> Result<Self, Error>;

    /// [`ReedSolomonEncoder::reset`](crate::ReedSolomonEncoder::reset).
    fn reset(
        &mut self,
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
    ) -> Result<(), Error>;

    /// [`Rate::supports`].
    fn supports(original_count: usize, recovery_count: usize) -> bool {
        Self::Rate::supports(original_count, recovery_count)
    }

    /// [`Rate::validate`].
    fn validate(original_count: usize, recovery_count: usize, shard_bytes: usize) -> Result<(), Error> {
        Self::Rate::validate(original_count, recovery_count, shard_bytes)
    }
}

/// A decoder with an engine and memory.
pub trait RateDecoder<E: Engine>
where
    Self: Sized,
{
    /// Its family.
    type Rate: Rate<E>;

    /// [`ReedSolomonDecoder::add_original_shard`](crate::ReedSolomonDecoder::add_original_shard).
    fn add_original_shard<T: AsRef<[u8]>>(&mut self, index: usize, original_shard: T) -> Result<(), Error>;

    /// [`ReedSolomonDecoder::add_recovery_shard`](crate::ReedSolomonDecoder::add_recovery_shard).
    fn add_recovery_shard<T: AsRef<[u8]>>(&mut self, index: usize, recovery_shard: T) -> Result<(), Error>;

    /// [`ReedSolomonDecoder::decode`](crate::ReedSolomonDecoder::decode).
    fn decode(&mut self) -> Result<DecoderResult<'_>, Error>;

    /// The engine and the memory.
    fn into_parts(self) -> (E, DecoderWork);

    /// A decoder, with the memory of another one if that is given.
    fn new(
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
        engine: E,
        work: Option<DecoderWork>,
    ) -> Result<Self, Error>;

    /// [`ReedSolomonDecoder::reset`](crate::ReedSolomonDecoder::reset).
    fn reset(
        &mut self,
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
    ) -> Result<(), Error>;

    /// [`Rate::supports`].
    fn supports(original_count: usize, recovery_count: usize) -> bool {
        Self::Rate::supports(original_count, recovery_count)
    }

    /// [`Rate::validate`].
    fn validate(original_count: usize, recovery_count: usize, shard_bytes: usize) -> Result<(), Error> {
        Self::Rate::validate(original_count, recovery_count, shard_bytes)
    }
}

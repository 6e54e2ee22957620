//! The memory of encoders and decoders: all shards of a round, one after the other.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use gfsmith::Wide;

use crate::{code, Error};

/// The arguments of encoders and decoders, once they have been checked.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Round {
    pub(crate) original_count: usize,
    pub(crate) recovery_count: usize,
    pub(crate) shard_bytes: usize,
}

impl Round {
    pub(crate) fn new(
        original_count: usize,
        recovery_count: usize,
        shard_bytes: usize,
    ) -> Result<Round, Error> {
        code::supported(original_count, recovery_count)?;
        if shard_bytes == 0 || shard_bytes % code::CODE.granule() != 0 {
            return Err(Error::InvalidShardSize { shard_bytes });
        }
        Ok(Round { original_count, recovery_count, shard_bytes })
    }

    fn total_count(&self) -> usize {
        self.original_count + self.recovery_count
    }
}

/// The shards of a round with their code.
#[derive(Default)]
struct Shards {
    round: Round,
    code: Option<Arc<Wide>>,
    bytes: Vec<u8>,
}

impl Shards {
    fn reset(&mut self, round: Round) {
        let before = (self.round.original_count, self.round.recovery_count);
        let counts = (round.original_count, round.recovery_count);
        if before != counts {
            self.code = Some(code::of(counts.0, counts.1));
        }
        let total = round.total_count().checked_mul(round.shard_bytes).expect("capacity overflow");
        self.bytes.resize(total, 0);
        self.round = round;
    }

    fn shard(&self, index: usize) -> &[u8] {
        &self.bytes[index * self.round.shard_bytes..][..self.round.shard_bytes]
    }

    fn store(&mut self, index: usize, shard: &[u8]) -> Result<(), Error> {
        let shard_bytes = self.round.shard_bytes;
        if shard.len() != shard_bytes {
            return Err(Error::DifferentShardSize { shard_bytes, got: shard.len() });
        }
        self.bytes[index * shard_bytes..][..shard_bytes].copy_from_slice(shard);
        Ok(())
    }

    /// The code and all shards, of which there are some only after `reset`.
    fn parts(&mut self) -> (&Wide, Vec<&mut [u8]>) {
        let code = self.code.as_deref().expect("reset creates the code");
        (code, self.bytes.chunks_exact_mut(self.round.shard_bytes).collect())
    }
}

/// The memory of an encoder, for another one.
#[derive(Default)]
pub struct EncoderWork {
    shards: Shards,
    received: usize,
}

impl EncoderWork {
    /// Empty memory, which grows with its use.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn reset(&mut self, round: Round) {
        self.shards.reset(round);
        self.received = 0;
    }

    pub(crate) fn forget_shards(&mut self) {
        self.received = 0;
    }

    pub(crate) fn add(&mut self, shard: &[u8]) -> Result<(), Error> {
        let original_count = self.shards.round.original_count;
        if self.received == original_count {
            return Err(Error::TooManyOriginalShards { original_count });
        }
        self.shards.store(self.received, shard)?;
        self.received += 1;
        Ok(())
    }

    pub(crate) fn encode(&mut self) -> Result<(), Error> {
        let (original_count, original_received_count) = (self.shards.round.original_count, self.received);
        if original_received_count != original_count {
            return Err(Error::TooFewOriginalShards { original_count, original_received_count });
        }
        let (code, mut original) = self.shards.parts();
        let mut recovery = original.split_off(original_count);
        code::checked(code.encode(&original, &mut recovery));
        Ok(())
    }

    pub(crate) fn recovery_iter(&self) -> core::slice::ChunksExact<'_, u8> {
        let round = &self.shards.round;
        self.shards.bytes[round.original_count * round.shard_bytes..].chunks_exact(round.shard_bytes)
    }
}

/// The memory of a decoder, for another one.
#[derive(Default)]
pub struct DecoderWork {
    shards: Shards,
    /// A flag for every shard, original ones first.
    received: Vec<bool>,
    original_received_count: usize,
    recovery_received_count: usize,
}

impl DecoderWork {
    /// Empty memory, which grows with its use.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn reset(&mut self, round: Round) {
        self.shards.reset(round);
        self.forget_shards();
    }

    pub(crate) fn forget_shards(&mut self) {
        self.received.clear();
        self.received.resize(self.shards.round.total_count(), false);
        self.original_received_count = 0;
        self.recovery_received_count = 0;
    }

    pub(crate) fn add_original(&mut self, index: usize, shard: &[u8]) -> Result<(), Error> {
        let original_count = self.shards.round.original_count;
        if index >= original_count {
            return Err(Error::InvalidOriginalShardIndex { original_count, index });
        }
        if self.received[index] {
            return Err(Error::DuplicateOriginalShardIndex { index });
        }
        self.shards.store(index, shard)?;
        self.received[index] = true;
        self.original_received_count += 1;
        Ok(())
    }

    pub(crate) fn add_recovery(&mut self, index: usize, shard: &[u8]) -> Result<(), Error> {
        let Round { original_count, recovery_count, .. } = self.shards.round;
        if index >= recovery_count {
            return Err(Error::InvalidRecoveryShardIndex { recovery_count, index });
        }
        if self.received[original_count + index] {
            return Err(Error::DuplicateRecoveryShardIndex { index });
        }
        self.shards.store(original_count + index, shard)?;
        self.received[original_count + index] = true;
        self.recovery_received_count += 1;
        Ok(())
    }

    pub(crate) fn decode(&mut self) -> Result<(), Error> {
        let Round { original_count, recovery_count, .. } = self.shards.round;
        let (original_received_count, recovery_received_count) =
            (self.original_received_count, self.recovery_received_count);
        if original_received_count + recovery_received_count < original_count {
            return Err(Error::NotEnoughShards {
                original_count,
                original_received_count,
                recovery_received_count,
            });
        }
        if original_received_count == original_count {
            return Ok(());
        }
        let mut wanted = vec![true; original_count];
        wanted.resize(original_count + recovery_count, false);
        let (code, mut all) = self.shards.parts();
        code::checked(code.reconstruct_in_place(&mut all, &self.received, Some(&wanted)));
        Ok(())
    }

    pub(crate) fn restored(&self, index: usize) -> Option<&[u8]> {
        let is_missing = index < self.shards.round.original_count && !self.received[index];
        is_missing.then(|| self.shards.shard(index))
    }

    pub(crate) fn original_count(&self) -> usize {
        self.shards.round.original_count
    }

    pub(crate) fn missing_count(&self) -> usize {
        self.shards.round.original_count - self.original_received_count
    }
}

//! The only rate: that of the original's encoders and decoders.

use core::marker::PhantomData;

use crate::code;
use crate::engine::Engine;
use crate::rate::{DecoderWork, EncoderWork, Rate, RateDecoder, RateEncoder};
use crate::work::Round;
use crate::{DecoderResult, EncoderResult, Error};

/// The members that encoders and decoders have alike.
macro_rules! members {
    ($work:ty) => {
        fn into_parts(self) -> (E, $work) {
            (self.engine, self.work)
        }

        fn new(
            original_count: usize,
            recovery_count: usize,
            shard_bytes: usize,
            engine: E,
            work: Option<$work>,
        ) -> Result<Self, Error> {
            let mut made = Self { engine, work: work.unwrap_or_default() };
            made.reset(original_count, recovery_count, shard_bytes)?;
            Ok(made)
        }

        fn reset(
            &mut self,
            original_count: usize,
            recovery_count: usize,
            shard_bytes: usize,
        ) -> Result<(), Error> {
            self.work.reset(Round::new(original_count, recovery_count, shard_bytes)?);
            Ok(())
        }
    };
}

/// The code of [`ReedSolomonEncoder`](crate::ReedSolomonEncoder).
pub struct DefaultRate<E: Engine>(PhantomData<E>);

impl<E: Engine> Rate<E> for DefaultRate<E> {
    type RateEncoder = DefaultRateEncoder<E>;
    type RateDecoder = DefaultRateDecoder<E>;

    fn supports(original_count: usize, recovery_count: usize) -> bool {
        code::CODE.has_shape(original_count, recovery_count)
    }
}

/// An encoder of [`DefaultRate`].
pub struct DefaultRateEncoder<E: Engine> {
    engine: E,
    work: EncoderWork,
}

impl<E: Engine> RateEncoder<E> for DefaultRateEncoder<E> {
    type Rate = DefaultRate<E>;

    fn add_original_shard<T: AsRef<[u8]>>(&mut self, original_shard: T) -> Result<(), Error> {
        self.work.add(original_shard.as_ref())
    }

    fn encode(&mut self) -> Result<EncoderResult<'_>, Error> {
        self.work.encode()?;
        Ok(EncoderResult::new(&mut self.work))
    }

    members!(EncoderWork);
}

/// A decoder of [`DefaultRate`].
pub struct DefaultRateDecoder<E: Engine> {
    engine: E,
    work: DecoderWork,
}

impl<E: Engine> RateDecoder<E> for DefaultRateDecoder<E> {
    type Rate = DefaultRate<E>;

    fn add_original_shard<T: AsRef<[u8]>>(&mut self, index: usize, original_shard: T) -> Result<(), Error> {
        self.work.add_original(index, original_shard.as_ref())
    }

    fn add_recovery_shard<T: AsRef<[u8]>>(&mut self, index: usize, recovery_shard: T) -> Result<(), Error> {
        self.work.add_recovery(index, recovery_shard.as_ref())
    }

    fn decode(&mut self) -> Result<DecoderResult<'_>, Error> {
        self.work.decode()?;
        Ok(DecoderResult::new(&mut self.work))
    }

    members!(DecoderWork);
}

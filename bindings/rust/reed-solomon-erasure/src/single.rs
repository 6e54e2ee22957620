//! Encoding of one shard after another.

use crate::codec::ReedSolomon;
use crate::errors::SBSError;
use crate::field::Field;

/// Encodes one data shard in each call, as soon as it is known.
///
/// ```
/// use reed_solomon_erasure::{galois_8::ReedSolomon, shards, ShardByShard};
///
/// let code = ReedSolomon::new(2, 1).unwrap();
/// let mut shards: Vec<Vec<u8>> = shards!([1, 2], [0, 0], [0, 0]);
/// let mut encoder = ShardByShard::new(&code);
/// encoder.encode(&mut shards).unwrap();
/// shards[1] = vec![3, 4];
/// encoder.encode(&mut shards).unwrap();
/// assert!(encoder.parity_ready() && code.verify(&shards).unwrap());
/// ```
#[derive(PartialEq, Debug)]
pub struct ShardByShard<'a, F: 'a + Field> {
    codec: &'a ReedSolomon<F>,
    next: usize,
}

impl<'a, F: 'a + Field> ShardByShard<'a, F> {
    pub fn new(codec: &'a ReedSolomon<F>) -> ShardByShard<'a, F> {
        ShardByShard { codec, next: 0 }
    }

    /// Returns whether all data shards are encoded.
    pub fn parity_ready(&self) -> bool {
        self.next == self.codec.data_shard_count()
    }

    /// Starts again. Returns `LeftoverShards` if some data shards are encoded and not all.
    pub fn reset(&mut self) -> Result<(), SBSError> {
        if self.next > 0 && !self.parity_ready() {
            return Err(SBSError::LeftoverShards);
        }
        self.reset_force();
        Ok(())
    }

    /// Starts again in any case.
    pub fn reset_force(&mut self) {
        self.next = 0;
    }

    /// Returns the index of the next data shard.
    pub fn cur_input_index(&self) -> usize {
        self.next
    }

    /// Encodes the next data shard. Returns `TooManyCalls` if there is none.
    pub fn encode<T, U>(&mut self, shards: T) -> Result<(), SBSError>
    where
        T: AsRef<[U]> + AsMut<[U]>,
        U: AsRef<[F::Elem]> + AsMut<[F::Elem]>,
    {
        self.check_calls()?;
        self.codec.encode_single(self.next, shards).map_err(SBSError::RSError)?;
        self.next += 1;
        Ok(())
    }

    /// `encode` with the data shards apart from the parity shards.
    pub fn encode_sep<T: AsRef<[F::Elem]>, U: AsRef<[F::Elem]> + AsMut<[F::Elem]>>(
        &mut self,
        data: &[T],
        parity: &mut [U],
    ) -> Result<(), SBSError> {
        self.check_calls()?;
        self.codec.check_separate(data, parity).map_err(SBSError::RSError)?;
        self.codec
            .encode_single_sep(self.next, data[self.next].as_ref(), parity)
            .map_err(SBSError::RSError)?;
        self.next += 1;
        Ok(())
    }

    fn check_calls(&self) -> Result<(), SBSError> {
        if self.parity_ready() {
            Err(SBSError::TooManyCalls)
        } else {
            Ok(())
        }
    }
}

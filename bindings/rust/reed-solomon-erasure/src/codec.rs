//! Codes: encoding and verification.

use alloc::vec;

use smallvec::SmallVec;

use crate::cache::Cache;
use crate::errors::Error;
use crate::field::Field;
use crate::linear::Linear;
use crate::matrix::Matrix;

/// Bytes of the computed parities of one step of `verify`.
const CHECKED_BYTES: usize = 128 << 10;
const LEAST_CHECKED: usize = 1 << 10;

/// Pointers to shards, without an allocation up to this number.
pub(crate) type Pointers<P> = SmallVec<[P; 64]>;

/// A Reed-Solomon code: data shards and parity shards, all of one length.
///
/// The matrix is that of the original and of klauspost/reedsolomon: a Vandermonde matrix times the inverse of its upper
/// square.
///
/// # Errors
///
/// Methods return the errors of the original in its order. A wrong number of shards is `TooFewShards` or
/// `TooManyShards` (`..DataShards`, `..ParityShards`, `..BufferShards` if they are separate arguments), a first shard
/// without elements `EmptyShard`, and different lengths are `IncorrectShardSize`. The `reconstruct` methods return
/// `TooFewShardsPresent` if more shards are lost than there are parities, the `single` methods `InvalidIndex` for the
/// index of no data shard.
#[derive(Debug)]
pub struct ReedSolomon<F: Field> {
    data: usize,
    parity: usize,
    /// Row i has the coefficients of shard i, data shards first.
    pub(crate) matrix: Matrix<F>,
    pub(crate) encoder: Linear<F>,
    pub(crate) decoders: Cache<Linear<F>>,
}

impl<F: Field> Clone for ReedSolomon<F> {
    fn clone(&self) -> ReedSolomon<F> {
        ReedSolomon::new(self.data, self.parity).expect("the shape is that of a code")
    }
}

impl<F: Field> PartialEq for ReedSolomon<F> {
    fn eq(&self, other: &ReedSolomon<F>) -> bool {
        (self.data, self.parity) == (other.data, other.parity)
    }
}

impl<F: Field> ReedSolomon<F> {
    /// Makes a code. Returns `TooFewDataShards` or `TooFewParityShards` if a number is 0, and `TooManyShards` if the sum
    /// exceeds `F::ORDER`.
    pub fn new(data_shards: usize, parity_shards: usize) -> Result<ReedSolomon<F>, Error> {
        if data_shards == 0 {
            return Err(Error::TooFewDataShards);
        }
        if parity_shards == 0 {
            return Err(Error::TooFewParityShards);
        }
        let total = data_shards.checked_add(parity_shards).filter(|&total| total <= F::ORDER);
        let total = total.ok_or(Error::TooManyShards)?;

        let powers = Matrix::vandermonde(total, data_shards);
        let top = powers.of_rows(0..data_shards).invert().expect("different elements");
        let matrix: Matrix<F> = powers.multiply(&top);
        let encoder = Linear::new(matrix.of_rows(data_shards..total));
        Ok(ReedSolomon { data: data_shards, parity: parity_shards, matrix, encoder, decoders: Cache::new() })
    }

    pub fn data_shard_count(&self) -> usize {
        self.data
    }

    pub fn parity_shard_count(&self) -> usize {
        self.parity
    }

    pub fn total_shard_count(&self) -> usize {
        self.data + self.parity
    }

    /// Adds one data shard to the parity shards; data shard 0 replaces their contents. The data shards must follow
    /// each other in order, as `ShardByShard` does.
    pub fn encode_single<T, U>(&self, i_data: usize, mut shards: T) -> Result<(), Error>
    where
        T: AsRef<[U]> + AsMut<[U]>,
        U: AsRef<[F::Elem]> + AsMut<[F::Elem]>,
    {
        let shards = shards.as_mut();
        self.check_index(i_data)?;
        self.check_all(shards)?;
        let (data, parity) = shards.split_at_mut(self.data);
        self.add(i_data, data[i_data].as_ref(), parity);
        Ok(())
    }

    /// `encode_single` with the data shard apart from the parity shards.
    pub fn encode_single_sep<U: AsRef<[F::Elem]> + AsMut<[F::Elem]>>(
        &self,
        i_data: usize,
        single_data: &[F::Elem],
        parity: &mut [U],
    ) -> Result<(), Error> {
        self.check_index(i_data)?;
        check_count!(parity, self.parity, TooFewParityShards, TooManyParityShards);
        if length(parity)? != single_data.len() {
            return Err(Error::IncorrectShardSize);
        }
        self.add(i_data, single_data, parity);
        Ok(())
    }

    /// Computes the parity shards.
    pub fn encode<T, U>(&self, mut shards: T) -> Result<(), Error>
    where
        T: AsRef<[U]> + AsMut<[U]>,
        U: AsRef<[F::Elem]> + AsMut<[F::Elem]>,
    {
        let shards = shards.as_mut();
        let len = self.check_all(shards)?;
        let (data, parity) = shards.split_at_mut(self.data);
        self.compute(len, data, parity);
        Ok(())
    }

    /// `encode` with the data shards apart from the parity shards.
    pub fn encode_sep<T: AsRef<[F::Elem]>, U: AsRef<[F::Elem]> + AsMut<[F::Elem]>>(
        &self,
        data: &[T],
        parity: &mut [U],
    ) -> Result<(), Error> {
        let len = self.check_separate(data, parity)?;
        self.compute(len, data, parity);
        Ok(())
    }

    /// Returns whether the parity shards are those of the data shards.
    pub fn verify<T: AsRef<[F::Elem]>>(&self, slices: &[T]) -> Result<bool, Error> {
        let len = self.check_all(slices)?;
        let (data, parity) = slices.split_at(self.data);
        let step = (CHECKED_BYTES / self.parity).max(LEAST_CHECKED).min(len);
        let mut buffer = vec![F::zero(); step * self.parity];
        for start in (0..len).step_by(step) {
            let end = len.min(start + step);
            let mut sources: Pointers<_> =
                data.iter().map(|shard| of_length(shard.as_ref(), len)[start..].as_ptr()).collect();
            let mut targets: Pointers<_> = buffer.chunks_mut(step).map(<[_]>::as_mut_ptr).collect();
            // SAFETY: the pointers are those of parts of slices, of at least end - start elements.
            unsafe { self.encoder.run(end - start, &mut sources, &mut targets) };
            let computed = buffer.chunks(step).map(|computed| &computed[..end - start]);
            if !computed.eq(parity.iter().map(|shard| &shard.as_ref()[start..end])) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether the parity shards are those of the data shards, which it writes to the buffer.
    pub fn verify_with_buffer<T, U>(&self, slices: &[T], buffer: &mut [U]) -> Result<bool, Error>
    where
        T: AsRef<[F::Elem]>,
        U: AsRef<[F::Elem]> + AsMut<[F::Elem]>,
    {
        check_count!(slices, self.total_shard_count(), TooFewShards, TooManyShards);
        check_count!(buffer, self.parity, TooFewBufferShards, TooManyBufferShards);
        let len = length(slices)?;
        if length(buffer)? != len {
            return Err(Error::IncorrectShardSize);
        }
        let (data, parity) = slices.split_at(self.data);
        self.compute(len, data, buffer);
        Ok(buffer.iter().map(AsRef::as_ref).eq(parity.iter().map(AsRef::as_ref)))
    }

    fn check_index(&self, i_data: usize) -> Result<(), Error> {
        if i_data < self.data {
            Ok(())
        } else {
            Err(Error::InvalidIndex)
        }
    }

    /// Checks all shards and returns their length.
    fn check_all<T: AsRef<[F::Elem]>>(&self, shards: &[T]) -> Result<usize, Error> {
        check_count!(shards, self.total_shard_count(), TooFewShards, TooManyShards);
        length(shards)
    }

    /// Checks data and parity shards and returns their length.
    pub(crate) fn check_separate<T, U>(&self, data: &[T], parity: &[U]) -> Result<usize, Error>
    where
        T: AsRef<[F::Elem]>,
        U: AsRef<[F::Elem]>,
    {
        check_count!(data, self.data, TooFewDataShards, TooManyDataShards);
        check_count!(parity, self.parity, TooFewParityShards, TooManyParityShards);
        let len = length(data)?;
        if length(parity)? != len {
            return Err(Error::IncorrectShardSize);
        }
        Ok(len)
    }

    /// Writes the parities of the data shards.
    fn compute<T: AsRef<[F::Elem]>, U: AsMut<[F::Elem]>>(&self, len: usize, data: &[T], parity: &mut [U]) {
        // Not `collect`, whose result is copied.
        let (mut sources, mut targets) = (Pointers::new(), Pointers::new());
        sources.extend(data.iter().map(|shard| of_length(shard.as_ref(), len).as_ptr()));
        targets.extend(parity.iter_mut().map(|shard| start(shard.as_mut(), len)));
        // SAFETY: the pointers are those of slices of `len` elements, and the targets are borrowed mutably.
        unsafe { self.encoder.run(len, &mut sources, &mut targets) }
    }

    /// Adds one data shard to the parities, or writes them if it is the first.
    fn add<U: AsMut<[F::Elem]>>(&self, i_data: usize, shard: &[F::Elem], parity: &mut [U]) {
        for (i, target) in parity.iter_mut().enumerate() {
            let coefficient = self.encoder.matrix().row(i)[i_data];
            if i_data == 0 {
                F::mul_slice(coefficient, shard, target.as_mut());
            } else {
                F::mul_slice_add(coefficient, shard, target.as_mut());
            }
        }
    }
}

/// Returns the length of all shards.
fn length<E, T: AsRef<[E]>>(shards: &[T]) -> Result<usize, Error> {
    let len = shards[0].as_ref().len();
    if len == 0 {
        return Err(Error::EmptyShard);
    }
    if shards.iter().any(|shard| shard.as_ref().len() != len) {
        return Err(Error::IncorrectShardSize);
    }
    Ok(len)
}

/// Returns the slice. Panics if a type's `as_ref` returns slices of different lengths.
fn of_length<E>(slice: &[E], len: usize) -> &[E] {
    assert_eq!(slice.len(), len);
    slice
}

/// Returns the start of the slice. Panics as `of_length` does.
pub(crate) fn start<E>(slice: &mut [E], len: usize) -> *mut E {
    assert_eq!(slice.len(), len);
    slice.as_mut_ptr()
}

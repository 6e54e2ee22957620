//! Shards that may be lost.

use core::iter::{self, FromIterator};

use crate::errors::Error;
use crate::field::Field;

/// A shard of a reconstruction, which may be lost.
#[allow(clippy::len_without_is_empty, clippy::type_complexity)] // the interface of the original
pub trait ReconstructShard<F: Field> {
    /// Returns the number of elements, `None` for a lost shard.
    fn len(&self) -> Option<usize>;

    /// Returns the elements, `None` for a lost shard.
    fn get(&mut self) -> Option<&mut [F::Elem]>;

    /// Returns the elements as `Ok`. For a lost shard, returns memory for `len` elements as `Err(Ok(_))`, or an error
    /// as `Err(Err(_))`.
    fn get_or_initialize(&mut self, len: usize) -> Result<&mut [F::Elem], Result<&mut [F::Elem], Error>>;
}

impl<F: Field, T: AsRef<[F::Elem]> + AsMut<[F::Elem]> + FromIterator<F::Elem>> ReconstructShard<F>
    for Option<T>
{
    fn len(&self) -> Option<usize> {
        self.as_ref().map(|shard| shard.as_ref().len())
    }

    fn get(&mut self) -> Option<&mut [F::Elem]> {
        self.as_mut().map(AsMut::as_mut)
    }

    fn get_or_initialize(&mut self, len: usize) -> Result<&mut [F::Elem], Result<&mut [F::Elem], Error>> {
        let present = self.is_some();
        let shard = self.get_or_insert_with(|| iter::repeat(F::zero()).take(len).collect());
        if present {
            Ok(shard.as_mut())
        } else {
            Err(Ok(shard.as_mut()))
        }
    }
}

impl<F: Field, T: AsRef<[F::Elem]> + AsMut<[F::Elem]>> ReconstructShard<F> for (T, bool) {
    fn len(&self) -> Option<usize> {
        self.1.then(|| self.0.as_ref().len())
    }

    fn get(&mut self) -> Option<&mut [F::Elem]> {
        if self.1 {
            Some(self.0.as_mut())
        } else {
            None
        }
    }

    fn get_or_initialize(&mut self, len: usize) -> Result<&mut [F::Elem], Result<&mut [F::Elem], Error>> {
        let shard = self.0.as_mut();
        if shard.len() != len {
            Err(Err(Error::IncorrectShardSize))
        } else if self.1 {
            Ok(shard)
        } else {
            Err(Ok(shard))
        }
    }
}

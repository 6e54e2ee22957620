//! The result of a decoder.

use crate::rate::DecoderWork;

/// The restored original shards. When it is dropped, the decoder has no shards and is ready for the next round.
pub struct DecoderResult<'a> {
    work: &'a mut DecoderWork,
}

impl<'a> DecoderResult<'a> {
    pub(crate) fn new(work: &'a mut DecoderWork) -> Self {
        Self { work }
    }

    /// Original shard `index`, `None` if the decoder was given that shard or there is no such shard.
    pub fn restored_original(&self, index: usize) -> Option<&[u8]> {
        self.work.restored(index)
    }

    /// All restored shards with their indices, in order.
    pub fn restored_original_iter(&self) -> RestoredOriginal<'_> {
        RestoredOriginal { work: self.work, next: 0, remaining: self.work.missing_count() }
    }
}

impl Drop for DecoderResult<'_> {
    fn drop(&mut self) {
        self.work.forget_shards();
    }
}

/// The iterator of [`DecoderResult::restored_original_iter`].
pub struct RestoredOriginal<'a> {
    work: &'a DecoderWork,
    /// The first index that has not been looked at.
    next: usize,
    remaining: usize,
}

impl<'a> Iterator for RestoredOriginal<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let work = self.work;
        let mut rest = self.next..work.original_count();
        let found = rest.find_map(|index| work.restored(index).map(|shard| (index, shard)));
        self.next = rest.start;
        self.remaining -= usize::from(found.is_some());
        found
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl ExactSizeIterator for RestoredOriginal<'_> {}

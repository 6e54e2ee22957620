//! Errors, with the texts of the original.

use core::fmt;

/// The reason why a call did nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are described with their variants
pub enum Error {
    /// A shard has `got` bytes instead of `shard_bytes`.
    DifferentShardSize { shard_bytes: usize, got: usize },
    /// The decoder already has original shard `index`.
    DuplicateOriginalShardIndex { index: usize },
    /// The decoder already has recovery shard `index`.
    DuplicateRecoveryShardIndex { index: usize },
    /// There is no original shard `index`: indices are below `original_count`.
    InvalidOriginalShardIndex { original_count: usize, index: usize },
    /// There is no recovery shard `index`: indices are below `recovery_count`.
    InvalidRecoveryShardIndex { recovery_count: usize, index: usize },
    /// `shard_bytes` is 0 or odd.
    InvalidShardSize { shard_bytes: usize },
    /// The decoder has fewer shards than `original_count`.
    NotEnoughShards { original_count: usize, original_received_count: usize, recovery_received_count: usize },
    /// The encoder has fewer shards than `original_count`.
    TooFewOriginalShards { original_count: usize, original_received_count: usize },
    /// The encoder already has `original_count` shards.
    TooManyOriginalShards { original_count: usize },
    /// The code has no shape with these numbers of shards.
    UnsupportedShardCount { original_count: usize, recovery_count: usize },
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Error::DifferentShardSize { shard_bytes, got } => {
                write!(out, "different shard size: expected {shard_bytes} bytes, got {got} bytes")
            }
            Error::DuplicateOriginalShardIndex { index } => write!(out, "duplicate original shard index: {index}"),
            Error::DuplicateRecoveryShardIndex { index } => write!(out, "duplicate recovery shard index: {index}"),
            Error::InvalidOriginalShardIndex { original_count, index } => {
                write!(out, "invalid original shard index: {index} >= original_count {original_count}")
            }
            Error::InvalidRecoveryShardIndex { recovery_count, index } => {
                write!(out, "invalid recovery shard index: {index} >= recovery_count {recovery_count}")
            }
            Error::InvalidShardSize { shard_bytes } => {
                write!(out, "invalid shard size: {shard_bytes} bytes (must non-zero and multiple of 2)")
            }
            Error::NotEnoughShards { original_count, original_received_count, recovery_received_count } => write!(
                out,
                "not enough shards: {original_received_count} original + {recovery_received_count} recovery < \
                 {original_count} original_count"
            ),
            Error::TooFewOriginalShards { original_count, original_received_count } => write!(
                out,
                "too few original shards: got {original_received_count} shards while original_count is \
                 {original_count}"
            ),
            Error::TooManyOriginalShards { original_count } => {
                write!(out, "too many original shards: got more than original_count ({original_count}) shards")
            }
            Error::UnsupportedShardCount { original_count, recovery_count } => write!(
                out,
                "unsupported shard count: {original_count} original shards with {recovery_count} recovery shards"
            ),
        }
    }
}

impl core::error::Error for Error {}

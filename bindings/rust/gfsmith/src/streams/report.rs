//! The result of a call that reads shards.

use alloc::vec::Vec;

use super::header::Header;

/// The state of one shard after a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardState {
    /// Position of its reader; `None`: no reader is this shard.
    pub source: Option<usize>,
    /// The header is damaged, and the position of the reader was used as the index.
    pub header_damaged: bool,
    /// The trailer is damaged, or the stream ends too soon.
    pub trailer_damaged: bool,
    /// Bytes follow after the trailer.
    pub too_long: bool,
    /// The reader reported an error.
    pub unreadable: bool,
    /// The call needed this shard.
    pub read: bool,
    /// Lost blocks in a stream that was read.
    pub bad_blocks: u64,
}

impl ShardState {
    /// No damage was found.
    pub fn intact(&self) -> bool {
        let damaged = self.header_damaged || self.trailer_damaged || self.too_long || self.unreadable;
        self.source.is_some() && !damaged && self.bad_blocks == 0
    }
}

/// The set and the state of its shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The parameters of the set.
    pub header: Header,
    /// Bytes of the original.
    pub length: u64,
    /// Number of stripes.
    pub stripes: u64,
    /// XXH3-128 of the original.
    pub checksum: [u8; 16],
    /// Stripes that cannot be repaired; not 0 only after [`verify`](super::verify).
    pub lost_stripes: u64,
    /// Complete stripes whose parities do not match the data; only [`verify`](super::verify) compares them.
    pub false_stripes: u64,
    /// The shards by index.
    pub shards: Vec<ShardState>,
}

impl Report {
    /// All shards are present and without damage, and the parities match the data.
    pub fn intact(&self) -> bool {
        self.shards.iter().all(ShardState::intact) && self.false_stripes == 0 && self.lost_stripes == 0
    }
}

//! Records of the shard format: blocks and trailers.

use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Bytes of a record before its content.
pub const PREFIX: usize = 32;
/// Bytes of a whole trailer.
pub const TRAILER: usize = PREFIX + 24;
/// The kind of a record with a block.
pub const BLOCK_KIND: u32 = 1;
const TRAILER_KIND: u32 = 2;
const SUM: usize = 16;
/// The highest length of an original.
const MAX_LENGTH: u64 = 1 << 62;

/// Return XXH3-128 in canonical form.
pub fn checksum(bytes: &[u8], seed: u64) -> [u8; SUM] {
    xxh3_128_with_seed(bytes, seed).to_be_bytes()
}

/// Return the little-endian integer at an offset.
pub fn get_u32(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

/// Return the little-endian integer at an offset.
pub fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(get_u32(bytes, at)) | u64::from(get_u32(bytes, at + 4)) << 32
}

/// Write the prefix of a record whose content follows it.
pub fn seal(record: &mut [u8], tag: u64, number: u64, kind: u32) {
    let length = (record.len() - PREFIX) as u32;
    record[16..24].copy_from_slice(&number.to_le_bytes());
    record[24..28].copy_from_slice(&length.to_le_bytes());
    record[28..32].copy_from_slice(&kind.to_le_bytes());
    let sum = checksum(&record[SUM..], tag);
    record[..SUM].copy_from_slice(&sum);
}

/// Return the bytes of the content if these bytes begin with a good record.
pub fn open(bytes: &[u8], tag: u64, number: u64, kind: u32, most: usize) -> Option<usize> {
    if bytes.len() < PREFIX || get_u64(bytes, 16) != number || get_u32(bytes, 28) != kind {
        return None;
    }
    let length = get_u32(bytes, 24) as usize;
    if length < 1 || length > most || length > bytes.len() - PREFIX {
        return None;
    }
    (checksum(&bytes[SUM..PREFIX + length], tag) == bytes[..SUM]).then_some(length)
}

/// The content of a trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub stripes: u64,
    pub length: u64,
    pub original: [u8; SUM],
}

impl End {
    /// Return the trailer if these bytes begin with a good one, for stripes of `span` bytes.
    pub fn parse(bytes: &[u8], tag: u64, span: u64) -> Option<End> {
        if bytes.len() < TRAILER {
            return None;
        }
        let (stripes, length) = (get_u64(bytes, 16), get_u64(bytes, PREFIX));
        let size = open(bytes, tag, stripes, TRAILER_KIND, TRAILER - PREFIX)?;
        if size != TRAILER - PREFIX || length > MAX_LENGTH || stripes != length.div_ceil(span) {
            return None;
        }
        let mut original = [0; SUM];
        original.copy_from_slice(&bytes[PREFIX + 8..TRAILER]);
        Some(End { stripes, length, original })
    }

    /// Return the trailer of a shard.
    pub fn record(&self, tag: u64) -> [u8; TRAILER] {
        let mut record = [0; TRAILER];
        record[PREFIX..PREFIX + 8].copy_from_slice(&self.length.to_le_bytes());
        record[PREFIX + 8..].copy_from_slice(&self.original);
        seal(&mut record, tag, self.stripes, TRAILER_KIND);
        record
    }
}

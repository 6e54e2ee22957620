//! Encoding an original into shard streams.

use alloc::vec::Vec;
use std::io::{Read, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::error::{Error, Result};
use super::header::{tag, Header};
use super::lane::{buffer, fill};
use super::record::{seal, End, BLOCK_KIND, PREFIX};
use crate::codec::Codec;

/// Encode `original`, read to its end, into k + m shards, and return its length.
///
/// # Errors
/// [`Error::Header`], [`Error::UnknownCode`], [`Error::Codec`] and [`Error::Count`] before anything is written; [`Error::Read`],
/// [`Error::Write`], [`Error::Canceled`]: the streams then have no trailer.
pub fn split<R: Read, W: Write>(
    header: &Header,
    original: &mut R,
    shards: &mut [W],
    mut progress: impl FnMut(u64) -> bool,
) -> Result<u64> {
    header.check()?;
    let codec = header.codec()?;
    let count = header.count();
    if shards.len() != count {
        return Err(Error::Count { allowed: count..=count, found: shards.len() });
    }
    let blank = |_| buffer(PREFIX + header.block);
    let mut records = (0..count).map(blank).collect::<Result<Vec<_>>>()?;
    let tags = begin(header, shards)?;
    let (mut sum, mut length, mut stripes) = (Xxh3Default::new(), 0, 0);
    loop {
        let size = read_stripe(header, original, &mut records, &mut sum)?;
        if size == 0 {
            break;
        }
        length += size as u64;
        let b = size.div_ceil(header.k);
        encode(&codec, &mut records, b)?;
        for ((record, &tag), shard) in records.iter_mut().zip(&tags).zip(&mut *shards) {
            let record = &mut record[..PREFIX + b];
            seal(record, tag, stripes, BLOCK_KIND);
            shard.write_all(record).map_err(Error::Write)?;
        }
        stripes += 1;
        if !progress(length) {
            return Err(Error::Canceled);
        }
    }
    let end = End { stripes, length, original: sum.digest128().to_be_bytes() };
    for (shard, &tag) in shards.iter_mut().zip(&tags) {
        shard.write_all(&end.record(tag)).and_then(|()| shard.flush()).map_err(Error::Write)?;
    }
    Ok(length)
}

/// Write the headers, and return the tags.
fn begin(header: &Header, shards: &mut [impl Write]) -> Result<Vec<u64>> {
    let write = |(index, shard): (usize, &mut _)| {
        let raw = header.encode(index);
        Write::write_all(shard, &raw).map_err(Error::Write)?;
        Ok(tag(&raw))
    };
    shards.iter_mut().enumerate().map(write).collect()
}

/// Read the data of a stripe into its blocks, and return the bytes read.
fn read_stripe(
    header: &Header,
    original: &mut impl Read,
    records: &mut [Vec<u8>],
    sum: &mut Xxh3Default,
) -> Result<usize> {
    let mut size = 0;
    for record in &mut records[..header.k] {
        let done = fill(original, &mut record[PREFIX..]).map_err(|(_, error)| Error::Read(error))?;
        sum.update(&record[PREFIX..PREFIX + done]);
        record[PREFIX + done..].fill(0);
        size += done;
    }
    let b = size.div_ceil(header.k);
    if size > 0 && b < header.block {
        spread(&mut records[..header.k], header.block, b);
    }
    Ok(size)
}

/// Distribute an incomplete stripe, read as blocks of `block` bytes, into blocks of `b` bytes. The order
/// from the last byte to the first overwrites no byte that is still needed, as b < block.
fn spread(records: &mut [Vec<u8>], block: usize, b: usize) {
    for at in (0..records.len() * b).rev() {
        let (from, to) = ((at / block, at % block), (at / b, at % b));
        records[to.0][PREFIX + to.1] = records[from.0][PREFIX + from.1];
    }
}

fn encode(codec: &Codec, records: &mut [Vec<u8>], b: usize) -> Result<()> {
    let mut blocks: Vec<&mut [u8]> =
        records.iter_mut().map(|record| &mut record[PREFIX..PREFIX + b]).collect();
    let (data, parity) = blocks.split_at_mut(codec.data_shard_count());
    Ok(codec.encode(data, parity)?)
}

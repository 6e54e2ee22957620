//! Calls that read shard streams, stripe by stripe.

use alloc::vec::Vec;
use std::io::{Read, Write};

use xxhash_rust::xxh3::Xxh3Default;

use super::error::{Error, Result};
use super::header::{tag, Header, SIZE};
use super::lane::{fill, Lane};
use super::record::{seal, End, BLOCK_KIND, PREFIX};
use super::report::{Report, ShardState};
use crate::codec::Codec;
use crate::sys::MAX_SHARDS;

/// No writer.
type Nothing = std::io::Sink;

/// Read all shards, in any order, and check everything. Damage is in the report.
///
/// `None` is a missing shard. If the header of a reader is damaged, its position is used as its index: its
/// records then match only if that is its index.
///
/// # Errors
/// [`Error::Format`], [`Error::Mixed`], [`Error::Codec`], [`Error::Canceled`]; [`Error::Damaged`] if no trailer
/// is intact or the original does not have its checksum.
pub fn verify<R: Read>(shards: &mut [Option<R>], progress: impl FnMut(u64) -> bool) -> Result<Report> {
    run(shards, None::<&mut Nothing>, None::<&mut [Option<Nothing>]>, progress)
}

/// Write the original. The data shards are read first, and the parities only if they are needed.
///
/// # Errors
/// As [`verify`], and [`Error::Write`]; [`Error::Codec`] if a stripe cannot be repaired. The writer may have
/// received the beginning of the original, each block of it checked.
pub fn join<R: Read, W: Write>(
    shards: &mut [Option<R>],
    original: &mut W,
    progress: impl FnMut(u64) -> bool,
) -> Result<Report> {
    run(shards, Some(original), None::<&mut [Option<Nothing>]>, progress)
}

/// Write complete shards: `rebuilt` has a writer at the index of each wanted shard.
///
/// # Errors
/// As [`join`], and [`Error::Count`] for more writers than shards. After an error the writers have no trailer.
pub fn repair<R: Read, W: Write>(
    shards: &mut [Option<R>],
    rebuilt: &mut [Option<W>],
    progress: impl FnMut(u64) -> bool,
) -> Result<Report> {
    run(shards, None::<&mut Nothing>, Some(rebuilt), progress)
}

fn run<R: Read, O: Write, W: Write>(
    shards: &mut [Option<R>],
    mut original: Option<&mut O>,
    rebuilt: Option<&mut [Option<W>]>,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Report> {
    let (header, lanes) = place(shards)?;
    let mut set = Set::new(header, lanes, original.is_some(), rebuilt)?;
    loop {
        set.read()?;
        if set.stripes == 0 {
            break;
        }
        set.rebuild()?;
        set.write(&mut original)?;
        if !progress(set.done) {
            return Err(Error::Canceled);
        }
    }
    if let Some(original) = original {
        original.flush().map_err(Error::Write)?;
    }
    set.finish()
}

/// A reader after its header.
struct Found<'a, R> {
    position: usize,
    reader: &'a mut R,
    /// None: the header is damaged.
    index: Option<usize>,
    at_end: bool,
    failed: bool,
}

/// Read the headers, which must be of one set.
fn headers<R: Read>(shards: &mut [Option<R>]) -> Result<(Header, Vec<Found<'_, R>>)> {
    if shards.len() > MAX_SHARDS {
        return Err(Error::Count { allowed: 1..=MAX_SHARDS, found: shards.len() });
    }
    let mut set: Option<(usize, Header)> = None;
    let (mut all, mut fault) = (Vec::new(), None);
    for (position, reader) in shards.iter_mut().enumerate() {
        let Some(reader) = reader else { continue };
        let mut raw = [0; SIZE];
        let (size, failed) = match fill(reader, &mut raw) {
            Ok(size) => (size, false),
            Err((size, _)) => (size, true),
        };
        let mut found = Found { position, reader, index: None, at_end: size < SIZE, failed };
        match Header::parse(&raw[..size]) {
            Ok((header, index)) => {
                let (first, known) = set.get_or_insert_with(|| (position, header.clone()));
                if *known != header {
                    return Err(Error::Mixed(*first, position));
                }
                found.index = Some(index);
            }
            Err(why) => fault = fault.or(Some(why)),
        }
        all.push(found);
    }
    let (_, header) = set.ok_or(Error::Format(fault.unwrap_or("no reader")))?;
    Ok((header, all))
}

/// Give each shard its reader: no index twice.
fn place<R: Read>(shards: &mut [Option<R>]) -> Result<(Header, Vec<Lane<'_, R>>)> {
    let (header, mut all) = headers(shards)?;
    let mut lanes: Vec<_> = (0..header.count()).map(|i| Lane::new(tag(&header.encode(i)))).collect();
    // Positions are indices only of shards that no valid header has.
    all.sort_by_key(|found| found.index.is_none());
    for found in all {
        let Some(lane) = lanes.get_mut(found.index.unwrap_or(found.position)) else { continue };
        match (lane.state.source, found.index) {
            (Some(other), Some(_)) => return Err(Error::Mixed(other, found.position)),
            (Some(_), None) => continue,
            (None, _) => {}
        }
        lane.reader = Some(found.reader);
        lane.at_end = found.at_end;
        lane.state.source = Some(found.position);
        lane.state.header_damaged = found.index.is_none();
        lane.state.unreadable = found.failed;
    }
    Ok((header, lanes))
}

/// The state of a call, at one stripe.
struct Set<'a, R, W> {
    header: Header,
    codec: Codec,
    lanes: Vec<Lane<'a, R>>,
    rebuilt: Option<&'a mut [Option<W>]>,
    /// Without an output a stripe that cannot be repaired is counted.
    output: bool,
    sum: Xxh3Default,
    end: Option<End>,
    /// Number of this stripe.
    number: u64,
    /// 0 after the last stripe, else 1.
    stripes: u64,
    /// Bytes of a block of this stripe.
    bytes: usize,
    lost: bool,
    lost_stripes: u64,
    false_stripes: u64,
    done: u64,
}

impl<'a, R: Read, W: Write> Set<'a, R, W> {
    fn new(
        header: Header,
        lanes: Vec<Lane<'a, R>>,
        joins: bool,
        rebuilt: Option<&'a mut [Option<W>]>,
    ) -> Result<Self> {
        let (codec, output) = (header.codec()?, joins || rebuilt.is_some());
        let (sum, end, bytes, lost) = (Xxh3Default::new(), None, 0, false);
        let (number, stripes, lost_stripes, false_stripes, done) = (0, 0, 0, 0, 0);
        let mut set = Set {
            header,
            codec,
            lanes,
            rebuilt,
            output,
            sum,
            end,
            number,
            stripes,
            bytes,
            lost,
            lost_stripes,
            false_stripes,
            done,
        };
        set.prepare(joins)?;
        Ok(set)
    }

    fn prepare(&mut self, joins: bool) -> Result<()> {
        let (k, count) = (self.header.k, self.header.count());
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            lane.reserve(&self.header)?;
            // An original is joined from the data shards as long as they are intact.
            lane.active = lane.reader.is_some() && (!joins || index < k);
        }
        let Some(rebuilt) = self.rebuilt.as_mut() else {
            return Ok(());
        };
        if rebuilt.len() > count {
            return Err(Error::Count { allowed: 0..=count, found: rebuilt.len() });
        }
        for (index, writer) in rebuilt.iter_mut().enumerate() {
            if let Some(writer) = writer {
                writer.write_all(&self.header.encode(index)).map_err(Error::Write)?;
            }
        }
        Ok(())
    }

    /// Read the records of the next stripe.
    fn read(&mut self) -> Result<()> {
        self.number += self.stripes;
        for lane in self.lanes.iter_mut().filter(|lane| lane.active) {
            lane.read(&self.header, self.number);
        }
        self.measure()?;
        if !self.all_active() && !self.satisfied() {
            for lane in self.lanes.iter_mut().filter(|lane| lane.reader.is_some() && !lane.active) {
                lane.skip(&self.header, self.number);
                lane.read(&self.header, self.number);
            }
            self.measure()?;
        }
        Ok(())
    }

    fn all_active(&self) -> bool {
        self.lanes.iter().all(|lane| lane.active || lane.reader.is_none())
    }

    /// Is there a stripe, and how long are its blocks? A false trailer may state 2^62 bytes, so a stripe
    /// needs bytes of some stream.
    fn measure(&mut self) -> Result<()> {
        for end in self.lanes.iter().filter_map(|lane| lane.end) {
            if *self.end.get_or_insert(end) != end {
                return Err(Error::Damaged);
            }
        }
        self.stripes = u64::from(self.lanes.iter().any(|lane| lane.active && lane.have > 0));
        self.bytes = self.header.block;
        if let Some(end) = self.end {
            let left = end.stripes.saturating_sub(self.number);
            if left == 0 || !self.all_active() {
                self.stripes = left.min(1);
            }
            self.bytes = self.header.block_bytes(end.length, self.number);
        }
        Ok(())
    }

    /// Do the active streams have all data of this stripe, and a trailer at their end?
    fn satisfied(&self) -> bool {
        let data = &self.lanes[..self.header.k];
        let whole = self.stripes == 0 || data.iter().all(|lane| lane.good == self.bytes);
        whole && (self.end.is_some() || !data.iter().all(|lane| lane.at_end))
    }

    fn wants(&self, index: usize) -> bool {
        self.rebuilt.as_ref().is_some_and(|all| all.get(index).is_some_and(Option::is_some))
    }

    /// Check the stripe, and rebuild its lost blocks that are data or wanted.
    fn rebuild(&mut self) -> Result<()> {
        let present: Vec<bool> = self.lanes.iter().map(|lane| lane.good == self.bytes).collect();
        let wanted: Vec<bool> =
            (0..present.len()).map(|i| !present[i] && (i < self.header.k || self.wants(i))).collect();
        for (lane, _) in self.lanes.iter_mut().zip(&present).filter(|(lane, ok)| lane.active && !**ok) {
            lane.state.bad_blocks += 1;
        }
        let mut blocks: Vec<&mut [u8]> =
            self.lanes.iter_mut().map(|lane| &mut lane.bytes[PREFIX..PREFIX + self.bytes]).collect();
        if !self.output && present.iter().all(|&ok| ok) {
            self.false_stripes += u64::from(!self.codec.check(&blocks)?);
        } else if wanted.contains(&true) {
            match self.codec.reconstruct_in_place(&mut blocks, &present, Some(&wanted)) {
                Err(crate::Error::TooManyMissing | crate::Error::Singular) if !self.output => {
                    self.lost = true;
                    self.lost_stripes += 1;
                }
                other => other?,
            }
        }
        for (lane, _) in self.lanes.iter_mut().zip(&wanted).filter(|(_, &lost)| lost) {
            seal(&mut lane.bytes[..PREFIX + self.bytes], lane.tag, self.number, BLOCK_KIND);
        }
        Ok(())
    }

    /// Write the stripe, and continue the checksum of the original.
    fn write<O: Write>(&mut self, original: &mut Option<&mut O>) -> Result<()> {
        let most = self.header.span();
        let mut left = self.end.map_or(most, |end| most.min(end.length - self.done.min(end.length)));
        self.done += left;
        for lane in &self.lanes[..self.header.k] {
            let size = left.min(self.bytes as u64) as usize;
            let block = &lane.bytes[PREFIX..PREFIX + size];
            left -= size as u64;
            if self.lost {
                continue;
            }
            self.sum.update(block);
            if let Some(original) = original {
                original.write_all(block).map_err(Error::Write)?;
            }
        }
        let Some(rebuilt) = self.rebuilt.as_mut() else {
            return Ok(());
        };
        for (lane, writer) in self.lanes.iter().zip(rebuilt.iter_mut()) {
            if let Some(writer) = writer {
                writer.write_all(&lane.bytes[..PREFIX + self.bytes]).map_err(Error::Write)?;
            }
        }
        Ok(())
    }

    /// Compare the numbers and the checksum of the trailer; then write the trailers.
    fn finish(mut self) -> Result<Report> {
        let end = self.end.ok_or(Error::Damaged)?;
        if self.number < end.stripes {
            // No stream has the rest.
            if self.output {
                return Err(crate::Error::TooManyMissing.into());
            }
            self.lost_stripes += end.stripes - self.number;
            self.lost = true;
        } else if self.number > end.stripes {
            return Err(Error::Damaged);
        }
        if !self.lost && self.sum.digest128().to_be_bytes() != end.original {
            return Err(Error::Damaged);
        }
        if let Some(rebuilt) = self.rebuilt {
            for (lane, writer) in self.lanes.iter().zip(rebuilt.iter_mut()) {
                if let Some(writer) = writer {
                    let sealed = writer.write_all(&end.record(lane.tag));
                    sealed.and_then(|()| writer.flush()).map_err(Error::Write)?;
                }
            }
        }
        Ok(Report {
            header: self.header,
            length: end.length,
            stripes: end.stripes,
            checksum: end.original,
            lost_stripes: self.lost_stripes,
            false_stripes: self.false_stripes,
            shards: self.lanes.into_iter().map(state).collect(),
        })
    }
}

fn state<R>(lane: Lane<'_, R>) -> ShardState {
    let trailer_damaged = lane.active && lane.end.is_none();
    ShardState { read: lane.active, trailer_damaged, ..lane.state }
}

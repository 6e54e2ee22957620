//! One shard's stream: its records, stripe by stripe.

use alloc::vec::Vec;
use std::io::{self, Read};

use super::error::Result;
use super::header::Header;
use super::record::{open, End, BLOCK_KIND, PREFIX, TRAILER};
use super::report::ShardState;

/// A record is read with this many bytes more, so that a trailer after an incomplete block is in the same
/// buffer.
const AHEAD: usize = 64;

/// Return zeroed bytes; lack of memory is an error.
pub fn buffer(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| crate::Error::OutOfMemory)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

/// Read until `to` is full or the reader ends; the bytes read, also with an error.
pub fn fill(reader: &mut impl Read, to: &mut [u8]) -> core::result::Result<usize, (usize, io::Error)> {
    let mut done = 0;
    while done < to.len() {
        match reader.read(&mut to[done..]) {
            Ok(0) => break,
            Ok(n) if n <= to.len() - done => done += n,
            Ok(_) => return Err((done, io::Error::other("a reader returned more bytes than it was given"))),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((done, error)),
        }
    }
    Ok(done)
}

/// The stream of a shard, by index.
pub struct Lane<'a, R> {
    pub reader: Option<&'a mut R>,
    pub tag: u64,
    pub active: bool,
    pub at_end: bool,
    pub end: Option<End>,
    pub state: ShardState,
    /// The record of the stripe, and the bytes ahead.
    pub bytes: Vec<u8>,
    pub have: usize,
    /// Bytes of the good block of this stripe, 0 if it is lost.
    pub good: usize,
}

impl<R: Read> Lane<'_, R> {
    pub fn new(tag: u64) -> Self {
        let state = ShardState::default();
        let (bytes, have, good) = (Vec::new(), 0, 0);
        Lane { reader: None, tag, active: false, at_end: true, end: None, state, bytes, have, good }
    }

    pub fn reserve(&mut self, header: &Header) -> Result<()> {
        self.bytes = buffer(PREFIX + header.block + AHEAD)?;
        Ok(())
    }

    fn fill(&mut self, from: usize, to: usize) -> usize {
        let (false, Some(reader)) = (self.at_end, self.reader.as_mut()) else {
            return 0;
        };
        let (done, failed) = match fill(*reader, &mut self.bytes[from..to]) {
            Ok(done) => (done, false),
            Err((done, _)) => (done, true),
        };
        self.state.unreadable |= failed;
        self.at_end = done < to - from;
        done
    }

    /// Begin to read a shard at a later stripe.
    pub fn skip(&mut self, header: &Header, stripe: u64) {
        self.active = true;
        for _ in 0..stripe {
            self.fill(0, PREFIX + header.block);
        }
    }

    /// Read the record of a stripe.
    pub fn read(&mut self, header: &Header, stripe: u64) {
        let pitch = PREFIX + header.block;
        let carry = self.have.saturating_sub(pitch);
        self.bytes.copy_within(pitch..pitch + carry, 0);
        self.have = carry + self.fill(carry, pitch + AHEAD);
        self.good = self.block(header, stripe);
        if self.end.is_none() && self.at_end && self.have >= TRAILER {
            // The length of a damaged last block is unknown: the trailer is at the end of the stream.
            self.end = End::parse(&self.bytes[self.have - TRAILER..self.have], self.tag, header.span());
        }
    }

    fn block(&mut self, header: &Header, stripe: u64) -> usize {
        if self.end.is_some() || self.have == 0 || self.end_at(header, 0, stripe) {
            return 0;
        }
        let bytes = &self.bytes[..self.have];
        let b = open(bytes, self.tag, stripe, BLOCK_KIND, header.block).unwrap_or(0);
        self.end_at(header, PREFIX + if b > 0 { b } else { header.block }, stripe + 1);
        b
    }

    /// Is there a good trailer with this number at `at`?
    fn end_at(&mut self, header: &Header, at: usize, number: u64) -> bool {
        let end = self.bytes[..self.have].get(at..);
        let end = end.and_then(|bytes| End::parse(bytes, self.tag, header.span()));
        let Some(end) = end.filter(|end| end.stripes == number) else {
            return false;
        };
        self.end = Some(end);
        // The buffer has room for more bytes after every trailer.
        self.state.too_long = self.have > at + TRAILER;
        self.at_end = true;
        true
    }
}

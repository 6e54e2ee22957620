//! Headers of the shard format.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};
use std::collections::hash_map::RandomState;

use super::error::{Error, Result};
use super::record::{checksum, get_u32, get_u64};
use crate::codec::Codec;
use crate::sys::MAX_SHARDS;

/// The most bytes of a block.
pub const MAX_BLOCK: usize = 1 << 20;
/// The most bytes of the name of an original.
pub const MAX_NAME: usize = 229;
/// The highest generation.
pub const MAX_GENERATION: u64 = (1 << 53) - 1;

/// Bytes of a header.
pub const SIZE: usize = 512;
const MAGIC: [u8; 8] = [0x89, b'G', b'F', b'S', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u32 = 2;
const POLYNOMIAL: u32 = 0x11d;
const BLOCK_UNIT: usize = 64;
const MAX_CODE: usize = 31;
// Offsets.
const AT_VERSION: usize = 8;
const AT_SET_ID: usize = 16;
const AT_GENERATION: usize = 32;
const AT_INDEX: usize = 40;
const AT_CONTENT: usize = 44;
const AT_K: usize = 52;
const AT_M: usize = 56;
const AT_L: usize = 60;
const AT_BLOCK: usize = 64;
const AT_CODE: usize = 72;
const AT_NAME: usize = 104;
const AT_SUM: usize = 496;

/// The kind of an original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Bytes.
    #[default]
    Bytes,
    /// A tar archive of a folder.
    Tar,
}

/// The parameters of a set of shards, which all of its headers share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// A name of a code, as `gfsmith codes` lists them, or "lrc".
    pub code: String,
    /// Data shards.
    pub k: usize,
    /// Parity shards.
    pub m: usize,
    /// The groups of the code lrc; 0 for all other codes.
    pub l: usize,
    /// Bytes of a block: a multiple of 64, at most [`MAX_BLOCK`].
    pub block: usize,
    /// The kind of the original.
    pub content: Content,
    /// From 1 to [`MAX_GENERATION`]; a new version of the original has a higher one.
    pub generation: u64,
    /// Bytes that make the set unique.
    pub set_id: [u8; 16],
    /// A file name of at most [`MAX_NAME`] bytes, or empty.
    pub name: Vec<u8>,
}

impl Header {
    /// Parameters with blocks of 64 KiB, generation 1, no name and a random set id.
    pub fn new(code: &str, k: usize, m: usize) -> Header {
        Header {
            code: code.into(),
            k,
            m,
            l: 0,
            block: 65536,
            content: Content::Bytes,
            generation: 1,
            set_id: random(),
            name: Vec::new(),
        }
    }

    /// k + m
    pub(crate) fn count(&self) -> usize {
        self.k + self.m
    }

    /// Bytes of the original in a complete stripe.
    pub(crate) fn span(&self) -> u64 {
        self.k as u64 * self.block as u64
    }

    /// Bytes of a block of a stripe, for an original of `length` bytes.
    pub(crate) fn block_bytes(&self, length: u64, stripe: u64) -> usize {
        let rest = length.saturating_sub(stripe.saturating_mul(self.span()));
        rest.div_ceil(self.k as u64).min(self.block as u64) as usize
    }

    pub(crate) fn codec(&self) -> Result<Codec> {
        if self.code == "lrc" {
            return Ok(Codec::local(self.k, self.l, self.m - self.l)?);
        }
        let code = self.code.parse().map_err(|_| Error::UnknownCode(self.code.clone()))?;
        Ok(Codec::new(code, self.k, self.m)?)
    }

    /// The first field that is out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let fault = if self.k < 1 || self.m < 1 || self.k.saturating_add(self.m) > MAX_SHARDS {
            "k and m must each be at least 1, together at most 255"
        } else if self.block < BLOCK_UNIT || self.block > MAX_BLOCK || self.block % BLOCK_UNIT != 0 {
            "the block size must be a multiple of 64, at most 1048576"
        } else if self.generation < 1 || self.generation > MAX_GENERATION {
            "the generation must be 1 to 9007199254740991"
        } else if !is_text(self.code.as_bytes(), MAX_CODE) || self.code.is_empty() {
            "the name of a code has 1 to 31 bytes"
        } else if !self.groups_valid() {
            "lrc has l groups, 1 <= l <= k and l < m; other codes have l = 0"
        } else if !is_text(&self.name, MAX_NAME)
            || self.name.contains(&b'/')
            || self.name == b"."
            || self.name == b".."
        {
            "the name of the original must be a file name of at most 229 bytes"
        } else {
            return Ok(());
        };
        Err(Error::Header(fault))
    }

    fn groups_valid(&self) -> bool {
        if self.code == "lrc" {
            1 <= self.l && self.l <= self.k && self.l < self.m
        } else {
            self.l == 0
        }
    }

    /// The header of one shard; the parameters are valid.
    pub(crate) fn encode(&self, index: usize) -> [u8; SIZE] {
        let mut raw = [0; SIZE];
        let mut put = |at: usize, bytes: &[u8]| raw[at..at + bytes.len()].copy_from_slice(bytes);
        let numbers = [
            (AT_VERSION, VERSION),
            (AT_VERSION + 4, SIZE as u32),
            (AT_INDEX, index as u32),
            (AT_CONTENT, self.content as u32),
            (AT_CONTENT + 4, POLYNOMIAL),
            (AT_K, self.k as u32),
            (AT_M, self.m as u32),
            (AT_L, self.l as u32),
            (AT_BLOCK, self.block as u32),
        ];
        put(0, &MAGIC);
        for (at, number) in numbers {
            put(at, &number.to_le_bytes());
        }
        put(AT_SET_ID, &self.set_id);
        put(AT_GENERATION, &self.generation.to_le_bytes());
        put(AT_CODE, self.code.as_bytes());
        put(AT_NAME, &self.name);
        let sum = checksum(&raw[..AT_SUM], 0);
        raw[AT_SUM..].copy_from_slice(&sum);
        raw
    }

    /// The parameters and the index of a header, or its fault.
    pub(crate) fn parse(raw: &[u8]) -> core::result::Result<(Header, usize), &'static str> {
        if !raw.starts_with(&MAGIC) {
            return Err("not a shard");
        }
        if raw.len() >= AT_VERSION + 4 && get_u32(raw, AT_VERSION) == 1 {
            return Err("a shard of format version 1, which this version does not read");
        }
        if raw.len() < SIZE {
            return Err("truncated: less than a header");
        }
        if checksum(&raw[..AT_SUM], 0) != raw[AT_SUM..] {
            return Err("checksum mismatch in the header");
        }
        if get_u32(raw, AT_VERSION) != VERSION {
            return Err("a shard of an unknown format version");
        }
        let (header, index) = fields(raw)?;
        // Each header has a unique encoding: bytes outside of the fields must be zero.
        if header.encode(index) != raw {
            return Err("a header with junk between its fields");
        }
        Ok((header, index))
    }
}

fn fields(raw: &[u8]) -> core::result::Result<(Header, usize), &'static str> {
    let number = |at: usize| get_u32(raw, at) as usize;
    let content = match number(AT_CONTENT) {
        0 => Content::Bytes,
        1 => Content::Tar,
        _ => return Err("the content must be 0 (bytes) or 1 (a tar archive)"),
    };
    let code = core::str::from_utf8(text(&raw[AT_CODE..=AT_CODE + MAX_CODE]));
    let mut set_id = [0; 16];
    set_id.copy_from_slice(&raw[AT_SET_ID..AT_GENERATION]);
    let header = Header {
        code: code.map_err(|_| "the name of the code is not UTF-8")?.into(),
        k: number(AT_K),
        m: number(AT_M),
        l: number(AT_L),
        block: number(AT_BLOCK),
        content,
        generation: get_u64(raw, AT_GENERATION),
        set_id,
        name: text(&raw[AT_NAME..AT_NAME + 256]).into(),
    };
    match header.check() {
        Err(Error::Header(fault)) => Err(fault),
        _ if number(AT_INDEX) >= header.count() => Err("the index must be less than k + m"),
        _ => Ok((header, number(AT_INDEX))),
    }
}

/// The tag of a shard: the seed of its records' checksums.
pub fn tag(raw: &[u8; SIZE]) -> u64 {
    get_u64(raw, AT_SUM)
}

fn text(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or(field)
}

fn is_text(text: &[u8], most: usize) -> bool {
    text.len() <= most && !text.contains(&0)
}

/// Bytes from the random keys of the standard library's hash tables: std has no other source.
fn random() -> [u8; 16] {
    let half = || RandomState::new().build_hasher().finish();
    ((u128::from(half()) << 64) | u128::from(half())).to_le_bytes()
}

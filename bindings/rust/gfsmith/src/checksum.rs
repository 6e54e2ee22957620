//! Checksums of bytes.

use core::fmt;
use core::str::FromStr;

use crate::error::{count, result, Error, Result};
use crate::sys;

/// A cyclic redundancy check, as its standard defines it.
///
/// A state starts at 0 and always equals the checksum of the bytes so far, so a checksum from a file continues.
///
/// ```
/// use gfsmith::Checksum;
///
/// let first = Checksum::Crc32c.update(0, b"12345")?;
/// assert_eq!(Checksum::Crc32c.update(first, b"6789")?, 0xe306_9283);
/// # Ok::<(), gfsmith::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Checksum {
    /// iSCSI, ext4, Ceph, HDFS.
    Crc32c,
    /// IEEE 802.3, gzip, zlib.
    Crc32,
    /// NVMe, S3.
    Crc64Nvme,
    /// ECMA-182, reflected: xz.
    Crc64Ecma,
    /// ISO 3309, reflected: Go's hash/crc64.
    Crc64Iso,
    /// T10 DIF. The shards of a codec must be multiples of 512 bytes.
    Crc16T10,
}

/// The smaller sector of T10, of which shards with its checksum are multiples.
const T10_SECTOR: usize = 512;

impl Checksum {
    /// All checksums.
    pub const ALL: &'static [Checksum] = &[
        Checksum::Crc32c,
        Checksum::Crc32,
        Checksum::Crc64Nvme,
        Checksum::Crc64Ecma,
        Checksum::Crc64Iso,
        Checksum::Crc16T10,
    ];

    /// Number of bits.
    pub fn bits(self) -> u32 {
        match self {
            Checksum::Crc16T10 => 16,
            Checksum::Crc32c | Checksum::Crc32 => 32,
            Checksum::Crc64Nvme | Checksum::Crc64Ecma | Checksum::Crc64Iso => 64,
        }
    }

    /// The checksum of all bytes. `state` is 0, or the checksum of the bytes before `bytes`.
    ///
    /// # Errors
    /// [`Error::ChecksumBits`].
    pub fn update(self, mut state: u64, bytes: &[u8]) -> Result<u64> {
        self.allow(&[state])?;
        // SAFETY: `bytes.len()` bytes to read, and a valid pointer for the state.
        result(unsafe { sys::checksum_update(self.number(), &mut state, bytes.len(), bytes.as_ptr()) })?;
        Ok(state)
    }

    /// The checksum of two consecutive pieces from the checksum of each, without their bytes. `second` is the
    /// checksum of a piece of `second_length` bytes, computed from 0.
    ///
    /// # Errors
    /// [`Error::ChecksumBits`].
    pub fn combine(self, first: u64, second: u64, second_length: usize) -> Result<u64> {
        self.allow(&[first, second])?;
        let mut state = first;
        // SAFETY: a valid pointer for the state.
        result(unsafe { sys::checksum_combine(self.number(), &mut state, second, second_length) })?;
        Ok(state)
    }

    /// Compute the checksum of every sector, each from 0, for example T10's guard tags. There is one element of
    /// `checksums` for each `sector` bytes; with [`Crc16T10`](Checksum::Crc16T10) a sector has 512 or 4096 bytes.
    ///
    /// # Errors
    /// [`Error::Sector`], [`Error::Sectors`] if `bytes` does not end with a sector, [`Error::Count`].
    pub fn sectors(self, sector: usize, bytes: &[u8], checksums: &mut [u64]) -> Result<()> {
        if sector == 0 || self == Checksum::Crc16T10 && sector != T10_SECTOR && sector != 4096 {
            return Err(Error::Sector { kind: self, sector });
        }
        multiple(bytes.len(), sector)?;
        count("checksums", bytes.len() / sector, checksums.len())?;
        // SAFETY: `bytes.len()` bytes to read, and a number to write for each sector.
        result(unsafe {
            let (from, to) = (bytes.as_ptr(), checksums.as_mut_ptr());
            sys::checksum_sectors(self.number(), sector, bytes.len(), from, to)
        })
    }

    /// The sizes of sectors, for a message.
    pub(crate) fn sector_sizes(self) -> &'static str {
        if self == Checksum::Crc16T10 {
            "512 or 4096"
        } else {
            "1 or more"
        }
    }

    pub(crate) fn number(self) -> sys::Checksum {
        match self {
            Checksum::Crc32c => sys::CRC32C,
            Checksum::Crc32 => sys::CRC32,
            Checksum::Crc64Nvme => sys::CRC64_NVME,
            Checksum::Crc64Ecma => sys::CRC64_ECMA,
            Checksum::Crc64Iso => sys::CRC64_ISO,
            Checksum::Crc16T10 => sys::CRC16_T10,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Checksum::Crc32c => "crc32c",
            Checksum::Crc32 => "crc32",
            Checksum::Crc64Nvme => "crc64_nvme",
            Checksum::Crc64Ecma => "crc64_ecma",
            Checksum::Crc64Iso => "crc64_iso",
            Checksum::Crc16T10 => "crc16_t10",
        }
    }

    /// Refuse numbers with more bits than the checksum has.
    pub(crate) fn allow(self, states: &[u64]) -> Result<()> {
        let wide = states.iter().find(|&&state| state.checked_shr(self.bits()).unwrap_or(0) != 0);
        wide.map_or(Ok(()), |&state| Err(Error::ChecksumBits { kind: self, state }))
    }

    /// Refuse lengths of shards that the checksum does not allow.
    pub(crate) fn allow_length(self, length: usize) -> Result<()> {
        multiple(length, if self == Checksum::Crc16T10 { T10_SECTOR } else { 1 })
    }
}

/// The name in gfsmith_checksum.h, in lower case: "crc32c".
impl fmt::Display for Checksum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// A name as `Display` writes it; [`Error::UnknownChecksum`] for others.
impl FromStr for Checksum {
    type Err = Error;

    fn from_str(name: &str) -> Result<Checksum> {
        Checksum::ALL.iter().copied().find(|kind| kind.name() == name).ok_or(Error::UnknownChecksum)
    }
}

fn multiple(length: usize, sector: usize) -> Result<()> {
    if length % sector == 0 {
        Ok(())
    } else {
        Err(Error::Sectors { length, sector })
    }
}

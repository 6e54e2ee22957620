//! Codes by name, and the location of shards.

use core::ffi::CStr;
use core::fmt;
use core::str::FromStr;

use crate::error::Error;
use crate::sys;

/// A family of codes, over x^8 + x^4 + x^3 + x^2 + 1 (0x11d).
///
/// All except `Lch` give the parity bytes of the libraries named. All except `Vandermonde` repair every
/// loss of as many shards as there are parities, at all of their shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    // begin facts: variants of codes in Rust
    /// ISA-L gf_gen_rs_matrix. Only shapes at which it is MDS.
    Vandermonde,
    /// ISA-L gf_gen_cauchy1_matrix.
    Cauchy,
    /// Backblaze JavaReedSolomon, klauspost/reedsolomon, MinIO, crate reed-solomon-erasure.
    Backblaze,
    /// The transform of Lin, Chung, Han (FOCS 2014) over M = 2^ceil(log2 m) points.
    Lch,
    /// Jerasure cauchy_original_coding_matrix, w = 8.
    CauchyOrig,
    /// Jerasure cauchy_good_general_coding_matrix, w = 8.
    CauchyGood,
    /// J. S. Plank's tutorial (1997); Drucker, Gueron, Krasnov (2019): j^(i-1), i and j from 1. Only shapes at which it is MDS.
    PlankVandermonde,
    /// Jerasure reed_sol_vandermonde_coding_matrix, w = 8; Ceph's default.
    ReedSolVan,
    /// Jerasure reed_sol_r6_coding_matrix, w = 8. k >= 1, m = 2, k + m <= 255.
    ReedSolR6Op,
    /// Hadoop RSUtil.genCauchyMatrix: RS-3-2, RS-6-3, RS-10-4.
    Hdfs,
    /// Linux md and btrfs RAID-6: H. P. Anvin, The mathematics of RAID-6. k >= 1, m = 2, k + m <= 255.
    Raid6,
    /// OpenZFS RAID-Z1, Z2 and Z3 (vdev_raidz). k >= 1, 1 <= m <= 3, k + m <= 255.
    RaidZ,
    /// SnapRAID, up to six parities. 1 <= k <= 251, 1 <= m <= 6, k + m <= 255.
    SnapRaid,
    /// Zfec, after L. Rizzo's fec; Tahoe-LAFS.
    Zfec,
    // end facts
}

impl Code {
    /// All codes.
    pub const ALL: &'static [Code] = &[
        // begin facts: codes in Rust
        Code::Vandermonde,
        Code::Cauchy,
        Code::Backblaze,
        Code::Lch,
        Code::CauchyOrig,
        Code::CauchyGood,
        Code::PlankVandermonde,
        Code::ReedSolVan,
        Code::ReedSolR6Op,
        Code::Hdfs,
        Code::Raid6,
        Code::RaidZ,
        Code::SnapRaid,
        Code::Zfec,
        // end facts
    ];

    /// Numbers of data shards k and parity shards m that the code has.
    pub fn shapes(self) -> &'static str {
        match self {
            // begin facts: shapes of codes in Rust
            Code::SnapRaid => "1 <= k <= 251, 1 <= m <= 6, k + m <= 255",
            Code::RaidZ => "k >= 1, 1 <= m <= 3, k + m <= 255",
            Code::ReedSolR6Op | Code::Raid6 => "k >= 1, m = 2, k + m <= 255",
            _ => "k >= 1, m >= 1, k + m <= 255",
            // end facts
        }
    }

    /// Names of projects that write this code.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            // begin facts: aliases of codes in Rust
            Code::Backblaze => &["klauspost", "minio", "seaweedfs", "reed-solomon-erasure"],
            Code::Hdfs => &["hadoop"],
            Code::Raid6 => &["md", "btrfs"],
            Code::RaidZ => &["zfs", "openzfs"],
            Code::Zfec => &["tahoe-lafs"],
            _ => &[],
            // end facts
        }
    }

    pub(crate) fn c_name(self) -> &'static CStr {
        match self {
            // begin facts: names of codes in Rust
            Code::Vandermonde => c"vandermonde",
            Code::Cauchy => c"cauchy",
            Code::Backblaze => c"backblaze",
            Code::Lch => c"lch",
            Code::CauchyOrig => c"cauchy_orig",
            Code::CauchyGood => c"cauchy_good",
            Code::PlankVandermonde => c"plank_vandermonde",
            Code::ReedSolVan => c"reed_sol_van",
            Code::ReedSolR6Op => c"reed_sol_r6_op",
            Code::Hdfs => c"hdfs",
            Code::Raid6 => c"raid6",
            Code::RaidZ => c"raidz",
            Code::SnapRaid => c"snapraid",
            Code::Zfec => c"zfec",
            // end facts
        }
    }
}

/// The name in gfsmith.h: "vandermonde".
impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.c_name().to_str().unwrap_or("")) // names are ASCII
    }
}

/// A name in gfsmith.h, or that of a project that writes the code: "minio". [`Error::UnknownCode`] for others.
impl FromStr for Code {
    type Err = Error;

    fn from_str(name: &str) -> Result<Code, Error> {
        let called =
            |code: &Code| code.c_name().to_bytes() == name.as_bytes() || code.aliases().contains(&name);
        Code::ALL.iter().copied().find(called).ok_or(Error::UnknownCode)
    }
}

/// Location of the shards of a codec's calls, which affects the speed but not the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Hint {
    /// Estimated from the size of each call.
    #[default]
    Auto,
    /// In cache.
    Cached,
    /// In memory, and the output is not read soon; has an effect only on outputs at multiples of 64 bytes.
    Streaming,
}

impl Hint {
    pub(crate) fn number(self) -> sys::Hint {
        match self {
            Hint::Auto => sys::HINT_AUTO,
            Hint::Cached => sys::HINT_CACHED,
            Hint::Streaming => sys::HINT_STREAMING,
        }
    }
}

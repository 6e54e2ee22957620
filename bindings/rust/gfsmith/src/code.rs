//! Codes by name, and the location of shards.

use core::ffi::CStr;

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
    pub(crate) fn name(self) -> &'static CStr {
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

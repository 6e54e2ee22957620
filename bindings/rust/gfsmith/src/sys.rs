//! The C interface of the exported header, without the prefix in the names. The header documents the
//! functions; the rest of this crate is the safe interface.
//!
//! tests/system/bindings/rust/test_bindings.py compares this file with bindgen's output for the header.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// `gfsmith_codec`.
#[repr(C)]
pub struct Codec {
    _private: [u8; 0],
}

/// `gfsmith_plan`.
#[repr(C)]
pub struct Plan {
    _private: [u8; 0],
}

/// `gfsmith_sketch`.
#[repr(C)]
pub struct Sketch {
    _private: [u8; 0],
}

/// `gfsmith_wide`.
#[repr(C)]
pub struct Wide {
    _private: [u8; 0],
}

/// The second parameter of [`Run`].
pub type Task = Option<unsafe extern "C" fn(argument: *mut c_void, index: c_uint)>;
/// The function of an executor.
pub type Run =
    Option<unsafe extern "C" fn(context: *mut c_void, tasks: c_uint, task: Task, argument: *mut c_void)>;

/// `gfsmith_executor`.
#[repr(C)]
pub struct Executor {
    pub run: Run,
    pub context: *mut c_void,
    pub workers: c_uint,
    pub least: usize,
}

/// `gfsmith_status`; `gfsmith_hint`; `gfsmith_checksum`.
pub type Status = c_int;
pub type Hint = c_uint;
pub type Checksum = c_uint;

pub const MAX_SHARDS: usize = 255;

// begin facts: statuses in Rust
pub const OK: Status = 0;
pub const EINVAL: Status = -1;
pub const ENOMEM: Status = -2;
pub const ENOTMDS: Status = -3;
pub const ETOOMANY: Status = -4;
pub const EUNSUPPORTED: Status = -5;
pub const ESINGULAR: Status = -6;
// end facts

pub const HINT_AUTO: Hint = 0;
pub const HINT_CACHED: Hint = 1;
pub const HINT_STREAMING: Hint = 2;

pub const CRC32C: Checksum = 0;
pub const CRC32: Checksum = 1;
pub const CRC64_NVME: Checksum = 2;
pub const CRC64_ECMA: Checksum = 3;
pub const CRC64_ISO: Checksum = 4;
pub const CRC16_T10: Checksum = 5;

pub const INTACT: u16 = 0xffff;
pub const UNEXPLAINED: u16 = 0xfffe;

macro_rules! library {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        extern "C" {
            $(
                #[link_name = concat!(env!("GFSMITH_PREFIX"), "_", stringify!($name))]
                pub fn $name($($argument: $type),*) $(-> $result)?;
            )*
        }
    };
}

library! {
    fn codec_create(out: *mut *mut Codec, code: *const c_char, k: c_uint, m: c_uint) -> Status;
    fn codec_create_matrix(
        out: *mut *mut Codec, polynomial: c_uint, k: c_uint, m: c_uint, parity: *const u8
    ) -> Status;
    fn codec_create_lrc(out: *mut *mut Codec, k: c_uint, l: c_uint, r: c_uint) -> Status;
    fn codec_hint(codec: *mut Codec, hint: Hint) -> Status;
    fn codec_packets(codec: *mut Codec, packet: usize) -> Status;
    fn codec_destroy(codec: *mut Codec);
    fn encode(codec: *const Codec, len: usize, data: *const *const u8, parity: *const *mut u8) -> Status;
    fn append(
        codec: *const Codec, len: usize, data_index: c_uint, data: *const u8, parity: *const *mut
        u8, first: bool
    ) -> Status;
    fn update(
        codec: *const Codec, len: usize, data_index: c_uint, delta: *const u8, parity: *const *mut
        u8
    ) -> Status;
    fn update_many(
        codec: *const Codec, len: usize, count: c_uint, indices: *const c_uint, deltas: *const
        *const u8, parity: *const *mut u8
    ) -> Status;
    fn reconstruct(
        codec: *const Codec, len: usize, shards: *const *mut u8, present: *const bool, wanted:
        *const bool
    ) -> Status;
    fn check(codec: *const Codec, len: usize, shards: *const *const u8, ok: *mut bool) -> Status;
    fn locate(
        codec: *const Codec, len: usize, shards: *const *const u8, counts: *mut usize, where_: *mut
        u16
    ) -> Status;
    fn correct(
        codec: *const Codec, len: usize, shards: *const *mut u8, present: *const bool, counts: *mut
        usize, found: *mut u16
    ) -> Status;
    fn encode_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, data: *const *const u8,
        parity: *const *mut u8
    ) -> Status;
    fn append_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, data_index: c_uint,
        data: *const u8, parity: *const *mut u8, first: bool
    ) -> Status;
    fn update_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, data_index: c_uint,
        delta: *const u8, parity: *const *mut u8
    ) -> Status;
    fn update_many_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, count: c_uint,
        indices: *const c_uint, deltas: *const *const u8, parity: *const *mut u8
    ) -> Status;
    fn reconstruct_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, shards: *const *mut u8,
        present: *const bool, wanted: *const bool
    ) -> Status;
    fn check_parallel(
        codec: *const Codec, executor: *const Executor, len: usize, shards: *const *const u8,
        ok: *mut bool
    ) -> Status;
    fn encode_stripes(
        codec: *const Codec, len: usize, count: usize, data: *const *const u8, parity: *const *mut
        u8
    ) -> Status;
    fn update_stripes(
        codec: *const Codec, len: usize, count: usize, indices: *const c_uint, deltas: *const
        *const u8, parity: *const *mut u8
    ) -> Status;
    fn reconstruct_stripes(
        codec: *const Codec, len: usize, count: usize, shards: *const *mut u8, present: *const
        bool, wanted: *const bool
    ) -> Status;
    fn check_stripes(
        codec: *const Codec, len: usize, count: usize, shards: *const *const u8, ok: *mut bool
    ) -> Status;
    fn prefetch(codec: *const Codec, len: usize, data: *const *const u8) -> Status;
    fn plan_create(
        out: *mut *mut Plan, codec: *const Codec, present: *const bool, wanted: *const bool
    ) -> Status;
    fn plan_reads(plan: *const Plan, count: *mut c_uint) -> *const u8;
    fn plan_targets(plan: *const Plan, count: *mut c_uint) -> *const u8;
    fn plan_matrix(plan: *const Plan) -> *const u8;
    fn plan_is_least(plan: *const Plan) -> bool;
    fn plan_run(plan: *const Plan, len: usize, shards: *const *mut u8) -> Status;
    fn plan_destroy(plan: *mut Plan);
    fn determined(codec: *const Codec, present: *const bool, determined: *mut bool) -> Status;
    fn checksum_update(kind: Checksum, state: *mut u64, len: usize, data: *const u8) -> Status;
    fn checksum_sectors(
        kind: Checksum, sector: usize, len: usize, data: *const u8, checksums: *mut u64
    ) -> Status;
    fn checksum_combine(kind: Checksum, state: *mut u64, second: u64, second_len: usize) -> Status;
    fn encode_checksums(
        codec: *const Codec, kind: Checksum, len: usize, data: *const *const u8,
        parity: *const *mut u8, states: *mut u64
    ) -> Status;
    fn encode_stripes_checksums(
        codec: *const Codec, kind: Checksum, len: usize, count: usize, data: *const *const u8,
        parity: *const *mut u8, states: *mut u64
    ) -> Status;
    fn reconstruct_checksums(
        codec: *const Codec, kind: Checksum, len: usize, shards: *const *mut u8,
        present: *const bool, wanted: *const bool, states: *mut u64, expected: *const u64,
        wrong: *mut bool
    ) -> Status;
    fn check_checksums(
        codec: *const Codec, kind: Checksum, len: usize, shards: *const *const u8,
        states: *mut u64, ok: *mut bool
    ) -> Status;
    fn sketch_create(out: *mut *mut Sketch, polynomial: c_uint) -> Status;
    fn sketch_destroy(sketch: *mut Sketch);
    fn sketch_add(
        sketch: *const Sketch, sum: *mut u8, offset: u64, len: usize, data: *const u8
    ) -> Status;
    fn wide_granule(code: *const c_char) -> usize;
    fn wide_shapes(code: *const c_char) -> *const c_char;
    fn wide_has_shape(code: *const c_char, k: c_uint, m: c_uint) -> bool;
    fn wide_create(out: *mut *mut Wide, code: *const c_char, k: c_uint, m: c_uint) -> Status;
    fn wide_destroy(wide: *mut Wide);
    fn wide_encode_stripes(
        wide: *const Wide, len: usize, count: usize, data: *const *const u8, parity: *const *mut u8
    ) -> Status;
    fn wide_reconstruct_stripes(
        wide: *const Wide, len: usize, count: usize, shards: *const *mut u8, present: *const bool,
        wanted: *const bool
    ) -> Status;
    fn wide_encode_parallel(
        wide: *const Wide, executor: *const Executor, len: usize, data: *const *const u8,
        parity: *const *mut u8
    ) -> Status;
    fn wide_reconstruct_parallel(
        wide: *const Wide, executor: *const Executor, len: usize, shards: *const *mut u8,
        present: *const bool, wanted: *const bool
    ) -> Status;
    fn check_kernels(compared: *mut c_uint, compiled: *mut c_uint) -> *const c_char;
    fn isa() -> *const c_char;
    fn set_isa(name: *const c_char) -> Status;
}

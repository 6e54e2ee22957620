//! Checksums of crc-fast, crc32fast and zlib-ng: functions of bench/checksums/checksum_peer.h.

use std::slice::from_raw_parts;

const CRC32C: u32 = 0;
const CRC32: u32 = 1;
const CRC64_NVME: u32 = 2;

/// The buffers of a call.
#[repr(C)]
pub struct Buffers {
    base: *const u8,
    order: *const u32,
    count: usize,
    len: usize,
    pitch: usize,
}

impl Buffers {
    /// The sum (XOR) of the checksums of all buffers.
    fn sum(&self, checksum: impl Fn(&[u8]) -> u64) -> u64 {
        let order = unsafe { from_raw_parts(self.order, self.count) };
        order.iter().fold(0, |sum, &n| {
            let at = unsafe { self.base.add(n as usize * self.pitch) };
            sum ^ checksum(unsafe { from_raw_parts(at, self.len) })
        })
    }
}

/// # Safety
/// See checksum_peer.h.
#[no_mangle]
pub unsafe extern "C" fn sum_crc_fast(check: u32, buffers: *const Buffers) -> u64 {
    let buffers = &*buffers;
    match check {
        CRC32C => buffers.sum(|data| crc_fast::crc32_iscsi(data).into()),
        CRC32 => buffers.sum(|data| crc_fast::crc32_iso_hdlc(data).into()),
        CRC64_NVME => buffers.sum(crc_fast::crc64_nvme),
        _ => unreachable!("no such check"),
    }
}

/// # Safety
/// See checksum_peer.h.
#[no_mangle]
pub unsafe extern "C" fn sum_crc32fast(_check: u32, buffers: *const Buffers) -> u64 {
    (*buffers).sum(|data| crc32fast::hash(data).into())
}

/// # Safety
/// See checksum_peer.h.
#[no_mangle]
pub unsafe extern "C" fn sum_zlib_ng(_check: u32, buffers: *const Buffers) -> u64 {
    (*buffers).sum(|data| libz_ng_sys::crc32(0, data.as_ptr(), data.len() as _).into())
}

//! Features of the CPU that kernels require: on x86-64 by the names of Intel's manual (SDM volume 2, CPUID).

/// Returns whether CPU and operating system support a feature.
#[cfg(target_arch = "x86_64")]
pub fn has(feature: &str) -> bool {
    let (basic, extended) = (leaf(1), leaf(7));
    let ssse3 = bit(basic.ecx, 9);
    let avx = bit(basic.ecx, 28) && saves(&basic, 0b110);
    let avx512 = avx && bit(extended.ebx, 16) && saves(&basic, 0b1110_0110);
    match feature {
        "SSSE3" => ssse3,
        "AVX" => avx,
        "AVX2" => avx && bit(extended.ebx, 5),
        "BMI2" => bit(extended.ebx, 8),
        "GFNI" => bit(extended.ecx, 8),
        "AVX512F" => avx512,
        "AVX512BW" => avx512 && bit(extended.ebx, 30),
        "AVX512VL" => avx512 && bit(extended.ebx, 31),
        _ => false,
    }
}

/// Returns whether the program may use a feature: 64-bit Arm has Advanced SIMD, other processors have no kernels.
#[cfg(not(target_arch = "x86_64"))]
pub fn has(feature: &str) -> bool {
    cfg!(target_arch = "aarch64") && feature == "ASIMD"
}

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};

/// Returns the registers of a leaf, zeros if the CPU has no such leaf.
#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // newer compilers regard CPUID as safe
fn leaf(number: u32) -> CpuidResult {
    // SAFETY: every x86-64 CPU has CPUID.
    unsafe {
        if number <= __cpuid_count(0, 0).eax {
            __cpuid_count(number, 0)
        } else {
            CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 }
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn bit(register: u32, number: u32) -> bool {
    register >> number & 1 != 0
}

/// Returns whether the operating system saves these parts of the registers (SDM volume 1, 13.3).
#[cfg(target_arch = "x86_64")]
fn saves(basic: &CpuidResult, parts: u64) -> bool {
    #[target_feature(enable = "xsave")]
    unsafe fn enabled() -> u64 {
        _xgetbv(0)
    }
    // SAFETY: OSXSAVE states that XGETBV is available.
    bit(basic.ecx, 27) && unsafe { enabled() } & parts == parts
}

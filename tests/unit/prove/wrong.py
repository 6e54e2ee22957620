"""Wrong kernels with one error each, grouped by the check that must reject them, as changes of generated
kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.prove.assembly import NAME


@dataclass(frozen=True)
class Change:
    """In kernel `base`, the nth line equal to `old` becomes `new`; the refutation's
    reason contains the expected words.
    """

    what: str
    base: str
    old: str
    new: str
    says: str
    nth: int = 0
    abi: str = "sysv"


VALUE = [
    Change("wrong operand", "dot", "vpxor ymm5, ymm5, ymm7", "vpxor ymm5, ymm5, ymm6", "must be"),
    Change("product left out", "dot", "vpxor ymm5, ymm5, ymm7", "", "must be"),
    Change("wrong entry", "dot", "vbroadcasti128 ymm3, [rdx+32]", "vbroadcasti128 ymm3, [rdx]", "must be"),
    Change("wrong nibble", "dot", "vbroadcasti128 ymm2, [rdx+16]", "vbroadcasti128 ymm2, [rdx]", "must be"),
    Change("wrong source", "dot", "mov rsi, [rcx+8]", "mov rsi, [rcx]", "must be"),
    Change("wrong shift", "dot", "vpsrlq ymm6, ymm5, 4", "vpsrlq ymm6, ymm5, 3", "must be"),
    Change(
        "constant added",
        "mad",
        "vgf2p8affineqb zmm1, zmm1, zmm0, 0",
        "vgf2p8affineqb zmm1, zmm1, zmm0, 1",
        "must be",
    ),
    Change("sum not cleared", "any", "pxor xmm1, xmm1", "", "must be"),
    Change("sum not cleared in the tail", "any", "pxor xmm1, xmm1", "", "must be", nth=1),
    Change(
        "dot that adds to dst",
        "dot",
        "vpxor ymm5, ymm5, ymm7",
        "vpxor ymm5, ymm5, ymm7\nvpxor ymm5, ymm5, [r9+rax]",
        "must be",
    ),
    Change("mask of a byte less", "mad", "bzhi r11, r11, rdi", "sub rdi, 1\nbzhi r11, r11, rdi", "only"),
    Change(
        "mask of a byte more", "mad", "bzhi r11, r11, rdi", "add rdi, 1\nbzhi r11, r11, rdi", "beyond its end"
    ),
    Change(
        "mask of 32 bytes at most", "mad", "bzhi r11, r11, rdi", "bzhi r11, r11, rdi\nmov r11d, r11d", "only"
    ),
    Change("mad that does not add", "mad", "vpxord zmm1, zmm1, [r9+rax]", "", "must be"),
    Change(
        "36 sources at most",
        "any",
        "shl rsi, 3",
        "cmp rsi, 37\njb few\nmov esi, 36\nfew:\nshl rsi, 3",
        "must be",
    ),
    Change(
        "255 sources at most",
        "any",
        "shl rsi, 3",
        "cmp rsi, 256\njb few\nmov esi, 255\nfew:\nshl rsi, 3",
        "must be",
    ),
    Change(
        "255 bytes at most",
        "dot",
        "xor eax, eax",
        "xor eax, eax\ncmp rdi, 256\njb few\nmov edi, 255\nfew:",
        "bytes are written",
    ),
    Change("last byte left out", "dot", "mov [r11], r10b", "", "bytes are written"),
    Change("tail left out", "dot", "test rdi, rdi", "jmp L13\ntest rdi, rdi", "are written"),
    Change("block left out", "dot", "vmovdqu [r9+rax], ymm5", "", "are written"),
]

_SECOND = "vgf2p8affineqb zmm5, zmm3, [r9+16]{1to8}, 0"
_REST = "vgf2p8affineqb zmm3, zmm2, [r9]{1to8}, 0"

#: A loop over pairs of sources, and a remaining source.
PAIRS = [
    Change("second entry is the first's", "pairs", _SECOND, _SECOND.replace("+16", ""), "must be"),
    Change("second source is the first", "pairs", "mov r11, [r10]", "mov r11, [r10-8]", "must be"),
    Change("sources change places", "pairs", _SECOND, _SECOND.replace("zmm3", "zmm2"), "must be"),
    Change(
        "second product left out",
        "pairs",
        "vpternlogd zmm0, zmm4, zmm5, 150",
        "vpxord zmm0, zmm0, zmm4",
        "must be",
    ),
    Change("a pair with only one source", "pairs", "jb L1", "jbe L1", "beyond its end"),
    Change("pairs overlap", "pairs", "add r10, 16", "add r10, 8", "beyond its end"),
    Change("entries run ahead", "pairs", "add r9, 32", "add r9, 48", "beyond its end"),
    Change("rest omitted for odd k", "pairs", "jne L3", "jmp L3", "must be"),
    Change("rest for odd k alone", "pairs", "jne L3", "je L3", "beyond its end"),
    Change("rest for even k too", "pairs", "jne L3", "", "beyond its end"),
    Change("rest is the pair's second", "pairs", _REST, _REST.replace("r9", "r9+16"), "beyond its end"),
    Change("starts one source early", "pairs", "lea r10, [rcx+8]", "mov r10, rcx", "before its first byte"),
    Change("starts one source late", "pairs", "lea r10, [rcx+8]", "lea r10, [rcx+16]", "must be"),
]

_POLYNOMIAL, _OTHER = 0x1D1D1D1D, 0x1B1B1B1B

#: Sums multiplied by 2 (and by 4) before each source is added.
HORNER = [
    Change("sum not doubled", "horner", "vpaddb ymm5, ymm2, ymm2", "vmovdqa ymm5, ymm2", "must be"),
    Change("carry lost", "horner", "vpxor ymm5, ymm5, ymm6", "", "must be"),
    Change("modulo 0x11b", "horner", f"mov r11d, {_POLYNOMIAL}", f"mov r11d, {_OTHER}", "must be"),
    Change(
        "carry of another sum",
        "horner",
        "vpcmpgtb ymm6, ymm6, ymm2",
        "vpcmpgtb ymm6, ymm6, ymm3",
        "must be",
    ),
    Change("R doubled once", "horner", "vpxor ymm3, ymm6, ymm4", "vpxor ymm3, ymm5, ymm4", "must be"),
    Change(
        "R doubled once in the tail",
        "horner",
        "vpxor ymm3, ymm6, ymm4",
        "vpxor ymm3, ymm5, ymm4",
        "must be",
        nth=1,
    ),
    Change("P is Q", "horner", "vmovdqu [r11+rax], ymm1", "vmovdqu [r11+rax], ymm2", "must be"),
    Change("Q begins with P", "horner", "vpxor ymm2, ymm2, ymm2", "", "must be"),
    Change("every other source", "horner", "sub r10, 8", "sub r10, 16", "must be"),
    Change("starts behind the last source", "horner", "mov r10, rsi", "lea r10, [rsi+8]", "beyond its end"),
    Change("the first source twice", "horner", "mov r11, [rcx+r10]", "mov r11, [rcx]", "must be"),
    Change(
        "carry of the source", "shuffle", "vpshufb zmm5, zmm0, zmm2", "vpshufb zmm5, zmm0, zmm3", "must be"
    ),
    Change("carry inverted", "shuffle", "vpxord zmm5, zmm5, zmm0", "", "must be"),
]

BUTTERFLIES = [
    Change("wrong map", "fft", "vpbroadcastq zmm1, [rdx+8]", "vpbroadcastq zmm1, [rdx]", "must be"),
    Change("maps transposed", "fft", "vpbroadcastq zmm1, [rdx+8]", "vpbroadcastq zmm1, [rdx+16]", "must be"),
    Change(
        "entry behind the table",
        "fft",
        "vpbroadcastq zmm3, [rdx+24]",
        "vpbroadcastq zmm3, [rdx+32]",
        "beyond its end",
    ),
    Change("planes of x exchanged", "fft", "mov rbx, [rcx+8]", "mov rbx, [rcx]", "must be"),
    Change("y without x", "fft", "vpxord zmm4, zmm4, zmm16", "", "must be"),
    Change(
        "y without the product", "fft", "vpxord zmm5, zmm5, zmm17", "vpxord zmm5, zmm5, [rbx+rax]", "must be"
    ),
    Change(
        "y stored before it is read", "fft", "vmovdqu8 zmm5, [rcx+rax]", "vmovdqu8 [r8+rax], zmm4", "must be"
    ),
    Change(
        "x loaded after a destination is written",
        "ifft",
        "vmovdqu8 [r9+rax], zmm1",
        "vmovdqu8 [r8+rax], zmm2\nvmovdqu8 zmm1, [rdx+rax]\nvpxord zmm1, zmm1, zmm3\nvmovdqu8 [r9+rax], zmm1",
        "overwritten in place",
    ),
    Change(
        "product of y alone",
        "ifft",
        "vgf2p8affineqb zmm3, zmm2, zmm0, 0",
        "vmovdqu8 zmm3, [rcx+rax]\nvgf2p8affineqb zmm3, zmm3, zmm0, 0",
        "must be",
    ),
    Change(
        "product of y alone in the tail",
        "ifft",
        "vpxord zmm2, zmm2, zmm1",
        "vmovdqu8 zmm3, zmm2\nvpxord zmm2, zmm2, zmm1\nvmovdqu8 zmm2, zmm3",
        "must be",
    ),
    Change(
        "first matrix is the second",
        "fft4",
        "vpbroadcastq zmm0, [rdx]",
        "vpbroadcastq zmm0, [rdx+32]",
        "must be",
    ),
    Change(
        "third matrix is the second",
        "fft4",
        "vpbroadcastq zmm18, [rdx+64]",
        "vpbroadcastq zmm18, [rdx+32]",
        "must be",
    ),
    Change(
        "entry behind three matrices",
        "fft4",
        "vpbroadcastq zmm21, [rdx+88]",
        "vpbroadcastq zmm21, [rdx+96]",
        "beyond its end",
    ),
    Change("element y is z", "fft4", "mov r11, [rcx+32]", "mov r11, [rcx+48]", "must be"),
    Change("z without x", "fft4", "vpxord zmm24, zmm24, zmm28", "", "must be"),
    Change(
        "second layer multiplies z before its sum",
        "fft4",
        "vgf2p8affineqb zmm6, zmm24, zmm18, 0",
        "mov r11, [rcx+48]\nvmovdqu8 zmm6, [r11+rax]\nvgf2p8affineqb zmm6, zmm6, zmm18, 0",
        "must be",
    ),
    Change(
        "matrices of the layers exchanged",
        "ifft4",
        "vpbroadcastq zmm2, [rdx+8]",
        "vpbroadcastq zmm2, [rdx]\nvpbroadcastq zmm0, [rdx+8]",
        "must be",
    ),
    Change(
        "constant in a product of a product",
        "fft4",
        "vgf2p8affineqb zmm30, zmm28, zmm4, 0",
        "vgf2p8affineqb zmm30, zmm28, zmm4, 1",
        "must be",
    ),
    Change(
        "second layer left out in the tail",
        "fft4",
        "vpternlogd zmm31, zmm23, zmm6, 150",
        "vmovdqu8 zmm31, zmm23",
        "must be",
    ),
    Change(
        "first layer with the third matrix",
        "ifft4",
        "vgf2p8affineqb zmm18, zmm17, zmm2, 0",
        "vgf2p8affineqb zmm18, zmm17, zmm1, 0",
        "must be",
    ),
    Change(
        "product of a product of a product",
        "fft4",
        "vgf2p8affineqb zmm30, zmm28, zmm4, 0",
        "vgf2p8affineqb zmm30, zmm28, zmm4, 0\nvgf2p8affineqb zmm30, zmm30, zmm0, 0",
        "must be",
    ),
    Change("sum of the second layer left out", "ifft4", "vpxord zmm5, zmm5, zmm17", "", "must be"),
    Change("y and z exchanged", "ifft4", "mov rbp, [rcx+16]", "mov rbp, [rcx+24]", "must be"),
    Change(
        "matrix of the other block",
        "fft16",
        "vpbroadcastq zmm2, [rdx+16]",
        "vpbroadcastq zmm2, [rdx+8]",
        "must be",
    ),
    Change(
        "last matrix is the one before",
        "fft16",
        "vgf2p8affineqb zmm19, zmm25, [rdx+112]{1to8}, 0",
        "vgf2p8affineqb zmm19, zmm25, [rdx+104]{1to8}, 0",
        "must be",
    ),
    Change(
        "entry behind 15 matrices",
        "fft16",
        "vgf2p8affineqb zmm19, zmm25, [rdx+112]{1to8}, 0",
        "vgf2p8affineqb zmm19, zmm25, [rdx+120]{1to8}, 0",
        "beyond its end",
    ),
    Change("last element is the one before", "fft16", "mov r11, [rcx+120]", "mov r11, [rcx+112]", "must be"),
    Change("pointer behind 16", "fft16", "mov r11, [r8+120]", "mov r11, [r8+128]", "beyond its end"),
    Change("sum of the third layer left out", "fft16", "vpxord zmm11, zmm11, zmm13", "", "must be"),
    Change("product of the fourth layer left out", "fft16", "vpxord zmm14, zmm12, zmm14", "", "must be"),
    Change(
        "layers exchanged",
        "ifft16",
        "vpbroadcastq zmm1, [rdx+16]",
        "vpbroadcastq zmm1, [rdx+24]",
        "must be",
    ),
    Change("a destination twice", "ifft16", "mov r11, [r8+120]", "mov r11, [r8+112]", "must be"),
    Change(
        "a matrix of the inverse",
        "refft16",
        "vgf2p8affineqb zmm30, zmm26, [rdx+64]{1to8}, 0",
        "vgf2p8affineqb zmm30, zmm26, [rdx+184]{1to8}, 0",
        "must be",
    ),
    Change(
        "the entry of a matrix that is 0",
        "refft16",
        "vgf2p8affineqb zmm30, zmm26, [rdx+64]{1to8}, 0",
        "vgf2p8affineqb zmm30, zmm26, [rdx+56]{1to8}, 0",
        "must be",
    ),
    Change(
        "entry behind 30 matrices",
        "refft16",
        "vgf2p8affineqb zmm26, zmm25, [rdx+232]{1to8}, 0",
        "vgf2p8affineqb zmm26, zmm25, [rdx+240]{1to8}, 0",
        "beyond its end",
    ),
    Change("sum without a product left out", "refft16", "vpxord zmm28, zmm13, zmm17", "", "must be"),
]

LINES = [
    Change("low bytes are high bytes", "from lines", "mov r11, [rcx+8]", "mov r11, [rcx]", "must be"),
    Change(
        "the other bytes of the line",
        "from lines",
        "vmovdqu ymm3, [r11+rax*2]",
        "vmovdqu ymm3, [r11+rax*2+32]",
        "in its part of a line",
    ),
    Change(
        "a byte of the other plane",
        "from lines",
        "vmovdqu ymm3, [r11+rax*2]",
        "vmovdqu ymm3, [r11+rax*2+1]",
        "in its part of a line",
    ),
    Change(
        "the next line",
        "from lines",
        "vmovdqu ymm3, [r11+rax*2]",
        "vmovdqu ymm3, [r11+rax*2+64]",
        "beyond its end",
    ),
    Change(
        "the line before",
        "from lines",
        "vmovdqu ymm3, [r11+rax*2]",
        "vmovdqu ymm3, [r11+rax*2-64]",
        "before its first byte",
    ),
    Change(
        "basis not changed",
        "from lines",
        "vpxor ymm7, ymm7, [r15+rax*2]",
        "vmovdqu ymm7, [r15+rax*2]",
        "must be",
    ),
    Change(
        "the entry beside the change",
        "from lines",
        "vpbroadcastq ymm0, [rdx+96]",
        "vpbroadcastq ymm0, [rdx+104]",
        "must be",
    ),
    Change(
        "the entry behind the change",
        "from lines",
        "vpbroadcastq ymm0, [rdx+96]",
        "vpbroadcastq ymm0, [rdx+112]",
        "beyond its end",
    ),
    Change(
        "planes as lines",
        "to lines",
        "vmovdqu ymm3, [r11+rax]",
        "vmovdqu ymm3, [r11+rax*2]",
        "beyond its end",
    ),
    Change(
        "stores to the other plane",
        "to lines",
        "vmovdqu [r9+rax*2], ymm7",
        "vmovdqu [r9+rax*2+32], ymm7",
        "in its part of a line",
    ),
    Change(
        "change of the low byte",
        "to lines",
        "vgf2p8affineqb ymm9, ymm8, ymm0, 0",
        "vgf2p8affineqb ymm9, ymm7, ymm0, 0",
        "must be",
    ),
    Change(
        "planes instead of lines",
        "from lines",
        "vmovdqu ymm3, [r11+rax*2]",
        "vmovdqu ymm3, [r11+rax]",
        "in its part of a line",
    ),
    Change(
        "stores planes instead of lines",
        "to lines",
        "vmovdqu [r9+rax*2], ymm7",
        "vmovdqu [r9+rax], ymm7",
        "in its part of a line",
    ),
    Change(
        "the product of another element",
        "products from lines",
        "vpbroadcastq ymm11, [rdx+96]",
        "vpbroadcastq ymm11, [rdx+128]",
        "must be",
    ),
    Change(
        "the entry of the other byte",
        "products from lines",
        "vpbroadcastq ymm12, [rdx+216]",
        "vpbroadcastq ymm12, [rdx+208]",
        "must be",
    ),
    Change(
        "the entry behind the products",
        "products from lines",
        "vpbroadcastq ymm12, [rdx+216]",
        "vpbroadcastq ymm12, [rdx+224]",
        "beyond its end",
    ),
    Change(
        "an element without its product",
        "products from lines",
        "vgf2p8affineqb ymm3, ymm3, ymm12, 0",
        "vmovdqu ymm3, ymm3",
        "must be",
    ),
    Change(
        "a product of the wrong byte",
        "products to lines",
        "vgf2p8affineqb ymm12, ymm8, ymm12, 0",
        "vgf2p8affineqb ymm12, ymm7, ymm12, 0",
        "must be",
    ),
    Change(
        "half of a product",
        "products to lines",
        "vpxor ymm9, ymm9, ymm12",
        "",
        "must be",
    ),
    Change(
        "stores a product to the other plane",
        "products to lines",
        "vmovdqu [r9+rax*2], ymm9",
        "vmovdqu [r9+rax*2+32], ymm9",
        "in its part of a line",
    ),
    Change(
        "the product of another element of one plane",
        "products",
        "vpbroadcastq zmm2, [rdx+32]",
        "vpbroadcastq zmm2, [rdx+40]",
        "must be",
    ),
    Change(
        "the map of a layer instead of a product",
        "products",
        "vpbroadcastq zmm1, [rdx+24]",
        "vpbroadcastq zmm1, [rdx+16]",
        "must be",
    ),
    Change(
        "the entry behind the products of one plane",
        "products behind",
        "vpbroadcastq zmm16, [rdx+48]",
        "vpbroadcastq zmm16, [rdx+56]",
        "beyond its end",
    ),
    Change(
        "an element of one plane without its product",
        "products behind",
        "vgf2p8affineqb zmm20, zmm20, zmm4, 0",
        "",
        "must be",
    ),
    Change(
        "the same line twice",
        "from two lines",
        "vinserti64x4 zmm23, zmm23, [r15+rax*2+64], 1",
        "vinserti64x4 zmm23, zmm23, [r15+rax*2], 1",
        "must be",
    ),
    Change(
        "the second line in the lower half",
        "from two lines",
        "vinserti64x4 zmm23, zmm23, [r15+rax*2+64], 1",
        "vinserti64x4 zmm23, zmm23, [r15+rax*2+64], 0",
        "must be",
    ),
    Change(
        "the line behind the second one",
        "from two lines",
        "vinserti64x4 zmm30, zmm30, [r11+rax*2+64], 1",
        "vinserti64x4 zmm30, zmm30, [r11+rax*2+128], 1",
        "beyond its end",
    ),
    Change(
        "the other plane in the second line",
        "from two lines",
        "vinserti64x4 zmm30, zmm30, [r11+rax*2+64], 1",
        "vinserti64x4 zmm30, zmm30, [r11+rax*2+32], 1",
        "in its part of a line",
    ),
    Change(
        "two lines instead of the last one",
        "from two lines",
        "vmovdqu8 ymm23, [r15+rax*2]",
        "vmovdqu8 ymm23, [r15+rax*2]\nvinserti64x4 zmm23, zmm23, [r15+rax*2+64], 1",
        "beyond its end",
        nth=1,
    ),
    Change(
        "the lower half in both lines",
        "to two lines",
        "vextracti64x4 [r9+rax*2+64], zmm27, 1",
        "vextracti64x4 [r9+rax*2+64], zmm27, 0",
        "must be",
    ),
    Change(
        "the last line left out",
        "to two lines",
        "vmovdqu8 [r9+rax*2], ymm23",
        "",
        "bytes are written",
    ),
    Change(
        "two lines at the end",
        "to two lines",
        "vmovdqu8 [r9+rax*2], ymm23",
        "vmovdqu8 [r9+rax*2], zmm23",
        "in its part of a line",
    ),
    Change("every other line", "to lines", "add rax, 32", "add rax, 64", "beyond its end"),
    Change("last line left out", "to lines", "cmp rdi, 32", "cmp rdi, 64", "bytes are written", nth=1),
]

BOUNDS = [
    Change(
        "reads 1 byte past the end",
        "dot",
        "vmovdqu ymm5, [r10+rax]",
        "vmovdqu ymm5, [r10+rax+1]",
        "beyond its end",
    ),
    Change(
        "reads 1 byte before the start",
        "dot",
        "vmovdqu ymm5, [r10+rax]",
        "vmovdqu ymm5, [r10+rax-1]",
        "before its first byte",
    ),
    Change("reads a vector of a short shard", "dot", "jb L1", "", "beyond its end"),
    Change("reads a vector in the tail", "dot", "vmovd xmm6, [r11]", "vmovdqu xmm6, [r11]", "beyond its end"),
    Change(
        "reads two bytes of one",
        "dot",
        "movzx r11d, byte ptr [r11]",
        "movzx r11d, word ptr [r11]",
        "beyond its end",
    ),
    Change("loop bound off by one", "dot", "cmp rdi, 32", "cmp rdi, 31", "beyond its end", nth=1),
    Change(
        "writes 1 byte past the end",
        "dot",
        "vmovdqu [r9+rax], ymm5",
        "vmovdqu [r9+rax+1], ymm5",
        "dst[0] beyond its end",
    ),
    Change(
        "writes 1 byte before the start",
        "dot",
        "vmovdqu [r9+rax], ymm5",
        "vmovdqu [r9+rax-1], ymm5",
        "dst[0] before",
    ),
    Change(
        "writes a vector in the tail",
        "mad",
        "vmovdqu8 [r9+rax]{k1}, zmm1",
        "vmovdqu8 [r9+rax], zmm1",
        "dst[0] beyond its end",
    ),
    Change(
        "reads a vector, mask forgotten",
        "mad",
        "vmovdqu8 zmm2{k1}{z}, [r10+rax]",
        "vmovdqu8 zmm2, [r10+rax]",
        "src[0] beyond its end",
    ),
    Change(
        "reads 512 bits of a step of 256",
        "narrow",
        "vmovdqu8 ymm1, [r10+rax]",
        "vmovdqu8 zmm1, [r10+rax]",
        "src[0] beyond its end",
    ),
    Change(
        "reads 256 bits, mask forgotten",
        "narrow",
        "vmovdqu8 ymm2{k1}{z}, [r10+rax]",
        "vmovdqu8 ymm2, [r10+rax]",
        "src[0] beyond its end",
    ),
    Change("accesses memory for len = 0", "dot", "je L13", "", "beyond its end"),
    Change("reads one source too many", "any", "add rsi, rcx", "lea rsi, [rsi+rcx+8]", "beyond its end"),
    Change("reads past the pointers", "dot", "mov rsi, [rcx+8]", "mov rsi, [rcx+16]", "&srcs beyond its end"),
    Change(
        "reads between two pointers", "dot", "mov rsi, [rcx+8]", "mov rsi, [rcx+4]", "between two pointers"
    ),
    Change(
        "reads past the table",
        "dot",
        "vbroadcasti128 ymm4, [rdx+48]",
        "vbroadcasti128 ymm4, [rdx+49]",
        "&coeffs beyond its end",
    ),
    Change(
        "writes a source", "dot", "vmovdqu [r9+rax], ymm5", "vmovdqu [r10+rax], ymm5", "not to a destination"
    ),
    Change(
        "writes the table", "dot", "vmovdqu [r9+rax], ymm5", "vmovdqu [rdx], ymm5", "not to a destination"
    ),
    Change(
        "writes the pointers", "dot", "vmovdqu [r9+rax], ymm5", "vmovdqu [r8], ymm5", "not to a destination"
    ),
    Change("reads an absolute address", "dot", "xor eax, eax", "xor eax, eax\nmov r11, [rax]", "outside"),
]

_AFFINE = "vgf2p8affineqb zmm{0}, zmm{0}, zmm0, 0"
_MUL = """movdqu [r10+rax], xmm5
movdqu xmm3, [rbx+rax]
movdqa xmm4, xmm3
psrlq xmm4, 4
pand xmm4, xmm0
pand xmm3, xmm0
movdqa xmm5, xmm1
pshufb xmm5, xmm3
movdqa xmm3, xmm2
pshufb xmm3, xmm4
pxor xmm5, xmm3
movdqu [r10+rax], xmm5"""

#: All three compute the destination twice: right, unless the destination overwrites the source.
ALIASING = [
    Change(
        "mad reads a source after a store",
        "mad",
        "vmovdqu8 [r9+rax], zmm1",
        "vmovdqu8 zmm2, [r9+rax]\nvmovdqu8 [r9+rax], zmm1\nvmovdqu8 zmm1, [r10+rax]\n"
        + _AFFINE.format(1)
        + "\nvpxord zmm1, zmm1, zmm2\nvmovdqu8 [r9+rax], zmm1",
        "in place",
    ),
    Change("mul reads a source after a store", "mul", "movdqu [r10+rax], xmm5", _MUL, "in place"),
    Change(
        "the tail does",
        "mad",
        "vmovdqu8 [r9+rax]{k1}, zmm1",
        "vmovdqu8 zmm3{k1}{z}, [r9+rax]\nvmovdqu8 [r9+rax]{k1}, zmm1\nvmovdqu8 zmm2{k1}{z}, [r10+rax]\n"
        + _AFFINE.format(2)
        + "\nvpxord zmm3, zmm3, zmm2\nvmovdqu8 [r9+rax]{k1}, zmm3",
        "in place",
    ),
]

ABI = [
    Change("no landing pad", "dot", "endbr64", "nop", "endbr64"),
    Change("clobbers rbx", "dot", "ret", "xor ebx, ebx\nret", "rbx is not preserved"),
    Change(
        "clobbers r15 for short shards",
        "dot",
        "mov [r11], r10b",
        "mov [r11], r10b\nmov r15, rax",
        "r15 is not preserved",
    ),
    Change("clobbers rsi", "dot", "pop rsi", "add rsp, 8", "rsi is not preserved", abi="ms"),
    Change(
        "restores the wrong register", "dot", "pop rdi", "pop rsi\npop rdi\nret", "is not preserved", abi="ms"
    ),
    Change(
        "clobbers xmm6",
        "mad",
        "vzeroupper",
        "vpxor xmm6, xmm6, xmm6\nvzeroupper",
        "xmm6 is not preserved",
        abi="ms",
    ),
    Change(
        "restores xmm7 from the wrong place",
        "dot",
        "movaps xmm7, [rsp+16]",
        "movaps xmm7, [rsp]",
        "xmm7 is not preserved",
        abi="ms",
    ),
    Change("pushes without pop", "dot", "ret", "push rax\nret", "rsp differs"),
    Change("pops without push", "mul", "pop rbx", "pop rbx\npop r11", "rsp differs"),
    Change("overwrites the return address", "dot", "ret", "mov [rsp], rax\nret", "caller's frame"),
    Change("overwrites the caller's frame", "dot", "ret", "mov [rsp+16], rax\nret", "caller's frame"),
    Change("uses shadow space without any", "dot", "ret", "mov [rsp+8], rax\nret", "caller's frame"),
    Change(
        "writes above the shadow space", "mad", "ret", "mov [rsp+40], rax\nret", "caller's frame", abi="ms"
    ),
    Change("writes below the red zone", "dot", "ret", "mov [rsp-136], rax\nret", "signal handler"),
    Change("writes below rsp", "mad", "ret", "mov [rsp-8], rax\nret", "signal handler", abi="ms"),
    Change(
        "reads popped stack",
        "mad",
        "ret",
        "push rax\npop r11\nmov r11, [rsp-8]\nret",
        "put nothing",
        abi="ms",
    ),
    Change(
        "reads bytes below the red zone",
        "dot",
        "ret",
        "sub rsp, 136\nmov [rsp], rax\nadd rsp, 136\nsub rsp, 136\nmov r11, [rsp]\nadd rsp, 136\nret",
        "put nothing",
    ),
    Change("stack depends on the length", "mad", "je L2", "je L2\npush rax", "stack pointer depends"),
    Change("loses the stack pointer", "mad", "ret", "mov rsp, rcx\nret", "stack pointer is lost"),
    Change("no vzeroupper", "dot", "vzeroupper", "", "upper halves"),
    Change("no 0 returned", "dot", "xor eax, eax", "", "rax is not 0", nth=1),
    Change("1 returned", "mad", "xor eax, eax", "mov eax, 1", "rax is not 0", nth=1),
    Change("no sfence", "stream", "sfence", "", "fence"),
    Change("streams without a look at the alignment", "stream", "jne L1", "", "aligned"),
    Change("streams with half the alignment", "stream", "test r11, 31", "test r11, 15", "aligned"),
    Change("reads k, which is undefined", "mad", "xor eax, eax", "xor eax, eax\ncmp rsi, 5\nja L2", "junk"),
    Change(
        "reads a register that is not an argument",
        "mad",
        "xor eax, eax",
        "add rax, rbx\nadd r9, r11\nxor eax, eax",
        "junk",
    ),
    Change("takes rax for 0", "mad", "xor eax, eax", "", "rax"),
]

LEAKS = [
    Change(
        "branches on data",
        "mad",
        "vpxord zmm1, zmm1, [r9+rax]",
        "vmovq r11, xmm1\ntest r11, r11\nje L2\nvpxord zmm1, zmm1, [r9+rax]",
        "data",
    ),
    Change(
        "compares data",
        "mad",
        "vpxord zmm1, zmm1, [r9+rax]",
        "vmovd r11d, xmm1\ncmp r11, 3\nje L2\nvpxord zmm1, zmm1, [r9+rax]",
        "data",
    ),
    Change(
        "branches on the table",
        "mad",
        "xor eax, eax",
        "xor eax, eax\nmov r11, [rdx]\ntest r11, r11\nje L2",
        "data",
    ),
    Change(
        "looks up by data",
        "mad",
        "vpxord zmm1, zmm1, [r9+rax]",
        "vpxord zmm1, zmm1, [r9+rax]\nmovzx r11d, byte ptr [r10+rax]\nmovzx r11d, byte ptr [rdx+r11]",
        "depends on r11",
    ),
    Change(
        "prefetches by data",
        "mad",
        "vpxord zmm1, zmm1, [r9+rax]",
        "vpxord zmm1, zmm1, [r9+rax]\nmovzx r11d, byte ptr [r10+rax]\nprefetcht0 [rdx+r11]",
        "depends on r11",
    ),
]

ENCODING = [
    Change("EVEX in avx2", "dot", "vpxor ymm5, ymm5, ymm7", "vpxord ymm5, ymm5, ymm7", "AVX512"),
    Change(
        "xmm16 in avx2",
        "dot",
        "vpxor ymm5, ymm5, ymm7",
        "vpxor ymm5, ymm5, ymm7\nvmovdqu8 xmm16, xmm0",
        "AVX512",
    ),
    Change("GFNI in avx2", "dot", "vpxor ymm5, ymm5, ymm7", "vgf2p8affineqb ymm5, ymm5, ymm7, 0", "GFNI"),
    Change("VEX in sse", "any", "pxor xmm1, xmm1", "vpxor xmm1, xmm1, xmm1", "AVX"),
    Change("SSE4.1 in sse", "any", "pxor xmm1, xmm1", "pinsrd xmm1, eax, 0", "SSE4_1"),
    Change("AES", "any", "pxor xmm1, xmm1", "pxor xmm1, xmm1\naesenc xmm4, xmm4", "AES"),
]

COVERAGE = [
    Change("an instruction past the end", "dot", "ret", "ret\nxor eax, eax\nret", "never reached"),
    Change(
        "a branch that is never taken",
        "dot",
        "mov r10, rcx",
        "xor esi, esi\ntest rsi, rsi\nje on\nxor eax, eax\non:\nlea rsi, [rcx+16]\nmov r10, rcx",
        "never reached",
    ),
    Change("jumps past the end", "dot", "ret", "jmp . + 4096", "leaves the function"),
    Change("jumps before the start", "dot", "ret", "jmp . - 4096", "leaves the function"),
    Change("runs over the end", "dot", "ret", "", "leaves the function"),
    Change("no instruction", "dot", "ret", ".byte 6", "no valid instruction"),
]

WRONG = VALUE + PAIRS + HORNER + BUTTERFLIES + LINES + BOUNDS + ALIASING + ABI + LEAKS + ENCODING + COVERAGE

UNKNOWN = [
    Change("last source omitted", "horner", "mov r10, rsi", "lea r10, [rsi-8]", "wrap around"),
    Change(
        "five maps of a byte",
        "fft16",
        "vgf2p8affineqb zmm14, zmm13, zmm17, 0",
        "vgf2p8affineqb zmm14, zmm13, zmm17, 0\nvgf2p8affineqb zmm14, zmm14, zmm0, 0",
        "a product of products",
    ),
    # With one source, the end is passed before it is compared, and addresses outside of the array may wrap.
    Change(
        "one source too few", "any", "add rsi, rcx", "lea rsi, [rsi+rcx-8]", "may wrap around in a comparison"
    ),
    Change(
        "XOR instead of a lookup",
        "dot",
        "vpshufb ymm5, ymm1, ymm5",
        "vpxor ymm5, ymm1, ymm5",
        "raw table bytes",
    ),
    Change(
        "a table that is not linear",
        "dot",
        "vpshufb ymm5, ymm1, ymm5",
        "vpsrldq xmm8, xmm0, 1\nvpshufb ymm5, ymm8, ymm5",
        "not linear",
    ),
    Change("an index that exceeds 15", "dot", "vpand ymm5, ymm5, ymm0", "", "may exceed 15"),
    Change("no semantics", "dot", "vpxor ymm5, ymm5, ymm7", "vpaddw ymm5, ymm5, ymm7", "no semantics"),
    Change("a sum with carries", "dot", "vpxor ymm5, ymm5, ymm7", "vpaddb ymm5, ymm5, ymm7", "symbolic"),
    Change("returns with a number of bytes", "dot", "ret", "ret 8", "ret"),
    Change("never ends for long shards", "dot", "jae L0", "spin: jae spin", "too many iterations"),
    Change("never ends for many sources", "any", "jb L1", "more: jb more\njmp L1", "too many iterations"),
    Change("a call", "dot", "ret", f"call {NAME}\nret", "call"),
    Change("an indirect jump", "dot", "ret", "jmp rax", "jmp"),
    Change("a trap", "dot", "ret", "ud2", "ud2"),
    Change("the direction flag", "dot", "ret", "std\nret", "no semantics"),
    Change("a loop instruction", "any", "jae L0", "loopne L0", "loopne"),
    Change("byte-sized length", "dot", "xor eax, eax", "movzx edi, dil\nxor eax, eax", "cut to 1 bytes"),
    Change("byte-sized comparison", "dot", "cmp rdi, 32", "cmp dil, 32", "cmp", nth=1),
    Change("half-sized length", "dot", "xor eax, eax", "mov edi, edi\nxor eax, eax", "arithmetic on LowHalf"),
    Change("half-sized comparison", "dot", "cmp rdi, 32", "cmp edi, 32", "cut to 4 bytes", nth=1),
    Change(
        "byte-sized number of sources", "any", "shl rsi, 3", "movzx esi, sil\nshl rsi, 3", "cut to 1 bytes"
    ),
    Change("signed length", "dot", "jb L1", "jl L1", "wrap around"),
    Change("signed length in the loop", "dot", "jae L0", "jge L0", "wrap around"),
]

FINE = [
    Change("another test for one remaining", "pairs", "jne L3", "ja L3", ""),
    Change("uses xmm6", "mad", "vzeroupper", "vpxor xmm6, xmm6, xmm6\nvzeroupper", ""),
    Change("uses shadow space", "mad", "ret", "mov [rsp+8], rax\nmov [rsp+32], rdx\nret", "", abi="ms"),
    Change("uses the red zone", "dot", "ret", "mov [rsp-8], rax\nmov [rsp-128], rax\nret", ""),
    Change("saves and restores rbx", "mad", "ret", "push rbx\nxor ebx, ebx\npop rbx\nret", "", abi="ms"),
    Change(
        "dot reads a source after a store",
        "dot",
        "vmovdqu [r9+rax], ymm5",
        "vmovdqu [r9+rax], ymm5\nvmovdqu ymm5, [r10+rax]",
        "",
    ),
    Change(
        "mad reads a source after a store and drops it",
        "mad",
        "vmovdqu8 [r9+rax], zmm1",
        "vmovdqu8 [r9+rax], zmm1\nvmovdqu8 zmm1, [r10+rax]",
        "",
    ),
    Change("k is copied, not looked at", "mad", "xor eax, eax", "mov rax, rsi\nxor eax, eax", ""),
]

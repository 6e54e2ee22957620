//! Checksums of bytes and of shards against a division bit by bit, and arguments that are refused.

mod common;

use common::{bytes, data, shards};
use gfsmith::{Checksum, Code, Codec, Error};

/// Polynomial without its highest term, reflected order of bits and inversion, and the checksum of "123456789".
fn standard(kind: Checksum) -> (u64, bool, u64) {
    match kind {
        Checksum::Crc32c => (0x1edc_6f41, true, 0xe306_9283),
        Checksum::Crc32 => (0x04c1_1db7, true, 0xcbf4_3926),
        Checksum::Crc64Nvme => (0xad93_d235_94c9_3659, true, 0xae8b_1486_0a79_9888),
        Checksum::Crc64Ecma => (0x42f0_e1eb_a9ea_3693, true, 0x995d_c9bb_df19_39fa),
        Checksum::Crc64Iso => (0x1b, true, 0xb909_56c7_75a4_1001),
        Checksum::Crc16T10 => (0x8bb7, false, 0xd0db),
        other => panic!("{other}"),
    }
}

/// The checksum of all bytes after `state`, bit by bit.
fn divide(kind: Checksum, state: u64, bytes: &[u8]) -> u64 {
    let (polynomial, reflected, _) = standard(kind);
    let (bits, mask) = (kind.bits(), u64::MAX >> (64 - kind.bits()));
    let inversion = if reflected { mask } else { 0 };
    let mut register = state ^ inversion;
    if reflected {
        register = register.reverse_bits() >> (64 - bits);
    }
    for &byte in bytes {
        let byte = if reflected { byte.reverse_bits() } else { byte };
        register ^= u64::from(byte) << (bits - 8);
        for _ in 0..8 {
            let carry = register >> (bits - 1) & 1;
            register = (register << 1 & mask) ^ (polynomial * carry);
        }
    }
    if reflected {
        register = register.reverse_bits() >> (64 - bits);
    }
    register ^ inversion
}

fn sums(kind: Checksum, shards: &[Vec<u8>], states: &[u64]) -> Vec<u64> {
    shards.iter().zip(states).map(|(shard, &state)| divide(kind, state, shard)).collect()
}

fn lengths(kind: Checksum) -> &'static [usize] {
    if kind == Checksum::Crc16T10 {
        &[0, 512, 1024, 70_144]
    } else {
        &[0, 1, 63, 512, 1025, 70_000]
    }
}

fn codec() -> Codec {
    Codec::new(Code::Cauchy, 4, 2).unwrap()
}

#[test]
fn checksums_are_those_of_the_standards() {
    for &kind in Checksum::ALL {
        let (_, _, known) = standard(kind);
        assert_eq!(divide(kind, 0, b"123456789"), known, "{kind}");
        assert_eq!(kind.update(0, b"123456789"), Ok(known), "{kind}");
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
}

#[test]
fn pieces_continue_and_combine() {
    for &kind in Checksum::ALL {
        for length in [0, 1, 16, 100, 1000, 70_000] {
            let all = bytes(1, length);
            let (head, tail) = all.split_at(length / 3);
            let (first, second) = (kind.update(0, head).unwrap(), kind.update(0, tail).unwrap());
            let whole = divide(kind, 0, &all);
            assert_eq!(kind.update(first, tail), Ok(whole), "{kind} {length}");
            assert_eq!(kind.combine(first, second, tail.len()), Ok(whole), "{kind} {length}");
        }
    }
}

#[test]
fn sectors_have_checksums_of_their_own() {
    let all = bytes(2, 8192);
    for &kind in Checksum::ALL {
        for sector in [512, 4096] {
            let mut sums = vec![0; all.len() / sector];
            kind.sectors(sector, &all, &mut sums).unwrap();
            let want: Vec<u64> = all.chunks(sector).map(|piece| divide(kind, 0, piece)).collect();
            assert_eq!(sums, want, "{kind} {sector}");
        }
        assert_eq!(kind.sectors(512, &[], &mut []), Ok(()));
    }
}

#[test]
fn encoding_and_checking_give_checksums_of_all_shards() {
    let codec = codec();
    for &kind in Checksum::ALL {
        for &length in lengths(kind) {
            let from = data(3, 4, length);
            let mut parity = vec![vec![7; length]; 2];
            let mut states = [0; 6];
            codec.encode_checksums(kind, &from, &mut parity, &mut states).unwrap();
            let mut all = shards(&codec, 3, length);
            assert_eq!(parity, all[4..], "{kind} {length}");
            assert_eq!(states[..], sums(kind, &all, &[0; 6]), "{kind} {length}");

            let before = states;
            assert_eq!(codec.check_checksums(kind, &all, &mut states), Ok(true));
            assert_eq!(states[..], sums(kind, &all, &before), "{kind} {length}");
            if length > 0 {
                all[5][length - 1] ^= 1;
                assert_eq!(codec.check_checksums(kind, &all, &mut states), Ok(false));
            }
        }
    }
}

#[test]
fn stripes_have_the_checksums_of_single_calls() {
    let codec = codec();
    for &kind in Checksum::ALL {
        for count in [0, 1, 9] {
            for &length in &lengths(kind)[..3] {
                let from = data(6, 4 * count, length);
                let mut expected = vec![vec![7; length]; 2 * count];
                let mut parity = expected.clone();
                let mut states: Vec<u64> = (0..6 * count as u64).map(|n| n * 31).collect();
                let mut single = states.clone();
                for s in 0..count {
                    let (to, states) = (&mut expected[2 * s..][..2], &mut single[6 * s..][..6]);
                    codec.encode_checksums(kind, &from[4 * s..][..4], to, states).unwrap();
                }
                codec.encode_stripes_checksums(kind, &from, &mut parity, &mut states).unwrap();
                assert_eq!((parity, states), (expected, single), "{kind} {count} {length}");
            }
        }
    }
}

#[test]
fn a_repair_compares_what_it_reads() {
    let codec = codec();
    let present = [true, false, true, true, true, true];
    for &kind in Checksum::ALL {
        for &length in &lengths(kind)[1..] {
            let all = shards(&codec, 4, length);
            let stored = sums(kind, &all, &[0; 6]);
            let mut broken = all.clone();
            broken[1].fill(9);
            let mut states = [0; 6];
            let wrong =
                codec.reconstruct_checksums(kind, &mut broken, &present, None, &mut states, Some(&stored));
            assert_eq!(wrong, Ok(vec![false; 6]), "{kind} {length}");
            assert_eq!(broken, all, "{kind} {length}");
            // Four shards are read and one is written; the state of the sixth stays.
            assert_eq!((0..6).filter(|&n| states[n] == stored[n]).count(), 5, "{kind} {length}");
            assert_eq!(states[1], stored[1]);

            broken[0][length - 1] ^= 1;
            let mut states = [0; 6];
            let wrong =
                codec.reconstruct_checksums(kind, &mut broken, &present, None, &mut states, Some(&stored));
            assert_eq!(wrong, Ok(vec![true, false, false, false, false, false]), "{kind} {length}");
        }
    }
}

#[test]
fn a_repair_continues_states_of_wanted_shards() {
    let codec = codec();
    let (kind, all) = (Checksum::Crc64Nvme, shards(&codec, 5, 1000));
    let head: Vec<_> = all.iter().map(|shard| shard[..300].to_vec()).collect();
    let mut rest: Vec<_> = all.iter().map(|shard| shard[300..].to_vec()).collect();
    let mut states = sums(kind, &head, &[0; 6]);
    let ignored = states[0];
    rest[0].clear(); // neither present nor wanted, so of any length
    rest[2].fill(0);
    let present = [false, true, false, true, true, true];
    let wanted = [false, false, true, false, false, false];
    let wrong =
        codec.reconstruct_checksums(kind, &mut rest, &present, Some(&wanted), &mut states, None).unwrap();
    assert_eq!(wrong, [false; 6]);
    assert_eq!(rest[2], all[2][300..]);
    assert_eq!(states[0], ignored);
    assert_eq!(states[1..], sums(kind, &all, &[0; 6])[1..]);
}

#[test]
fn bytes_and_sectors_that_are_refused() {
    let wide = Error::ChecksumBits { kind: Checksum::Crc32, state: 1 << 32 };
    assert_eq!(Checksum::Crc32.update(1 << 32, b""), Err(wide));
    assert_eq!(Checksum::Crc32.combine(1 << 32, 0, 1), Err(wide));
    assert_eq!(Checksum::Crc32.combine(0, 1 << 32, 1), Err(wide));
    assert_eq!(wide.to_string(), "0x100000000 is not a checksum of crc32; allowed: 32 bits");
    assert!(
        Checksum::Crc16T10.update(0xffff, b"").is_ok() && Checksum::Crc16T10.update(0x10000, b"").is_err()
    );
    assert!(Checksum::Crc64Iso.update(u64::MAX, b"").is_ok());

    let mut sums = [7; 2];
    let mut sectors = |kind: Checksum, sector, length| kind.sectors(sector, &[0; 2048][..length], &mut sums);
    let (t10, other) = (Checksum::Crc16T10, Checksum::Crc32c);
    assert_eq!(sectors(t10, 1024, 2048), Err(Error::Sector { kind: t10, sector: 1024 }));
    assert_eq!(sectors(other, 0, 0), Err(Error::Sector { kind: other, sector: 0 }));
    assert_eq!(sectors(t10, 512, 1000), Err(Error::Sectors { length: 1000, sector: 512 }));
    let count = Error::Count { what: "checksums", expected: 4, found: 2 };
    assert_eq!(sectors(other, 512, 2048), Err(count));
    assert_eq!(sums, [7; 2]);
    let sector = Error::Sector { kind: t10, sector: 1024 };
    assert_eq!(sector.to_string(), "crc16_t10 has no sectors of 1024 bytes; allowed: 512 or 4096");
    let sectors = Error::Sectors { length: 1000, sector: 512 };
    assert_eq!(sectors.to_string(), "1000 bytes; allowed: multiples of 512, the bytes of a sector");

    for unknown in ["", "crc", "CRC32", "crc32\0"] {
        assert_eq!(unknown.parse::<Checksum>(), Err(Error::UnknownChecksum));
    }
    let listed = Error::UnknownChecksum.to_string();
    assert_eq!(listed, "unknown checksum; allowed: crc32c crc32 crc64_nvme crc64_ecma crc64_iso crc16_t10");
}

#[test]
fn refused_calls_write_nothing() {
    let codec = codec();
    let (t10, kind) = (Checksum::Crc16T10, Checksum::Crc32c);
    let wide = [0, 0, 1 << 32, 0, 0, 0];
    let refused: [(Checksum, &[u64], Error); 3] = [
        (kind, &wide, Error::ChecksumBits { kind, state: 1 << 32 }),
        (kind, &wide[..5], Error::Count { what: "checksums", expected: 6, found: 5 }),
        (t10, &[0; 6], Error::Sectors { length: 100, sector: 512 }),
    ];
    for (kind, before, error) in refused {
        let mut all = vec![vec![7; 100]; 6];
        let mut states = before.to_vec();
        let (from, to) = all.split_at_mut(4);
        assert_eq!(codec.encode_checksums(kind, from, to, &mut states), Err(error));
        assert_eq!(codec.encode_stripes_checksums(kind, from, to, &mut states), Err(error));
        assert_eq!(codec.check_checksums(kind, &all, &mut states), Err(error));
        let present = [false, true, true, true, true, true];
        let repair = codec.reconstruct_checksums(kind, &mut all, &present, None, &mut states, None);
        assert_eq!(repair, Err(error));
        let mut zeros = [0; 6];
        let repair = codec.reconstruct_checksums(kind, &mut all, &present, None, &mut zeros, Some(before));
        assert_eq!(repair, Err(error));
        assert_eq!((all, &states[..], zeros), (vec![vec![7; 100]; 6], before, [0; 6]));
    }

    let mut all = vec![vec![7; 64]; 6];
    let mut states = [3; 6];
    let lost = [false, false, false, true, true, true];
    let repair = codec.reconstruct_checksums(kind, &mut all, &lost, None, &mut states, None);
    assert_eq!(repair, Err(Error::TooManyMissing));
    let count = Error::Count { what: "flags", expected: 6, found: 5 };
    let repair = codec.reconstruct_checksums(kind, &mut all, &lost[1..], None, &mut states, None);
    assert_eq!(repair, Err(count));
    assert_eq!(
        codec.check_checksums(kind, &all[1..], &mut states),
        Err(Error::Count { what: "shards", expected: 6, found: 5 })
    );
    let (from, to) = all.split_at_mut(4);
    let count = |expected, found| Err(Error::Count { what: "shards", expected, found });
    assert_eq!(codec.encode_stripes_checksums(kind, &from[1..], to, &mut states), count(4, 3));
    assert_eq!(codec.encode_stripes_checksums(kind, from, &mut to[1..], &mut states), count(2, 1));
    let few = Error::Count { what: "checksums", expected: 6, found: 5 };
    assert_eq!(codec.encode_stripes_checksums(kind, from, to, &mut states[1..]), Err(few));
    all[5].pop();
    let length = Error::Length { shard: 5, expected: 64, found: 63 };
    assert_eq!(codec.check_checksums(kind, &all, &mut states), Err(length));
    let (from, to) = all.split_at_mut(4);
    assert_eq!(codec.encode_checksums(kind, from, to, &mut states), Err(length));
    assert_eq!(codec.encode_stripes_checksums(kind, from, to, &mut states), Err(length));
    assert!(states == [3; 6] && all.iter().all(|shard| shard.iter().all(|&byte| byte == 7)));
}

//! Codes with more than 255 shards: the bytes of klauspost/reedsolomon, reed-solomon-simd and JAM, repairs, limits, refused arguments.

mod common;

use common::{data, lose, whole, Shards};
use gfsmith::{Checksum, Code, Codec, Error, Wide, WideCode};

/// Byte i of shard j of the vectors.
fn vector(j: usize, i: usize) -> u8 {
    ((j * 31 + i * 7 + j * i / 5) % 251) as u8
}

fn encoded(wide: &Wide, data: &[Vec<u8>]) -> Shards {
    let mut parity = vec![vec![0x5a; data[0].len()]; wide.parity_shard_count()];
    wide.encode(data, &mut parity).unwrap();
    parity
}

fn stripe(wide: &Wide, seed: u64, length: usize) -> Shards {
    let mut all = data(seed, wide.data_shard_count(), length);
    all.append(&mut encoded(wide, &all));
    all
}

/// CRC-64/NVME of all parities of klauspost/reedsolomon.
#[test]
fn parities_are_those_of_klauspost() {
    for (code, k, m, length, expected) in [
        (WideCode::Leopard8, 1, 1, 64, 0x6c73_8370_2db6_60bb),
        (WideCode::Leopard8, 17, 3, 8256, 0x9345_1d8c_d8af_4669),
        (WideCode::Leopard8, 128, 128, 192, 0xfa7c_1b99_d4f1_4943),
        (WideCode::Leopard16, 10, 4, 8256, 0x6549_747b_6d62_b2f8),
        (WideCode::Leopard16, 342, 681, 448, 0x79c5_2891_fa95_aeab),
        (WideCode::Leopard16, 1000, 100, 192, 0xefa6_2e63_85fe_fb5c),
    ] {
        let wide = Wide::new(code, k, m).unwrap();
        let data: Shards = (0..k).map(|j| (0..length).map(|i| vector(j, i)).collect()).collect();
        let all = encoded(&wide, &data).concat();
        assert_eq!(Checksum::Crc64Nvme.update(0, &all), Ok(expected), "{wide:?}");
    }
}

/// CRC-64/NVME of all parities of reed-solomon-simd 3.1.0.
#[test]
fn parities_are_those_of_reed_solomon_simd() {
    for (k, m, length, expected) in [
        (40, 60, 8254, 0x131e_4f3a_29ad_df23),
        (342, 681, 448, 0xf3c5_3caa_079f_b0bd),
        (1000, 900, 66, 0x9402_b171_7d86_6798),
    ] {
        let wide = Wide::new(WideCode::ReedSolomonSimd, k, m).unwrap();
        let data: Shards = (0..k).map(|j| (0..length).map(|i| vector(j, i)).collect()).collect();
        let all = encoded(&wide, &data).concat();
        assert_eq!(Checksum::Crc64Nvme.update(0, &all), Ok(expected), "{wide:?}");
    }
}

/// From davxy/jam-test-vectors, erasure/tiny/ec-3.
#[test]
fn parities_are_those_of_jam() {
    let wide = Wide::new(WideCode::Lch16, 3, 3).unwrap();
    let data = vec![vec![0x61, 0x5d], vec![0x17, 0x00], vec![0x00, 0x00]];
    assert_eq!(encoded(&wide, &data), [[0x59, 0xd0], [0x06, 0x15], [0x75, 0x6d]]);
}

#[test]
fn losses_are_repaired() {
    for (code, k, m) in
        [(WideCode::Leopard8, 20, 4), (WideCode::Leopard16, 300, 30), (WideCode::Lch16, 3, 40)]
    {
        let wide = Wide::new(code, k, m).unwrap();
        let all = stripe(&wide, 5, 192);
        for step in [1, 2, 3] {
            let lost: Vec<usize> = (0..m.min((k + m) / step)).map(|n| n * step).collect();
            let mut shards = lose(&all, &lost);
            wide.reconstruct(&mut shards).unwrap();
            assert_eq!(whole(shards), all);
            let mut shards = lose(&all, &lost);
            wide.reconstruct_data(&mut shards).unwrap();
            for (n, shard) in shards.iter().enumerate() {
                let here = n < k || !lost.contains(&n);
                assert_eq!(shard.as_ref(), here.then(|| &all[n]), "{n}");
            }
        }
    }
}

#[test]
fn wanted_shards_are_rebuilt_in_place() {
    let wide = Wide::new(WideCode::Leopard16, 12, 7).unwrap();
    let all = stripe(&wide, 6, 4096 + 64);
    let missing = [0, 5, 13, 18];
    let present: Vec<bool> = (0..19).map(|n| !missing.contains(&n)).collect();
    let wanted: Vec<bool> = (0..19).map(|n| n == 5 || n == 18).collect();
    let mut shards = all.clone();
    missing.iter().for_each(|&n| shards[n].fill(0xa5));
    shards[0] = vec![1]; // ignored
    wide.reconstruct_in_place(&mut shards, &present, Some(&wanted)).unwrap();
    for n in 0..19 {
        assert_eq!(shards[n] == all[n], n != 0 && n != 13, "{n}");
    }
    shards[0] = vec![0; 4096 + 64];
    wide.reconstruct_in_place(&mut shards, &present, None).unwrap();
    assert_eq!(shards, all);
}

#[test]
fn stripes_have_the_bytes_of_single_calls() {
    for (code, k, m, length) in [
        (WideCode::Leopard8, 20, 4, 64),
        (WideCode::Leopard16, 30, 7, 4160),
        (WideCode::ReedSolomonSimd, 300, 30, 62),
        (WideCode::Lch16, 5, 40, 0),
    ] {
        let wide = Wide::new(code, k, m).unwrap();
        for count in [0, 1, 3, 70] {
            let all: Shards = (0..count).flat_map(|s| stripe(&wide, s, length)).collect();
            let from: Vec<&Vec<u8>> = all.chunks(k + m).flat_map(|stripe| &stripe[..k]).collect();
            let mut parity = vec![vec![0x5a; length]; count as usize * m];
            wide.encode_stripes(&from, &mut parity).unwrap();
            let expected: Vec<&Vec<u8>> = all.chunks(k + m).flat_map(|stripe| &stripe[k..]).collect();
            assert!(parity.iter().eq(expected), "{code} {count}");

            let (mut shards, mut present, mut wanted) = (all.clone(), vec![true; k + m], vec![true; k + m]);
            present[k - 1..k + 2].fill(false);
            wanted[k] = false;
            for stripe in shards.chunks_mut(k + m) {
                stripe[k - 1].fill(1);
                stripe[k] = vec![1]; // ignored
                stripe[k + 1].fill(1);
            }
            wide.reconstruct_stripes(&mut shards, &present, Some(&wanted)).unwrap();
            for stripe in shards.chunks_mut(k + m) {
                assert_eq!(stripe[k], [1]);
                stripe[k].resize(length, 1);
            }
            wide.reconstruct_stripes(&mut shards, &present, None).unwrap();
            assert_eq!(shards, all, "{code} {count}");
        }
    }
}

#[test]
fn wrong_stripes_write_nothing() {
    let wide = Wide::new(WideCode::Leopard16, 3, 2).unwrap();
    let (data, mut parity) = (vec![vec![1; 64]; 6], vec![vec![7; 64]; 4]);
    let count = |what, expected, found| Err(Error::Count { what, expected, found });
    assert_eq!(wide.encode_stripes(&data[1..], &mut parity), count("shards", 6, 5));
    assert_eq!(wide.encode_stripes(&data, &mut parity[1..]), count("shards", 4, 3));
    assert_eq!(wide.encode_stripes(&data[3..], &mut parity), count("shards", 2, 4));
    parity[3].pop();
    let length = Error::Length { shard: 9, expected: 64, found: 63 };
    assert_eq!(wide.encode_stripes(&data, &mut parity), Err(length));
    parity[3].push(7);
    assert_eq!(parity, vec![vec![7; 64]; 4]);

    let (present, mut shards) = ([false, true, true, true, true], vec![vec![7; 63]; 10]);
    let granule = Error::Granule { length: 63, granule: 64 };
    assert_eq!(wide.reconstruct_stripes(&mut shards, &present, None), Err(granule));
    let (from, to) = shards.split_at_mut(6);
    assert_eq!(wide.encode_stripes(from, to), Err(granule));
    assert_eq!(wide.reconstruct_stripes(&mut shards[1..], &present, None), count("shards", 10, 9));
    assert_eq!(wide.reconstruct_stripes(&mut shards, &present[1..], None), count("flags", 5, 4));
    assert_eq!(wide.reconstruct_stripes(&mut shards, &present, Some(&[true; 6])), count("flags", 5, 6));
    assert_eq!(wide.reconstruct_stripes(&mut shards, &[false; 5], None), Err(Error::TooManyMissing));
    assert_eq!(shards, vec![vec![7; 63]; 10]);
}

/// A shard without memory, of which a list has any length.
struct Nothing;

impl AsRef<[u8]> for Nothing {
    fn as_ref(&self) -> &[u8] {
        &[0; 2]
    }
}

/// The number of parities of all stripes is 2 to the power of the bits of a usize.
#[test]
fn stripes_with_more_shards_than_a_usize_are_refused() {
    let data = &[const { Nothing }; 1 << (usize::BITS - 15)];
    let wide = Wide::new(WideCode::Lch16, 1, 1 << 15).unwrap();
    let parity: &mut [Vec<u8>] = &mut [];
    assert!(matches!(wide.encode_stripes(data, parity), Err(Error::Count { found: 0, .. })));

    let data = &[const { Nothing }; 1 << (usize::BITS - 7)];
    let codec = Codec::new(Code::Cauchy, 1, 1 << 7).unwrap();
    assert!(matches!(codec.encode_stripes(data, parity), Err(Error::Count { found: 0, .. })));
    let refused = codec.encode_stripes_checksums(Checksum::Crc32c, data, parity, &mut []);
    assert!(matches!(refused, Err(Error::Count { found: 0, .. })));
}

#[test]
fn the_most_shards_are_repaired() {
    for (code, k, m) in [
        (WideCode::Leopard16, 32768, 32767),
        (WideCode::Leopard16, 65534, 1),
        (WideCode::Leopard8, 255, 1),
        (WideCode::Leopard8, 128, 128),
    ] {
        let wide = Wide::new(code, k, m).unwrap();
        assert_eq!((wide.code(), wide.total_shard_count()), (code, k + m));
        let all = stripe(&wide, 7, 64);
        let mut shards = lose(&all, &[]);
        (0..m).for_each(|n| shards[(n * 2 + 1) % (k + m)] = None);
        let gone = shards.iter().filter(|shard| shard.is_none()).count();
        wide.reconstruct(&mut shards).unwrap();
        assert!(gone == m && whole(shards) == all);
    }
}

#[test]
fn shapes_are_refused() {
    for (code, data, parity) in [
        (WideCode::Leopard16, 0, 1),
        (WideCode::Leopard16, 1, 0),
        (WideCode::Leopard16, 32768, 32768),
        (WideCode::Leopard16, 40000, 20000),
        (WideCode::Leopard16, usize::MAX, usize::MAX),
        (WideCode::Leopard16, 1 << 32, 2),
        (WideCode::Leopard8, 100, 129),
        (WideCode::Leopard8, 200, 33),
    ] {
        let error = Error::WideShape { code, data, parity };
        assert_eq!(Wide::new(code, data, parity).err(), Some(error));
        assert!(!code.has_shape(data, parity));
    }
    assert!(WideCode::Leopard8.has_shape(200, 32) && WideCode::Lch16.has_shape(32767, 32768));
    let error = Wide::new(WideCode::Leopard8, 200, 33).unwrap_err();
    assert_eq!(
        error.to_string(),
        "leopard8 has no shape 200+33; allowed: k >= 1, m >= 1, k + m <= 65535, and the least power of two >= m, \
         plus k, at most 256"
    );
    let error = Wide::new(WideCode::Lch16, 40000, 20000).unwrap_err();
    assert!(error.to_string().ends_with(">= min(k, m), plus max(k, m), at most 65536"));
}

#[test]
fn arguments_are_refused_and_nothing_is_written() {
    let wide = Wide::new(WideCode::Leopard16, 3, 2).unwrap();
    let (data, mut parity) = (vec![vec![1; 64]; 3], vec![vec![0xee; 64]; 2]);
    for length in [1, 32, 63, 65, 96] {
        let (data, mut parity) = (vec![vec![1; length]; 3], vec![vec![0xee; length]; 2]);
        assert_eq!(wide.encode(&data, &mut parity), Err(Error::Granule { length, granule: 64 }));
        let mut shards = lose(&[data, parity.clone()].concat(), &[1]);
        assert_eq!(wide.reconstruct(&mut shards), Err(Error::Granule { length, granule: 64 }));
        assert!(shards[1].is_none() && parity == vec![vec![0xee; length]; 2]);
    }
    assert_eq!(
        Error::Granule { length: 63, granule: 64 }.to_string(),
        "shards of 63 bytes; allowed: multiples of 64"
    );
    let even = Wide::new(WideCode::Lch16, 3, 2).unwrap();
    let (odd, mut results) = (vec![vec![1; 63]; 3], vec![vec![0xee; 63]; 2]);
    assert_eq!(even.encode(&odd, &mut results), Err(Error::Granule { length: 63, granule: 2 }));
    assert_eq!(
        wide.encode(&data[..2], &mut parity),
        Err(Error::Count { what: "shards", expected: 3, found: 2 })
    );
    assert_eq!(
        wide.encode(&data, &mut parity[..1]),
        Err(Error::Count { what: "shards", expected: 2, found: 1 })
    );
    parity[1].push(0);
    assert_eq!(wide.encode(&data, &mut parity), Err(Error::Length { shard: 4, expected: 64, found: 65 }));
    parity[1].pop();
    assert_eq!(parity, vec![vec![0xee; 64]; 2]);

    let all = [data, parity].concat();
    let mut shards = lose(&all, &[0, 1, 4]);
    assert_eq!(wide.reconstruct(&mut shards), Err(Error::TooManyMissing));
    assert_eq!(shards.iter().filter(|shard| shard.is_none()).count(), 3);
    let mut shards = all.clone();
    assert_eq!(wide.reconstruct_in_place(&mut shards, &[false; 5], None), Err(Error::TooManyMissing));
    assert_eq!(
        wide.reconstruct_in_place(&mut shards, &[true; 4], None),
        Err(Error::Count { what: "flags", expected: 5, found: 4 })
    );
    assert_eq!(
        wide.reconstruct_in_place(&mut shards, &[true; 5], Some(&[true; 6])),
        Err(Error::Count { what: "flags", expected: 5, found: 6 })
    );
    assert_eq!(
        wide.reconstruct_in_place(&mut shards[..4], &[true; 5], None),
        Err(Error::Count { what: "shards", expected: 5, found: 4 })
    );
    assert_eq!(shards, all);
    let (none, mut empty) = (vec![Vec::new(); 3], vec![Vec::new(); 2]);
    assert_eq!(wide.encode(&none, &mut empty), Ok(()));
}

#[test]
fn names_are_those_of_c() {
    let names: Vec<String> = WideCode::ALL.iter().map(WideCode::to_string).collect();
    assert_eq!(names, ["leopard8", "leopard16", "reed_solomon_simd", "lch16"]);
}

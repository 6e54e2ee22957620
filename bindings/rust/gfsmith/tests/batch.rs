//! Batch calls, compared with calls on one stripe.

mod common;

use common::{bytes, shards};
use gfsmith::{Code, Codec, Error, Hint};

/// The shards of `count` stripes, each encoded alone.
fn encoded(codec: &Codec, count: usize, length: usize) -> Vec<Vec<u8>> {
    (0..count).flat_map(|s| shards(codec, 1 + s as u64, length)).collect()
}

fn each_case(mut test: impl FnMut(&Codec, usize, usize)) {
    let mut streaming = Codec::new(Code::Backblaze, 10, 4).unwrap();
    streaming.set_hint(Hint::Streaming).unwrap();
    let codecs = [
        Codec::new(Code::Cauchy, 1, 1).unwrap(),
        Codec::new(Code::Vandermonde, 6, 3).unwrap(),
        Codec::local(12, 2, 2).unwrap(),
        streaming,
    ];
    for codec in &codecs {
        for count in [0, 1, 2, 7, 100] {
            for length in [0, 1, 64, 333] {
                test(codec, count, length);
            }
        }
    }
}

#[test]
fn stripes_are_encoded_and_checked() {
    each_case(|codec, count, length| {
        let (k, n) = (codec.data_shard_count(), codec.total_shard_count());
        let mut all = encoded(codec, count, length);
        let data: Vec<&[u8]> =
            all.chunks(n).flat_map(|stripe| stripe[..k].iter().map(Vec::as_slice)).collect();
        let mut parity = vec![vec![0x5a; length]; count * (n - k)];
        codec.prefetch(&shards(codec, 0, length)[..k]).unwrap();
        codec.encode_stripes(&data, &mut parity).unwrap();
        let expected: Vec<Vec<u8>> = all.chunks(n).flat_map(|stripe| stripe[k..].to_vec()).collect();
        assert_eq!(parity, expected);

        assert_eq!(codec.check_stripes(&all).unwrap(), vec![true; count]);
        if count > 0 && length > 0 {
            let wrong = count / 2;
            all[wrong * n + k][length - 1] ^= 1;
            let expected: Vec<bool> = (0..count).map(|s| s != wrong).collect();
            assert_eq!(codec.check_stripes(&all).unwrap(), expected);
        }
    });
}

#[test]
fn stripes_are_rebuilt() {
    each_case(|codec, count, length| {
        let n = codec.total_shard_count();
        let expected = encoded(codec, count, length);
        let mut all = expected.clone();
        let mut present = vec![true; n];
        present[0] = false;
        let mut wanted = vec![false; n];
        if n > 2 {
            present[n - 1] = false;
        }
        for stripe in all.chunks_mut(n) {
            stripe[0].fill(3);
            if n > 2 {
                stripe[n - 1].clear(); // neither present nor wanted
            }
        }
        wanted[0] = true;
        codec.reconstruct_stripes(&mut all, &present, Some(&wanted)).unwrap();
        for (n, (found, expected)) in all.iter().zip(&expected).enumerate() {
            assert!(found == expected || found.is_empty(), "shard {n}");
        }
        for (shard, expected) in all.iter_mut().zip(&expected) {
            shard.resize(expected.len(), 9);
        }
        codec.reconstruct_stripes(&mut all, &present, None).unwrap();
        assert_eq!(all, expected);
    });
}

#[test]
fn stripes_are_updated() {
    each_case(|codec, count, length| {
        let (k, n) = (codec.data_shard_count(), codec.total_shard_count());
        let mut all = encoded(codec, count, length);
        let changes: Vec<(usize, Vec<u8>)> =
            (0..count).map(|s| (s * 5 % k, bytes(s as u64, length))).collect();
        let mut parity: Vec<&mut Vec<u8>> =
            all.chunks_mut(n).flat_map(|stripe| stripe[k..].iter_mut()).collect();
        let mut parity: Vec<&mut [u8]> = parity.iter_mut().map(|shard| shard.as_mut_slice()).collect();
        codec.update_stripes(&changes, &mut parity).unwrap();
        for (s, (index, delta)) in changes.iter().enumerate() {
            all[s * n + index].iter_mut().zip(delta).for_each(|(byte, change)| *byte ^= change);
        }
        assert_eq!(codec.check_stripes(&all).unwrap(), vec![true; count]);
    });
}

#[test]
fn wrong_stripes_write_nothing() {
    let codec = Codec::new(Code::Cauchy, 6, 3).unwrap();
    let mut all = encoded(&codec, 4, 40);
    let before = all.clone();
    let (data, mut parity) = (vec![[1; 40]; 12], vec![[7; 40]; 6]);
    let wrong = |what, expected, found| Err(Error::Count { what, expected, found });
    assert_eq!(codec.encode_stripes(&data[1..], &mut parity), wrong("shards", 12, 11));
    assert_eq!(codec.encode_stripes(&data, &mut parity[1..]), wrong("shards", 6, 5));
    assert_eq!(codec.encode_stripes(&data[6..], &mut parity), wrong("shards", 3, 6));
    assert_eq!(codec.check_stripes(&all[1..]).unwrap_err(), wrong("shards", 36, 35).unwrap_err());
    assert_eq!(codec.update_stripes(&[(0, [1; 40])], &mut parity), wrong("shards", 3, 6));
    let index = Error::Index { index: 6, count: 6 };
    assert_eq!(codec.update_stripes(&[(0, [1; 40]), (6, [1; 40])], &mut parity), Err(index));
    let length = Error::Length { shard: 2, expected: 39, found: 40 };
    assert_eq!(codec.update_stripes(&[(0, [1; 39]), (5, [1; 39])], &mut parity), Err(length));
    let mut uneven: Vec<&[u8]> = data.iter().map(|shard| &shard[..]).collect();
    uneven[11] = &uneven[11][1..];
    let length = Error::Length { shard: 11, expected: 40, found: 39 };
    assert_eq!(codec.encode_stripes(&uneven, &mut parity), Err(length));
    assert_eq!(codec.prefetch(&data[..5]), wrong("shards", 6, 5));
    assert_eq!(parity, vec![[7; 40]; 6]);

    let mut present = [true; 9];
    assert_eq!(codec.reconstruct_stripes(&mut all, &present[1..], None), wrong("flags", 9, 8));
    assert_eq!(codec.reconstruct_stripes(&mut all, &present, Some(&[true; 10])), wrong("flags", 9, 10));
    assert_eq!(codec.reconstruct_stripes(&mut all[1..], &present, None), wrong("shards", 36, 35));
    present[..4].fill(false);
    assert_eq!(codec.reconstruct_stripes(&mut all, &present, None), Err(Error::TooManyMissing));
    let local = Codec::local(6, 2, 1).unwrap();
    let present = [false, false, true, true, true, true, false, true, true];
    assert_eq!(local.reconstruct_stripes(&mut all, &present, None), Err(Error::Singular));
    assert_eq!(all, before);
}

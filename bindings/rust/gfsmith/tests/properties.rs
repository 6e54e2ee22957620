//! Properties for any shape, length and loss, by quickcheck.

mod common;

use common::{bytes, inverse, lose, shards, whole};
use gfsmith::{Code, Codec};
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// k + m shards of `length` bytes at `offset` of an allocation, `lost` of which are missing.
#[derive(Clone, Debug)]
struct Case {
    k: usize,
    m: usize,
    length: usize,
    offset: usize,
    seed: u64,
    lost: Vec<usize>,
}

impl Arbitrary for Case {
    fn arbitrary(gen: &mut Gen) -> Case {
        let mut below = |n: usize| usize::arbitrary(gen) % n;
        let (k, m) = (1 + below(20), 1 + below(6));
        let mut rest: Vec<usize> = (0..k + m).collect();
        let count = below(m + 1);
        let lost = (0..count).map(|_| rest.swap_remove(below(rest.len()))).collect();
        let length = [below(40), below(600), below(5000)][below(3)];
        let (offset, seed) = (below(64), below(1 << 30) as u64);
        Case { k, m, length, offset, seed, lost }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Case>> {
        let case = self.clone();
        let shorter = self.length.shrink().map({
            let case = case.clone();
            move |length| Case { length, ..case.clone() }
        });
        let fewer = (0..self.lost.len()).map(move |n| {
            let mut lost = case.lost.clone();
            lost.remove(n);
            Case { lost, ..case.clone() }
        });
        Box::new(shorter.chain(fewer))
    }
}

impl Case {
    fn codec(&self) -> Codec {
        Codec::new(Code::Cauchy, self.k, self.m).unwrap()
    }
}

fn hold(property: fn(Case) -> bool) {
    QuickCheck::new().tests(300).quickcheck(property);
}

#[test]
fn parities_are_those_of_the_field() {
    hold(|case| {
        let all = shards(&case.codec(), case.seed, case.length);
        let cauchy = |i, j| inverse((case.k + i) as u8 ^ j as u8);
        all[case.k..] == common::encode(&all[..case.k], case.m, cauchy)
    });
}

#[test]
fn every_loss_is_repaired() {
    hold(|case| {
        let codec = case.codec();
        let all = shards(&codec, case.seed, case.length);
        let mut broken = lose(&all, &case.lost);
        codec.reconstruct(&mut broken).unwrap();
        whole(broken) == all
    });
}

/// Slices of one allocation, at any address, contiguous: no other bytes change.
#[test]
fn any_alignment_and_no_byte_beside() {
    hold(|case| {
        let codec = case.codec();
        let (total, pitch) = (case.k + case.m, case.length + 1);
        let all = shards(&codec, case.seed, case.length);
        let mut pool = bytes(!case.seed, case.offset + total * pitch);
        for (n, shard) in all.iter().enumerate().filter(|(n, _)| !case.lost.contains(n)) {
            pool[case.offset + n * pitch..][..case.length].copy_from_slice(shard);
        }
        let mut expected = pool.clone();
        for &n in &case.lost {
            expected[case.offset + n * pitch..][..case.length].copy_from_slice(&all[n]);
        }
        let present: Vec<bool> = (0..total).map(|n| !case.lost.contains(&n)).collect();
        let slices = pool[case.offset..].chunks_exact_mut(pitch);
        let mut place: Vec<&mut [u8]> = slices.map(|slice| &mut slice[..case.length]).collect();
        codec.reconstruct_in_place(&mut place, &present, None).unwrap();
        pool == expected
    });
}

#[test]
fn plans_do_what_reconstruct_does() {
    hold(|case| {
        let codec = case.codec();
        let all = shards(&codec, case.seed, case.length);
        let present: Vec<bool> = (0..all.len()).map(|n| !case.lost.contains(&n)).collect();
        let plan = codec.plan(&present, None).unwrap();
        let mut place = all.clone();
        case.lost.iter().for_each(|&n| place[n].fill(0));
        plan.run(&mut place).unwrap();
        place == all && plan.targets().len() == case.lost.len() && plan.reads().len() <= case.k
    });
}

#[test]
fn an_update_is_an_encode() {
    hold(|case| {
        let codec = case.codec();
        let mut all = shards(&codec, case.seed, case.length);
        let index = case.seed as usize % case.k;
        let delta = bytes(case.seed + 1, case.length);
        let (data, parity) = all.split_at_mut(case.k);
        data[index].iter_mut().zip(&delta).for_each(|(byte, change)| *byte ^= change);
        codec.update(index, &delta, parity).unwrap();
        codec.check(&all).unwrap()
    });
}

#[test]
fn a_wrong_byte_is_noticed() {
    hold(|case| {
        let codec = case.codec();
        let mut all = shards(&codec, case.seed, case.length);
        if case.length == 0 {
            return codec.check(&all).unwrap();
        }
        let (shard, at) = (case.seed as usize % all.len(), case.offset * 7919 % case.length);
        all[shard][at] ^= 1 << (case.seed % 8);
        !codec.check(&all).unwrap()
    });
}

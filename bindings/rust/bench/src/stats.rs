//! Paired measurement of times, and their statistics.

use std::fmt;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::contenders::Contender;

/// The time of a contender in a round: so short that most of these intervals are not interrupted.
const TURN: Duration = Duration::from_micros(300);

/// The seconds per call in each round, for each contender.
pub fn interleaved(contenders: &mut [Contender], rounds: usize) -> Vec<Vec<f64>> {
    let calls: Vec<u32> = contenders.iter_mut().map(calls_of).collect();
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let n = (round + turn) % contenders.len();
            times[n].push(seconds(&mut contenders[n], calls[n]) / f64::from(calls[n]));
        }
    }
    times
}

/// The number of calls that take TURN; the first ones warm up.
fn calls_of(contender: &mut Contender) -> u32 {
    let mut calls = 1;
    loop {
        let taken = seconds(contender, calls);
        if taken >= TURN.as_secs_f64() / 4.0 {
            return ((TURN.as_secs_f64() / taken * f64::from(calls)) as u32).max(1);
        }
        calls *= 2;
    }
}

/// CPU time, so that an interrupted interval does not count longer than others.
fn seconds(contender: &mut Contender, calls: u32) -> f64 {
    let start = ThreadTime::now();
    for _ in 0..calls {
        (contender.call)();
    }
    start.elapsed().as_secs_f64()
}

/// The median of some ratios, and the range of the middle four fifths.
pub struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

impl Spread {
    pub fn of(mut ratios: Vec<f64>) -> Spread {
        ratios.sort_by(f64::total_cmp);
        let at = |part: f64| ratios[((ratios.len() - 1) as f64 * part).round() as usize];
        Spread { low: at(0.1), median: at(0.5), high: at(0.9) }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:6.2}  ({:.2} to {:.2})", self.median, self.low, self.high)
    }
}

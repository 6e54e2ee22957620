//! Times taken side by side, and what to say about them.

use std::fmt;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::contenders::Contender;

/// A contender runs for about so long in a round: short enough that most turns are not interrupted.
const TURN: Duration = Duration::from_micros(300);

/// For each contender the seconds of a call in each round.
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

/// How many calls fill a turn; the first ones warm up.
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

/// Of the processor, so that a turn that is interrupted counts no longer than others.
fn seconds(contender: &mut Contender, calls: u32) -> f64 {
    let start = ThreadTime::now();
    for _ in 0..calls {
        (contender.call)();
    }
    start.elapsed().as_secs_f64()
}

/// The median of some ratios, and the range of the four fifths around it.
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

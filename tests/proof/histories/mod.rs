//! Histories: many customers, and everything that can happen to them, in any order.
//!
//! A history is drawn by chance from a seed: hundreds of moves, from a click to a crash at some boundary. However it went, the
//! world then goes on until nothing is due, and the audit looks at both ledgers. One that ends badly is made shorter, as long
//! as it still ends badly, and is told as a story with its seed.
//!
//! 1. here: how many, and of what.
//! 2. `cast`: who is in it.
//! 3. `moves`: what can happen.
//! 4. `faults`: what breaks.
//! 5. `play`: how it goes.

mod cast;
mod faults;
mod moves;
mod play;

use std::{ops::Range, time::Instant};

use boring_checkout::lab::world::Ground;
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use tokio::runtime::{Builder, Runtime};

use self::{
    cast::{Crowd, MARKET, QUEUE},
    moves::{Move, moves},
    play::{Sum, play},
};
use crate::ground::{ground, number};

/// How many histories of a kind are played, unless `HISTORIES` says how many.
const HISTORIES: u64 = 12;

/// The seed of the first one, unless `HISTORIES_SEED` is another one. The others follow it.
const SEED: u64 = 1;

/// So often a bad history is tried shorter.
const SHORTER_TRIES: usize = 400;

#[test]
fn the_market_ends_well() {
    end_well(&MARKET);
}

#[test]
fn the_queue_ends_well() {
    end_well(&QUEUE);
}

fn end_well(crowd: &Crowd) {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let ground = runtime.block_on(ground());
    let first = number("HISTORIES_SEED").unwrap_or(SEED);
    let seeds = first..first + number("HISTORIES").unwrap_or(HISTORIES);
    let began = Instant::now();
    let mut sum = Sum::default();
    for seed in seeds.clone() {
        sum.add(ends_well(&runtime, &ground, crowd, seed));
    }
    println!("histories {seeds:?} in {:?}: {sum:?}", began.elapsed());
    runtime
        .block_on(ground.remove())
        .expect("the scratch database goes");
}

/// Plays the history of a seed, and says what was in it. One that ends badly is made shorter, and told.
fn ends_well(runtime: &Runtime, ground: &Ground, crowd: &Crowd, seed: u64) -> Sum {
    let moves = history(crowd, seed);
    let play = |moves: &[Move]| runtime.block_on(play(ground, crowd, moves));
    let mut bad = match play(&moves) {
        Ok(sum) => return sum,
        Err(bad) => bad,
    };
    let shortest = shorter(moves, |moves| match play(moves) {
        Ok(_) => false,
        Err(still_bad) => {
            bad = still_bad;
            true
        }
    });
    let story = (1..)
        .zip(&bad.story)
        .map(|(number, line)| format!("{number:>4}. {line}\n"));
    panic!(
        "Seed {seed} ends badly. Made shorter, to {} moves:\n{}{}\n\nAgain: HISTORIES_SEED={seed} HISTORIES=1",
        shortest.len(),
        story.collect::<String>(),
        bad.what,
    )
}

/// What is drawn for a seed.
fn history(crowd: &Crowd, seed: u64) -> Vec<Move> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), chance);
    let drawn = prop::collection::vec(moves(crowd), length(crowd)).new_tree(&mut runner);
    drawn.expect("nothing is ruled out").current()
}

/// Leaves out what can be left out, in large pieces first, from the end, until nothing can be. proptest's own way is one move
/// after the other, which takes as many runs as there are moves before it gets anywhere.
fn shorter(mut moves: Vec<Move>, mut is_still_bad: impl FnMut(&[Move]) -> bool) -> Vec<Move> {
    let mut tries = 0;
    let mut piece = moves.len() / 2;
    while piece > 0 {
        let before = moves.len();
        let mut end = before;
        while end > 0 && tries < SHORTER_TRIES {
            let start = end.saturating_sub(piece);
            let left: Vec<Move> = [&moves[..start], &moves[end..]].concat();
            tries += 1;
            if is_still_bad(&left) {
                moves = left;
            }
            end = start;
        }
        if piece > 1 || moves.len() == before {
            piece /= 2;
        }
    }
    moves
}

/// `HISTORY_MOVES` makes them longer.
fn length(crowd: &Crowd) -> Range<usize> {
    match number("HISTORY_MOVES") {
        Some(moves) => {
            let moves = usize::try_from(moves).expect("not that many");
            moves..moves + 1
        }
        None => crowd.moves.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let moves = history(&MARKET, 1);
        assert!(moves.len() >= MARKET.moves.start);
        let is_news = |it: &Move| matches!(it, Move::News);
        let is_work = |it: &Move| matches!(it, Move::Work);
        // Bad is what has the news, and some work after it.
        let is_bad = |moves: &[Move]| {
            let news = moves.iter().position(is_news);
            news.is_some_and(|news| moves[news..].iter().any(is_work))
        };
        assert!(is_bad(&moves), "the seed has both");
        let left = shorter(moves, is_bad);
        assert!(matches!(left[..], [Move::News, Move::Work]), "{left:?}");
    }

    #[test]
    fn a_seed_is_one_history() {
        let told = |seed| format!("{:?}", history(&QUEUE, seed));
        assert_eq!(told(7), told(7));
        assert_ne!(told(7), told(8));
    }
}

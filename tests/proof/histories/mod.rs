//! Histories: many customers, and everything that can happen to them, in any order.
//!
//! A history is drawn by chance from a seed: hundreds of moves, from a click to a crash at some boundary. However it went, the
//! world then goes on until nothing is due, and the audit looks at both ledgers. One that ends badly is made shorter, as long
//! as it still ends badly, and is told as a story.
//!
//! 1. here: how many, and of what.
//! 2. `cast`: who is in it.
//! 3. `moves`: what can happen.
//! 4. `play`: how it goes.

mod cast;
mod moves;
mod play;

use std::{cell::Cell, ops::Range, time::Instant};

use boring_checkout::lab::world::Ground;
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use tokio::runtime::{Builder, Runtime};

use self::{
    cast::{Crowd, MARKET, QUEUE},
    moves::moves,
    play::{Sum, play},
};
use crate::ground::{ground, number};

/// How many histories of a kind are played, unless `HISTORIES` says how many.
const HISTORIES: u64 = 12;

/// The seed of the first one, unless `HISTORIES_SEED` is another one. The others follow it.
const SEED: u64 = 1;

/// So often a bad history is tried shorter.
const SHORTER_TRIES: u32 = 600;

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

/// Plays the history of a seed, and says what was in it.
fn ends_well(runtime: &Runtime, ground: &Ground, crowd: &Crowd, seed: u64) -> Sum {
    let config = Config {
        cases: 1,
        failure_persistence: None,
        max_shrink_iters: SHORTER_TRIES,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let sum = Cell::new(Sum::default());
    let ended = runner.run(&history(crowd, length(crowd)), |moves| {
        match runtime.block_on(play(ground, crowd, &moves)) {
            Ok(came_to) => {
                sum.set(came_to);
                Ok(())
            }
            Err(bad) => {
                let story = (1..)
                    .zip(&bad.story)
                    .map(|(number, line)| format!("{number:>4}. {line}\n"));
                let story: String = story.collect();
                Err(TestCaseError::fail(format!("{}\n{story}", bad.what)))
            }
        }
    });
    match ended {
        Ok(()) => sum.get(),
        Err(TestError::Fail(what, moves)) => panic!(
            "seed {seed}, made shorter to {} moves: {what}\nAgain: HISTORIES_SEED={seed} HISTORIES=1",
            moves.len()
        ),
        Err(other) => panic!("seed {seed}: {other}"),
    }
}

fn history(crowd: &Crowd, length: Range<usize>) -> impl Strategy<Value = Vec<moves::Move>> + use<> {
    prop::collection::vec(moves(crowd), length)
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

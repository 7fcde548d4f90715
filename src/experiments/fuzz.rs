//! Damaged texts for the tests of everything that reads one.

use rand::{Rng as _, RngExt as _};

use crate::random::generator;

/// Texts that are tried.
const ROUNDS: usize = 100_000;
/// What damage puts in: characters that mean something in our formats.
const ALPHABET: &[u8] = b"{}[]\",;:0123456789.eE-+ntfu\\ null";

/// Gives `read` 100,000 texts: a quarter are random, the others a good one with a few faults.
pub fn damaged(good: &str, mut read: impl FnMut(&str)) {
    let mut rng = generator(7, 0);
    for round in 0..ROUNDS {
        let mut bytes = if round % 4 == 0 {
            (0..rng.random_range(0..60))
                .map(|_| ALPHABET[rng.random_range(0..ALPHABET.len())])
                .collect()
        } else {
            good.as_bytes().to_vec()
        };
        for _ in 0..rng.random_range(1..6) {
            if bytes.is_empty() {
                break;
            }
            let place = rng.random_range(0..bytes.len());
            match rng.random_range(0..5) {
                0 => bytes.truncate(place),
                1 => drop(bytes.remove(place)),
                2 => bytes[place] = (rng.next_u32() & 0xff) as u8,
                _ => bytes[place] = ALPHABET[rng.random_range(0..ALPHABET.len())],
            }
        }
        read(&String::from_utf8_lossy(&bytes));
    }
}

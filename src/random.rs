//! The one source of randomness: a seeded generator on the host, the same on every device.

use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};

/// A generator for one purpose of one experiment. Streams of the same seed are independent, so
/// that drawing more numbers for one purpose never changes another.
pub fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(stream);
    generator
}

//! Positions that are learnt from again: the last so many of a run.

use rand::Rng;

use crate::self_play::Sample;

/// The last samples of a run. Exact targets cost far more to find than to learn from, and change little while the weights
/// do, so that each is worth being seen several times, best at times that lie far apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    room: usize,
    samples: Vec<Sample>,
    /// Where the next one goes when the room is full: the place of the oldest.
    oldest: usize,
}

impl Replay {
    /// Room for so many samples, and none yet.
    pub fn new(room: usize) -> Replay {
        Replay { room, ..Replay::default() }
    }

    /// Takes up what [`Replay::in_order`] gave.
    pub fn restored(room: usize, samples: Vec<Sample>) -> Replay {
        let mut replay = Replay::new(room);
        replay.add(&samples);
        replay
    }

    /// All samples, the oldest first.
    pub fn in_order(&self) -> Vec<Sample> {
        [&self.samples[self.oldest..], &self.samples[..self.oldest]].concat()
    }

    /// Keeps new samples in place of the oldest.
    pub fn add(&mut self, samples: &[Sample]) {
        for &sample in samples {
            if self.samples.len() < self.room {
                self.samples.push(sample);
            } else if self.room > 0 {
                self.samples[self.oldest] = sample;
                self.oldest = (self.oldest + 1) % self.room;
            }
        }
    }

    /// So many samples at random, some perhaps more than once; none when there is none.
    pub fn draw(&self, count: usize, rng: &mut impl Rng) -> Vec<Sample> {
        if self.samples.is_empty() {
            return Vec::new();
        }
        // By age, so that a restored replay draws the same ones.
        let kept = self.samples.len();
        (0..count)
            .map(|_| {
                let age = ((u128::from(rng.next_u64()) * kept as u128) >> 64) as usize;
                self.samples[(self.oldest + age) % kept]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use zar::{board::Position, net::Probabilities};

    use super::*;
    use crate::seeds::{Purpose, stream};

    fn numbered(numbers: std::ops::Range<u32>) -> Vec<Sample> {
        let target = |win: u32| Probabilities { win: win as f32, ..Probabilities::default() };
        numbers.map(|number| Sample { position: Position::START, target: target(number) }).collect()
    }

    #[test]
    fn the_oldest_give_way() {
        let mut replay = Replay::new(5);
        replay.add(&numbered(0..3));
        assert_eq!(replay.in_order(), numbered(0..3));
        replay.add(&numbered(3..12));
        assert_eq!(replay.in_order(), numbered(7..12));
    }

    #[test]
    fn a_restored_one_goes_on_alike() {
        let mut replay = Replay::new(7);
        replay.add(&numbered(0..17));
        let mut restored = Replay::restored(7, replay.in_order());
        for round in 0..5 {
            let draw = |replay: &Replay| replay.draw(20, &mut stream(1, Purpose::Replay, round));
            assert_eq!(draw(&replay), draw(&restored));
            for replay in [&mut replay, &mut restored] {
                replay.add(&numbered(20..23));
            }
        }
    }

    #[test]
    fn all_are_drawn() {
        let mut replay = Replay::new(10);
        replay.add(&numbered(0..14));
        let mut drawn: Vec<u32> = replay
            .draw(300, &mut stream(1, Purpose::Replay, 0))
            .iter()
            .map(|sample| sample.target.win as u32)
            .collect();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn, (4..14).collect::<Vec<_>>());
        assert!(Replay::new(10).draw(5, &mut stream(1, Purpose::Replay, 0)).is_empty());
    }
}

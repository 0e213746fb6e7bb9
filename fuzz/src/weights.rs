//! Weights files.

use std::sync::LazyLock;

use zar::{
    board::Position,
    net::{
        Activation, DenseLayer, Evaluator, FeatureSet, FirstLayer, Model, Network, PositionClass, Provenance,
        ShapeError,
    },
    rules::RuleSet,
};

pub(crate) const WORDS: &[&str] = &[
    "ZARNET\r\n",
    "\0",
    "\u{1}",
    "\0\0\0\0\0\0\0\0",
    "backgammon",
    "tavla2004",
    "table",
    "contact",
    "race",
    "contact-patterns",
    "race-counts",
    "relu",
    "clipped-relu",
    "@\0\0\0",
    "\u{5}\0\0\0",
    "\u{10}\0\0\0",
    "\0|",
];

const CHECKSUM: usize = 4;

static SMALL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let model = small_model().expect("the layers fit together");
    model.to_bytes().expect("the header is short")
});

/// The start, a checker on the bar, a race, and the end of one.
static POSITIONS: LazyLock<[Position; 4]> = LazyLock::new(|| {
    ["4HPwATDgc/ABMA", "sGfwAVDgc3AADA", "uQAAQAAAAAAAAA", "AAAAcgEAAAAAAA"]
        .map(|id| id.parse().expect("a Position ID"))
});

/// The smallest networks: 64 wide, with one row that is not zero and one dense layer. The features of races serve for both
/// classes, since they are few.
fn small_model() -> Result<Model, ShapeError> {
    let network = |features: FeatureSet, activation| {
        let mut rows = vec![0.0; features.rows() * 64];
        rows[64..128].fill(0.25);
        let first = FirstLayer::new(&[0.5; 64], &rows)?;
        let dense = DenseLayer::new(64, &[0.1; 5], &[-0.5; 64 * 5])?;
        Network::new(features, activation, first, vec![dense])
    };
    let networks =
        [network(FeatureSet::RaceCounts, Activation::ClippedRelu)?, network(FeatureSet::RaceCounts, Activation::Relu)?];
    Ok(Model::new(
        RuleSet::Backgammon,
        Provenance { games: 7, date: "2020-01-01".into(), ..Provenance::default() },
        networks,
    ))
}

pub(crate) fn samples() -> Vec<Vec<u8>> {
    // The first byte of an input says whether the checksum is put right.
    [0, 1].map(|sealed| [&[sealed][..], &SMALL].concat()).into()
}

/// A weights file that is read has finite numbers only, is written so that it reads as the same model, and can evaluate
/// positions of both classes.
pub fn weights(data: &[u8]) -> bool {
    let Some((&sealed, file)) = data.split_first() else { return false };
    let mut file = file.to_vec();
    if sealed % 2 == 1
        && let Some(content) = file.len().checked_sub(CHECKSUM)
    {
        let checksum = crc32fast::hash(&file[..content]);
        file[content..].copy_from_slice(&checksum.to_le_bytes());
    }
    match Model::from_bytes(&file) {
        Ok(model) => {
            for class in PositionClass::ALL {
                assert!(model.network(class).is_finite());
            }
            let mut evaluator = Evaluator::new(&model);
            for position in POSITIONS.iter() {
                let probabilities = evaluator.evaluate(position).to_array();
                // Weights far beyond what is ever learnt may sum up to what is no number.
                let possible = |p: f32| p.is_nan() || (0.0..=1.0).contains(&p);
                assert!(probabilities.into_iter().all(possible), "{probabilities:?}");
            }
            let written = model.to_bytes().expect("what has been read from a header has room in one");
            let again = Model::from_bytes(&written).expect("what is written can be read");
            assert!(again == model, "another model is read than was written");
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

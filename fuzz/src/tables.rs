//! Match equity tables.

use zar::cube::{LONGEST_TABLE, MatchEquityTable};

pub(crate) const WORDS: &[&str] = &[
    "pre,", "post,", "1", "2", "3", "4", "64", "65", "0.5", "0.25", "1.0", "-0.0", "nan", "inf", "1e-9", ",", "\n",
    "\r\n", "#", "+1", "01",
];

pub(crate) fn samples() -> Vec<Vec<u8>> {
    [
        "post,1,0.5\npre,1,1,0.5\n",
        "# two points\npre,1,1,0.5\npre,1,2,0.7\npre,2,2,0.5\npost,1,0.5\npost,2,0.49\n",
        "pre,1,1,0.5\npre,2,1,0.3\npre,3,1,0.25\npre,2,2,0.5\npre,3,2,0.4\npre,3,3,0.5\npost,1,0.5\npost,2,0.48\npost,3,0.32\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

/// A table that is read gives a chance for every score, and those of the two players before the Crawford game are found
/// where they were written.
pub fn met(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let table = match MatchEquityTable::from_csv("fuzz", text) {
        Ok(table) => table,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert!((1..=LONGEST_TABLE).contains(&table.size()));
    let scores = [0, 1, 2, 3, table.size(), table.size() + 1, 100, (1 << 15) - 1];
    for player in scores {
        for opponent in scores {
            for chance in [table.before([player, opponent]), table.after_crawford([player, opponent])] {
                assert!((0.0..=1.0).contains(&chance.0), "{text:?} {player} {opponent}");
            }
        }
    }
    true
}

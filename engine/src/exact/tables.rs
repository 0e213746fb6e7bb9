//! Both tables of a rule set, found or built when they are first asked for.

use std::sync::{Arc, OnceLock};

use crate::{
    board::{BAR, CHECKERS, Position},
    rules::{Probabilities, RuleSet},
};

use super::{CacheFolder, MoneyEquities, OneSided, Origin, Side, TableKind, TableSpec, TwoSided, words::Words};

/// The bear-off tables by which a rule set plays. Clones share them, and threads may.
///
/// Nothing is read or built before the first position in reach; then the largest tables in the cache folder are used, or
/// [`TableSpec::one_sided`] and [`TableSpec::two_sided`] are built, which takes a fraction of a second, and kept there.
#[derive(Clone, Debug)]
pub struct BearoffTables {
    rules: RuleSet,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    cache: CacheFolder,
    one_sided_spec: TableSpec,
    two_sided_spec: TableSpec,
    one_sided: OnceLock<OneSided>,
    two_sided: OnceLock<TwoSided>,
}

impl BearoffTables {
    /// The tables for `rules` of a cache folder.
    pub fn new(rules: RuleSet, cache: CacheFolder) -> BearoffTables {
        let shared = Shared {
            one_sided_spec: cache.largest(TableSpec::one_sided(rules)),
            two_sided_spec: cache.largest(TableSpec::two_sided(rules)),
            cache,
            one_sided: OnceLock::new(),
            two_sided: OnceLock::new(),
        };
        BearoffTables { rules, shared: Arc::new(shared) }
    }

    /// Tables for `rules` that are built when they are needed and kept in memory alone.
    pub fn in_memory(rules: RuleSet) -> BearoffTables {
        BearoffTables::new(rules, CacheFolder::none())
    }

    /// The tables for other rules, from the same place.
    pub fn by_rules(&self, rules: RuleSet) -> BearoffTables {
        BearoffTables::new(rules, self.shared.cache.clone())
    }

    /// The rules that they are for.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// The table of one side.
    pub fn one_sided(&self) -> &OneSided {
        self.shared.one_sided.get_or_init(|| {
            let (cache, spec) = (&self.shared.cache, self.shared.one_sided_spec);
            let usual = TableSpec::one_sided(self.rules);
            // A large table that turns out to be damaged takes too long to be built unasked.
            let found = (spec != usual).then(|| open_one_sided(cache, spec)).flatten();
            found.unwrap_or_else(|| obtain_one_sided(cache, usual, |_| ()).0)
        })
    }

    /// The table of both sides.
    pub fn two_sided(&self) -> &TwoSided {
        self.shared.two_sided.get_or_init(|| {
            let (cache, spec) = (&self.shared.cache, self.shared.two_sided_spec);
            let usual = TableSpec::two_sided(self.rules);
            let found = (spec != usual).then(|| open_two_sided(cache, spec)).flatten();
            found.unwrap_or_else(|| obtain_two_sided(cache, usual, |_| ()).0)
        })
    }

    /// How the game ends for the player on roll before he rolls, if both sides are bearing off in reach of the tables, else
    /// `None`; a finished game is not theirs.
    ///
    /// Exact where the two-sided table reaches; elsewhere both sides are taken to play for the fewest rolls, of which
    /// [`OneSided`] speaks, and a side that has borne off no checker, where the gammon is at stake, for the fewest rolls to
    /// the first.
    pub fn probabilities(&self, position: &Position) -> Option<Probabilities> {
        if !self.may_reach(position) {
            return None;
        }
        let (player, opponent) = (Side::of_player(position)?, Side::of_opponent(position)?);
        if self.are_few(position)
            && let Some(equity) = self.two_sided().cubeless(&player, &opponent)
        {
            return Some(Probabilities::from_array([(equity.0 + 1.0) / 2.0, 0.0, 0.0, 0.0, 0.0]));
        }
        self.race(position, &player, &opponent)
    }

    /// Loads or builds both tables now, rather than in the middle of something.
    pub fn ready(&self) {
        self.one_sided();
        self.two_sided();
    }

    /// Whether the two-sided table reaches the position.
    pub fn is_two_sided(&self, position: &Position) -> bool {
        // The one-sided table may have more points, and a larger table may have turned out to be damaged.
        let known = || {
            let (player, opponent) = (Side::of_player(position)?, Side::of_opponent(position)?);
            self.two_sided().cubeless(&player, &opponent)
        };
        self.are_few(position) && self.may_reach(position) && known().is_some()
    }

    /// The exact equities with every cube if the two-sided table reaches the position and money play by its rules has a
    /// cube.
    pub fn money_equities(&self, position: &Position) -> Option<MoneyEquities> {
        let has_cube = self.rules.terms().cube.is_some_and(|cube| cube.in_money_play);
        if !has_cube || !self.are_few(position) || !self.may_reach(position) {
            return None;
        }
        self.two_sided().money(&Side::of_player(position)?, &Side::of_opponent(position)?)
    }

    /// The probabilities from the distributions of both sides.
    fn race(&self, position: &Position, player: &Side, opponent: &Side) -> Option<Probabilities> {
        let table = self.one_sided();
        let (own, his) = (table.all_off(player)?, table.all_off(opponent)?);
        let mut p = Probabilities { win: own.comes_first(his) as f32, ..Probabilities::default() };
        if self.rules.has_gammons() {
            // How a gammon that is also more ends is not in the tables.
            let safe = self.rules.terms().triple.map_or(BAR, |triple| triple.furthest_safe_point());
            let whole = |side: &Side| side.checkers() == CHECKERS;
            let triple = |side: &Side| whole(side) && side.counts().iter().skip(safe).any(|&count| count > 0);
            if triple(player) || triple(opponent) {
                return None;
            }
            if whole(opponent) {
                p.win_gammon = own.comes_first(table.first_off(opponent)?) as f32;
            }
            if whole(player) {
                p.lose_gammon = his.comes_first_from_behind(table.first_off(player)?) as f32;
            }
        }
        Some(p.made_possible(position, self.rules))
    }

    /// Whether no side has more checkers than a two-sided table has.
    #[inline]
    fn are_few(&self, position: &Position) -> bool {
        let few = self.shared.two_sided_spec.checkers();
        position.off() + few >= CHECKERS && position.opponent_off() + few >= CHECKERS
    }

    /// Whether no checker stands further back than a table reaches, the sides have passed each other, and the game goes on.
    #[inline]
    fn may_reach(&self, position: &Position) -> bool {
        let reach = usize::from(self.shared.one_sided_spec.points().max(self.shared.two_sided_spec.points()));
        let points = position.points();
        points[reach + 1..].iter().all(|&count| count <= 0)
            && points[..BAR - reach].iter().all(|&count| count >= 0)
            && position.is_race()
            && !position.is_over()
    }

    /// Whether a sound table `spec` is in a cache folder.
    pub fn is_kept(spec: &TableSpec, cache: &CacheFolder) -> bool {
        match spec.kind() {
            TableKind::OneSided => open_one_sided(cache, *spec).is_some(),
            TableKind::TwoSided => open_two_sided(cache, *spec).is_some(),
        }
    }

    /// Finds the table `spec` in a cache folder, or builds it on the threads of the current rayon pool and keeps it
    /// there. `progress` hears the share that is done, nothing if it is found, else first 0.
    pub fn prepare(spec: TableSpec, cache: &CacheFolder, progress: impl FnMut(f64)) -> Origin {
        match spec.kind() {
            TableKind::OneSided => obtain_one_sided(cache, spec, progress).1,
            TableKind::TwoSided => obtain_two_sided(cache, spec, progress).1,
        }
    }
}

fn open_one_sided(cache: &CacheFolder, spec: TableSpec) -> Option<OneSided> {
    OneSided::from_words(spec, Words::map(&cache.path(&spec)?, &spec).ok()?).ok()
}

fn open_two_sided(cache: &CacheFolder, spec: TableSpec) -> Option<TwoSided> {
    TwoSided::from_words(spec, Words::map(&cache.path(&spec)?, &spec).ok()?).ok()
}

fn obtain_one_sided(cache: &CacheFolder, spec: TableSpec, progress: impl FnMut(f64)) -> (OneSided, Origin) {
    cache.obtain(
        spec,
        |path| OneSided::from_words(spec, Words::map(path, &spec).ok()?).ok(),
        || OneSided::build(spec, progress),
        OneSided::words,
    )
}

fn obtain_two_sided(cache: &CacheFolder, spec: TableSpec, progress: impl FnMut(f64)) -> (TwoSided, Origin) {
    cache.obtain(
        spec,
        |path| TwoSided::from_words(spec, Words::map(path, &spec).ok()?).ok(),
        || TwoSided::build(spec, progress),
        TwoSided::words,
    )
}

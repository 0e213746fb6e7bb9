//! What the runner has said about the game, until he says otherwise.

use crate::{
    board::{
        CubeOwner, CubeState, CubeValueError, GameState, HIGHEST_CUBE, MatchId, MatchPlayer, Position, Resignation,
        Xgid, XgidAction, XgidPlayer,
    },
    rules::{Dice, MatchScore, MoneyOptions, RuleSet, Session, Stakes},
};

use super::{
    command::{NewSession, Setup},
    error::UbgiError,
};

/// The state of a game; players are p0 and p1.
#[derive(Clone, Copy, Debug)]
pub struct Game {
    /// Points that win the match; `None` in money play.
    length: Option<u32>,
    money: MoneyOptions,
    crawford_rule: bool,
    crawford: Crawford,
    scores: [u32; 2],
    cube_value: u32,
    cube_owner: Option<MatchPlayer>,
    highest_cube: u32,
    turn: MatchPlayer,
    /// Seen by the player on roll.
    position: Option<Position>,
    dice: Option<Dice>,
    /// Whether the player on roll has doubled.
    doubled: bool,
    /// Whether the dice have had their answer.
    answered: bool,
}

/// Which game of the match is the Crawford game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crawford {
    /// None so far.
    NotYet,
    /// The one at these scores.
    At([u32; 2]),
    /// One that has been played.
    Over,
}

impl Game {
    /// Money play before anything is said, with the options that are usual.
    pub fn new(money: MoneyOptions) -> Game {
        Game {
            length: None,
            money,
            crawford_rule: true,
            crawford: Crawford::NotYet,
            scores: [0, 0],
            cube_value: 1,
            cube_owner: None,
            highest_cube: HIGHEST_CUBE,
            turn: MatchPlayer::Zero,
            position: None,
            dice: None,
            doubled: false,
            answered: false,
        }
    }

    /// Forgets all of the last game but the score.
    pub fn new_game(&mut self) {
        let Game { length, money, crawford_rule, crawford, scores, .. } = *self;
        *self = Game { length, money, crawford_rule, crawford, scores, ..Game::new(money) };
    }

    /// Begins another session; what it leaves open is as in `usual`.
    ///
    /// # Errors
    /// A length that no match has.
    pub fn new_session(&mut self, session: NewSession, usual: MoneyOptions) -> Result<(), UbgiError> {
        let NewSession { length, jacoby, beavers, crawford } = session;
        if let Some(length) = length {
            MatchScore::new(length, [0, 0], false).map_err(|error| UbgiError::argument("length", error))?;
        }
        let money = MoneyOptions { jacoby: jacoby.unwrap_or(usual.jacoby), beavers: beavers.unwrap_or(usual.beavers) };
        *self = Game { length, crawford_rule: crawford, ..Game::new(money) };
        self.see_crawford();
        Ok(())
    }

    /// Says whether beavers are on in money play.
    pub fn set_beavers(&mut self, on: bool) {
        self.money.beavers = on;
    }

    /// Sets the points of p0 and p1.
    ///
    /// # Errors
    /// A score at which the match is over.
    pub fn set_scores(&mut self, scores: [u32; 2]) -> Result<(), UbgiError> {
        if let Some(length) = self.length {
            MatchScore::new(length, scores, false).map_err(|error| UbgiError::argument("score", error))?;
        }
        self.scores = scores;
        self.see_crawford();
        Ok(())
    }

    /// Takes note of the score at which a player first needs one point.
    fn see_crawford(&mut self) {
        let one_away =
            self.scores.iter().filter(|&&score| self.length.is_some_and(|length| score == length - 1)).count();
        self.crawford = match (one_away, self.crawford) {
            (0, _) => Crawford::NotYet,
            (1, Crawford::NotYet) => Crawford::At(self.scores),
            (1, known) => known,
            // It has been played before both need one point.
            _ => Crawford::Over,
        };
    }

    /// Sets the cube.
    ///
    /// # Errors
    /// A cube that does not exist.
    pub fn set_cube(&mut self, value: u32, owner: Option<MatchPlayer>) -> Result<(), UbgiError> {
        CubeState::new(value, CubeOwner::Centered).map_err(|error| UbgiError::argument("cube", error))?;
        (self.cube_value, self.cube_owner) = (value, owner);
        Ok(())
    }

    /// Says who is on roll.
    pub fn set_turn(&mut self, player: MatchPlayer) {
        self.turn = player;
    }

    /// Says what was rolled.
    pub fn set_dice(&mut self, dice: Dice) {
        (self.dice, self.answered) = (Some(dice), false);
    }

    /// The dice have had their answer: another position comes with others.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Sets the position, and all else that is said beside it.
    ///
    /// # Errors
    /// An XGID or a Match ID of a game that waits for nothing that can be asked.
    pub fn set_up(&mut self, setup: Setup) -> Result<(), UbgiError> {
        let invalid = |error: &dyn ToString| UbgiError::argument("invalid_position", error.to_string());
        match setup {
            Setup::Position(position) => {
                self.position = Some(position);
                self.doubled = false;
                if self.answered {
                    (self.dice, self.answered) = (None, false);
                }
            }
            Setup::Match(position, id) => {
                if id.state != GameState::Playing || id.resignation != Resignation::None {
                    return Err(invalid(
                        &"the Match ID is of a game that waits for no roll, play or answer to a double",
                    ));
                }
                let MatchId { match_length, scores, crawford, cube_value, cube_owner, on_roll, double_offered, .. } =
                    id;
                let dice = id.dice.map(|[a, b]| Dice::new(a, b)).transpose().map_err(|error| invalid(&error))?;
                *self = Game {
                    length: (match_length > 0).then_some(match_length),
                    scores,
                    cube_value,
                    cube_owner,
                    turn: on_roll,
                    position: Some(position),
                    dice,
                    doubled: double_offered,
                    ..Game::new(self.money)
                };
                self.say_crawford(crawford);
            }
            Setup::Xgid(xgid) => {
                let Xgid { position, cube_value, action, match_length, crawford, jacoby, beavers, max_cube, .. } = xgid;
                let player = |side| if side == XgidPlayer::Bottom { MatchPlayer::One } else { MatchPlayer::Zero };
                let dice = match action {
                    XgidAction::Rolled([a, b]) => Some(Dice::new(a, b).map_err(|error| invalid(&error))?),
                    XgidAction::None | XgidAction::Doubled => None,
                    XgidAction::Beavered | XgidAction::Raccooned => return Err(UbgiError::Unsupported("beaver")),
                };
                let turn = player(xgid.turn);
                let [own, others] = xgid.scores;
                *self = Game {
                    length: (match_length > 0).then_some(match_length),
                    scores: if turn == MatchPlayer::Zero { [own, others] } else { [others, own] },
                    cube_value,
                    cube_owner: xgid.cube_holder().map(player),
                    highest_cube: max_cube,
                    turn,
                    position: Some(position),
                    dice,
                    doubled: action == XgidAction::Doubled,
                    ..Game::new(MoneyOptions { jacoby, beavers })
                };
                self.say_crawford(crawford);
            }
        }
        Ok(())
    }

    /// Somebody knows whether this is the Crawford game.
    fn say_crawford(&mut self, crawford: bool) {
        self.crawford = if crawford { Crawford::At(self.scores) } else { Crawford::Over };
        self.see_crawford();
    }

    /// The position, seen by the player on roll.
    ///
    /// # Errors
    /// None so far.
    pub fn position(&self) -> Result<Position, UbgiError> {
        self.position.ok_or(UbgiError::MissingContext("position"))
    }

    /// The dice.
    ///
    /// # Errors
    /// None so far.
    pub fn dice(&self) -> Result<Dice, UbgiError> {
        self.dice.ok_or(UbgiError::MissingContext("dice"))
    }

    /// Whether the player on roll has doubled.
    pub fn is_doubled(&self) -> bool {
        self.doubled
    }

    /// What is on in money play by these rules.
    pub fn money(&self, rules: RuleSet) -> MoneyOptions {
        if rules.terms().money_options { self.money } else { MoneyOptions::default() }
    }

    /// What is played for, seen by the player on roll.
    ///
    /// # Errors
    /// A score or a cube that cannot be.
    pub fn stakes(&self, rules: RuleSet) -> Result<Stakes, UbgiError> {
        let session = match self.length {
            None => Session::Money(self.money(rules)),
            Some(length) => {
                let [zero, one] = self.scores;
                let scores = if self.turn == MatchPlayer::Zero { [zero, one] } else { [one, zero] };
                let crawford = self.crawford_rule && self.crawford == Crawford::At(self.scores);
                let score = MatchScore::new(length, scores, crawford);
                Session::Match(score.map_err(|error| UbgiError::argument("score", error))?)
            }
        };
        let owner = match self.cube_owner {
            None => CubeOwner::Centered,
            Some(owner) if owner == self.turn => CubeOwner::Player,
            Some(_) => CubeOwner::Opponent,
        };
        let cube = CubeState::new(self.cube_value, owner)
            .map_err(|error: CubeValueError| UbgiError::argument("cube", error))?;
        Ok(Stakes { highest_cube: self.highest_cube, ..Stakes::new(session, cube) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(length: Option<u32>) -> Game {
        let mut game = Game::new(MoneyOptions::default());
        let session = NewSession { length, jacoby: None, beavers: None, crawford: true };
        game.new_session(session, MoneyOptions { jacoby: true, beavers: false }).unwrap();
        game
    }

    fn crawford(game: &Game) -> bool {
        game.stakes(RuleSet::Backgammon).unwrap().score().unwrap().crawford()
    }

    #[test]
    fn the_first_score_with_one_point_to_go_is_that_of_the_crawford_game() {
        let mut game = session(Some(5));
        for (scores, expected) in [
            ([3, 2], false),
            ([4, 2], true),
            ([4, 2], true),
            ([4, 3], false),
            ([4, 4], false),
            ([0, 4], false),
            ([0, 0], false),
            ([1, 4], true),
        ] {
            game.set_scores(scores).unwrap();
            game.new_game();
            assert_eq!(crawford(&game), expected, "{scores:?}");
        }
        let said = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:4:1:0:5:10".parse().unwrap();
        game.set_up(Setup::Xgid(said)).unwrap();
        assert!(!crawford(&game));
        game.set_scores([2, 4]).unwrap();
        assert!(!crawford(&game));
    }

    #[test]
    fn any_score_is_one_of_money_play() {
        let mut game = session(None);
        game.set_scores([u32::MAX, u32::MAX]).unwrap();
        assert_eq!(game.stakes(RuleSet::Backgammon).unwrap().score(), None);
    }

    #[test]
    fn stakes_are_seen_by_the_player_on_roll() {
        let mut game = session(Some(7));
        game.set_scores([1, 2]).unwrap();
        game.set_cube(2, Some(MatchPlayer::Zero)).unwrap();
        for (turn, scores, owner) in
            [(MatchPlayer::Zero, [1, 2], CubeOwner::Player), (MatchPlayer::One, [2, 1], CubeOwner::Opponent)]
        {
            game.set_turn(turn);
            let stakes = game.stakes(RuleSet::Backgammon).unwrap();
            assert_eq!((stakes.score().unwrap().scores(), stakes.cube.owner()), (scores, owner));
        }
        assert!(game.set_scores([7, 0]).is_err() && game.set_cube(3, None).is_err());
        assert!(session(None).stakes(RuleSet::Backgammon).unwrap().money_options().jacoby);
        assert!(!session(None).stakes(RuleSet::Plain).unwrap().money_options().jacoby);
    }

    #[test]
    fn ids_say_all() {
        let mut game = session(None);
        let xgid: Xgid = "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:D:2:1:0:7:10".parse().unwrap();
        game.set_up(Setup::Xgid(xgid)).unwrap();
        let stakes = game.stakes(RuleSet::Backgammon).unwrap();
        assert!(game.is_doubled());
        assert_eq!((stakes.score().unwrap().scores(), stakes.cube.value()), ([1, 2], 2));
        assert_eq!(stakes.cube.owner(), CubeOwner::Player);
        game.set_up(Setup::Match(Position::START, "cInqAAAAAAAE".parse().unwrap())).unwrap();
        assert_eq!((game.dice().unwrap(), game.is_doubled()), (Dice::new(5, 2).unwrap(), false));
    }

    #[test]
    fn dice_may_come_first() {
        let mut game = session(None);
        let dice = Dice::new(3, 1).unwrap();
        game.set_dice(dice);
        game.set_up(Setup::Position(Position::START)).unwrap();
        assert_eq!(game.dice(), Ok(dice));
        game.answered();
        assert_eq!(game.dice(), Ok(dice));
        game.set_up(Setup::Position(Position::START)).unwrap();
        assert_eq!(game.dice(), Err(UbgiError::MissingContext("dice")));
    }
}

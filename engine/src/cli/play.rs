//! `zar play`: a game, a match or money play in the terminal.

use std::{
    fs,
    io::{self, BufRead, Read, Write},
    path::{Path, PathBuf},
};

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use rayon::ThreadPool;
use thiserror::Error;

use crate::{
    board::{MatchPlayer, Position},
    bot::{Bot, Turn, Valuation},
    durable,
    rules::{Action, Dice, Event, FirstRoll, Match, MatchOptions, MoneyOptions, Move, Phase, PlayTextError},
    seed,
};

use super::{
    CliError, Options,
    board_drawing::{Drawing, drawn},
};

/// Plays a game, a match or money play against you in the terminal
///
/// You are X and move from your 24-point down to 1 and off. Type "help" at any prompt to see what can
/// be done there. Plays are typed as in "8/5 6/5"; a play may be entered in parts.
#[derive(Clone, Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Points that win the match [default: money play, or single games where the rules have no matches].
    #[arg(long, value_name = "N")]
    length: Option<u32>,
    /// Go on with a match that was saved.
    #[arg(long, value_name = "FILE", conflicts_with = "length")]
    load: Option<PathBuf>,
}

/// Why the program stops playing.
enum Stop {
    /// The player wants to, or his input has ended.
    Quit,
    /// The terminal fails.
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}

/// What the player may type.
enum Command {
    Roll,
    Double,
    Take,
    Drop,
    Beaver,
    Resign(u32),
    Accept,
    Refuse,
    Hint,
    Undo,
    Board,
    Help,
    Save(PathBuf),
    Load(PathBuf),
    Quit,
    /// A command that does not say what it should.
    Unclear(&'static str),
    /// Anything else: a play, where one is expected.
    Text(String),
}

const YOU: MatchPlayer = MatchPlayer::One;
const BOT: MatchPlayer = MatchPlayer::Zero;

const HELP: &str = "\
  roll, r, Enter     roll the dice
  double, d          offer the cube
  take, drop, beaver answer a double
  8/5 6/5            play; bar/20, 6/off, 8/5(2) and 24/18/13 are understood, a part of a play too
  undo, u            take back the parts of a play entered so far
  hint, h            what the bot thinks
  resign [1|2|3]     offer to lose a single game, a gammon or a backgammon
  accept, refuse     answer such an offer
  board, b           draw the board again
  save FILE, load FILE
  quit, q";

fn command(line: &str) -> Command {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let file = || PathBuf::from(rest.trim());
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("" | "roll" | "r", "") => Command::Roll,
        ("double" | "redouble" | "d", "") => Command::Double,
        ("take" | "t" | "yes" | "y", "") => Command::Take,
        ("drop" | "pass" | "p" | "no" | "n", "") => Command::Drop,
        ("beaver", "") => Command::Beaver,
        ("resign", "" | "1" | "single") => Command::Resign(1),
        ("resign", "2" | "gammon" | "mars") => Command::Resign(2),
        ("resign", "3" | "backgammon") => Command::Resign(3),
        ("resign", _) => Command::Unclear("resign takes 1, 2 or 3"),
        ("accept" | "a", "") => Command::Accept,
        ("refuse" | "reject", "") => Command::Refuse,
        ("hint" | "h", "") => Command::Hint,
        ("undo" | "u", "") => Command::Undo,
        ("board" | "b", "") => Command::Board,
        ("help" | "?", "") => Command::Help,
        ("save", name) if !name.is_empty() => Command::Save(file()),
        ("load", name) if !name.is_empty() => Command::Load(file()),
        ("save" | "load", "") => Command::Unclear("save and load take the name of a file"),
        ("quit" | "q" | "exit", "") => Command::Quit,
        _ => Command::Text(line.to_owned()),
    }
}

/// A table at which the player and the bot sit.
struct Table<'a, 'm, R, W> {
    game: Match,
    bot: Bot<'m>,
    rng: Xoshiro256PlusPlus,
    input: R,
    out: &'a mut W,
    /// Parts of the play that is being entered.
    parts: Vec<String>,
    /// The most that the player has declined in this game when the bot offered to give up, in points at a cube of 1.
    declined: u32,
}

pub fn run(args: &Args, options: &Options, out: &mut impl Write) -> Result<(), CliError> {
    let money = MoneyOptions { jacoby: options.jacoby, beavers: options.beavers };
    let game = match &args.load {
        Some(path) => load(path).map_err(|error| CliError::Game { path: path.clone(), error })?,
        None => Match::new(options.rules, args.length, MatchOptions { money, ..MatchOptions::default() })?,
    };
    let mut asked = options.clone();
    asked.rules = game.rules();
    let seed = options.seed.unwrap_or_else(seed::fresh);
    let pool = options.thread_pool()?;
    asked.with_bot(|bot| {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Looking ahead uses the pool that it runs in; the terminal stays in this thread.
        let mut table = Table { game, bot, rng, input: io::stdin().lock(), out, parts: Vec::new(), declined: 0 };
        match table.sit(&pool) {
            Err(Stop::Io(error)) => Err(CliError::Output(error)),
            Ok(()) | Err(Stop::Quit) => Ok(()),
        }
    })
}

impl<R: BufRead, W: Write> Table<'_, '_, R, W> {
    /// Plays until the match is over or the player leaves.
    fn sit(&mut self, pool: &ThreadPool) -> Result<(), Stop> {
        writeln!(self.out, "{}. You are X; \"help\" says what you may type.", self.what_is_played())?;
        loop {
            let turn = self.game.turn();
            match self.game.phase() {
                Phase::MatchOver => {
                    let [bot, you] = self.game.scores();
                    let won = if you > bot { "You win" } else { "The bot wins" };
                    writeln!(self.out, "{won} the match {}-{}.", you.max(bot), you.min(bot))?;
                    return Ok(());
                }
                Phase::GameOver => self.between_games()?,
                Phase::Opening => self.opening()?,
                _ if turn == YOU => self.your_turn(pool)?,
                _ => self.bots_turn(pool)?,
            }
        }
    }

    fn what_is_played(&self) -> String {
        let rules = self.game.rules();
        match self.game.length() {
            Some(length) => format!("A match to {length} by the rules of {rules}"),
            None if rules.terms().matches => format!("Money play by the rules of {rules}"),
            None => format!("Single games by the rules of {rules}"),
        }
    }

    /// Does what cannot be refused.
    fn act(&mut self, by: MatchPlayer, action: Action) -> Result<Event, Stop> {
        let offer = self.game.resignation();
        let event = self.game.apply(by, action).map_err(|error| Stop::Io(io::Error::other(error.to_string())))?;
        match (action, offer) {
            (Action::Refuse, Some((BOT, points))) => self.declined = self.declined.max(points),
            (Action::NextGame, _) => self.declined = 0,
            _ => {}
        }
        if let Event::GameWon { winner, points } = event {
            let who = if winner == YOU { "You win" } else { "The bot wins" };
            let plural = if points == 1 { "" } else { "s" };
            let [bot, you] = self.game.scores();
            writeln!(self.out, "{who} {points} point{plural}. Score: you {you}, bot {bot}.")?;
        }
        Ok(event)
    }

    fn opening(&mut self) -> Result<(), Stop> {
        let dice = Dice::roll_each(&mut self.rng);
        self.act(BOT, Action::Opening(dice))?;
        let [bot, you] = dice;
        let begins = match you.cmp(&bot) {
            std::cmp::Ordering::Equal => "again",
            std::cmp::Ordering::Greater => "you begin",
            std::cmp::Ordering::Less => "the bot begins",
        };
        writeln!(self.out, "\nOpening roll: you {you}, bot {bot}; {begins}.")?;
        let afresh = self.game.rules().terms().first_roll == FirstRoll::Afresh;
        if afresh && self.game.phase() == Phase::Roll && self.game.on_roll() == YOU {
            writeln!(self.out, "You roll both dice for your first play.")?;
        }
        Ok(())
    }

    fn between_games(&mut self) -> Result<(), Stop> {
        loop {
            match self.ask("Next game? [Enter, save FILE, quit]")? {
                Command::Roll | Command::Take => {
                    self.act(BOT, Action::NextGame)?;
                    return Ok(());
                }
                Command::Drop => return Err(Stop::Quit),
                Command::Save(path) => self.save(&path)?,
                Command::Load(path) => return self.load(&path),
                Command::Help => writeln!(self.out, "{HELP}")?,
                _ => writeln!(self.out, "Press Enter for the next game, or type quit.")?,
            }
        }
    }

    /// The position as the player sees it, with the parts of his play that he has entered.
    fn seen(&self) -> Position {
        let position = *self.game.position();
        if self.game.on_roll() != YOU {
            return position.swapped();
        }
        let moves = self.parts.iter().flat_map(|part| moves_of(part)).flatten();
        moves.fold(position, |position, made| position.after_move(made).unwrap_or(position))
    }

    fn show(&mut self) -> Result<(), Stop> {
        let seen = self.seen();
        let stakes = self.game.stakes();
        let has_cube = stakes.is_some_and(|stakes| stakes.has_cube(self.game.rules()));
        let yours = self.game.on_roll() == YOU;
        let cube = stakes.filter(|_| has_cube).map(|stakes| if yours { stakes.cube } else { stakes.cube.swapped() });
        let [bot, you] = self.game.scores();
        let length = self.game.length().map(|length| format!("/{length}")).unwrap_or_default();
        let crawford = if self.game.crawford() { "   Crawford game" } else { "" };
        let line = |who: &str, score: u32, pips: u32, off: u8| {
            format!("{who:<7} score {score}{length}   pips {pips}   off {off}")
        };
        let above = line("O: bot", bot, seen.opponent_pip_count(), seen.opponent_off()) + crawford;
        let below = line("X: you", you, seen.pip_count(), seen.off());
        let dice = if yours { self.game.dice() } else { None };
        let drawing = Drawing { position: &seen, cube, above: &above, below: &below, dice };
        write!(self.out, "\n{}", drawn(&drawing))?;
        Ok(())
    }

    /// A line of the player; `Quit` when there are no more.
    fn ask(&mut self, prompt: &str) -> Result<Command, Stop> {
        write!(self.out, "{prompt} > ")?;
        self.out.flush()?;
        let mut line = Vec::new();
        if self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            writeln!(self.out)?;
            return Err(Stop::Quit);
        }
        // What is no text is no command either, and is answered like any other word that is none.
        match command(&String::from_utf8_lossy(&line)) {
            Command::Quit => Err(Stop::Quit),
            command => Ok(command),
        }
    }

    fn your_turn(&mut self, pool: &ThreadPool) -> Result<(), Stop> {
        self.show()?;
        loop {
            let resigned = self.game.resignation().map(|(_, points)| points);
            let prompt = match (self.game.phase(), resigned) {
                (_, Some(points)) => format!("The bot offers to lose {}: accept or refuse", size(points)),
                (Phase::Doubled, _) if self.game.stakes().is_some_and(|s| s.money_options().beavers) => {
                    "The bot doubles: take, drop or beaver".into()
                }
                (Phase::Doubled, _) => "The bot doubles: take or drop".into(),
                (Phase::Play(dice), _) => format!("Your play of {}-{}", dice.high(), dice.low()),
                _ if self.game.may_double() => "Roll or double".into(),
                _ => "Roll".into(),
            };
            let action = match (self.ask(&prompt)?, self.game.phase()) {
                (Command::Help, _) => {
                    writeln!(self.out, "{HELP}")?;
                    continue;
                }
                (Command::Board, _) => {
                    self.show()?;
                    continue;
                }
                (Command::Hint, _) => {
                    self.hint(pool)?;
                    continue;
                }
                (Command::Undo, _) => {
                    match self.parts.pop() {
                        Some(part) => {
                            writeln!(self.out, "{part} is taken back.")?;
                            self.show()?;
                        }
                        None => writeln!(self.out, "There is nothing to take back.")?,
                    }
                    continue;
                }
                (Command::Save(path), _) => {
                    self.save(&path)?;
                    continue;
                }
                (Command::Load(path), _) => return self.load(&path),
                (Command::Unclear(what), _) => {
                    writeln!(self.out, "No: {what}.")?;
                    continue;
                }
                (Command::Text(text), Phase::Play(dice)) if resigned.is_none() => match self.entered(text, dice)? {
                    Some(after) => Action::Play(after),
                    None => continue,
                },
                (Command::Roll, Phase::Roll) if resigned.is_none() => Action::Roll(Dice::roll(&mut self.rng)),
                (Command::Double, _) => Action::Double,
                (Command::Take, _) => {
                    if resigned.is_some() {
                        Action::Accept
                    } else {
                        Action::Take
                    }
                }
                (Command::Drop, _) => {
                    if resigned.is_some() {
                        Action::Refuse
                    } else {
                        Action::Drop
                    }
                }
                (Command::Beaver, _) => Action::Beaver,
                (Command::Accept, _) => {
                    if resigned.is_some() {
                        Action::Accept
                    } else {
                        Action::Take
                    }
                }
                (Command::Refuse, _) => {
                    if resigned.is_some() {
                        Action::Refuse
                    } else {
                        Action::Drop
                    }
                }
                (Command::Resign(points), _) => Action::Resign(points),
                _ => {
                    writeln!(self.out, "That is not possible now; \"help\" says what is.")?;
                    continue;
                }
            };
            match self.game.clone().apply(YOU, action) {
                Err(error) => {
                    writeln!(self.out, "No: {error}.")?;
                    continue;
                }
                Ok(_) => self.parts.clear(),
            }
            if let Action::Roll(dice) = action {
                writeln!(self.out, "You roll {}-{}.", dice.high(), dice.low())?;
            }
            if self.act(YOU, action)? == Event::TurnPassed {
                writeln!(self.out, "You cannot move.")?;
            }
            return Ok(());
        }
    }

    /// A play, or a part of one, that the player has typed: the result once the play is whole.
    fn entered(&mut self, text: String, dice: Dice) -> Result<Option<Position>, Stop> {
        let position = *self.game.position();
        let whole = self.parts.iter().chain([&text]).map(String::as_str).collect::<Vec<_>>().join(" ");
        match position.parse_play(&whole, dice, self.game.rules()) {
            Ok(legal) => return Ok(Some(legal.after)),
            Err(PlayTextError::MoreDice { .. }) if moves_of(&text).is_some_and(|moves| !moves.is_empty()) => {
                self.parts.push(text);
                self.show()?;
                writeln!(self.out, "There is more to play; \"undo\" takes this part back.")?;
            }
            Err(error) => writeln!(self.out, "No: {error}.")?,
        }
        Ok(None)
    }

    /// What the bot thinks of the decision that the player has to make.
    fn hint(&mut self, pool: &ThreadPool) -> Result<(), Stop> {
        let (position, Some(stakes)) = (*self.game.position(), self.game.stakes()) else { return Ok(()) };
        let bot = &mut self.bot;
        match self.game.phase() {
            _ if self.game.resignation().is_some() => {
                let game = &self.game;
                let accept = pool.install(|| bot.accepts(game));
                writeln!(self.out, "{}.", if accept { "Accept" } else { "Refuse" })?;
            }
            Phase::Play(dice) => {
                let plays = pool.install(|| bot.rank(&position, dice, Valuation::Cubeful(stakes)));
                for (place, play) in plays.iter().take(5).enumerate() {
                    writeln!(self.out, "  {}. {:<24} {:>6}", place + 1, play.play.text(&position), play.equity)?;
                }
            }
            Phase::Roll | Phase::Doubled => match pool.install(|| bot.cube_action(&position, &stakes)) {
                Ok(advice) => {
                    let d = advice.decision;
                    writeln!(self.out, "  no double    {:>6}", d.no_double)?;
                    writeln!(self.out, "  double, take {:>6}", d.double_take)?;
                    writeln!(self.out, "  double, drop {:>6}", d.double_drop)?;
                    writeln!(self.out, "  {d}.")?;
                }
                Err(_) => {
                    let evaluation = pool.install(|| bot.evaluate(&position, Valuation::Cubeful(stakes)));
                    writeln!(self.out, "  Roll: nothing else can be done. Equity {}.", evaluation.cubeful)?;
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn bots_turn(&mut self, pool: &ThreadPool) -> Result<(), Stop> {
        let Some(stakes) = self.game.stakes() else { return Err(Stop::Quit) };
        if let Phase::Play(dice) = self.game.phase()
            && self.game.resignation().is_none()
        {
            write!(self.out, "The bot has {}-{}", dice.high(), dice.low())?;
            return self.bots_play(dice, pool);
        }
        let (bot, game, declined) = (&mut self.bot, &self.game, self.declined);
        match pool.install(|| bot.turn(game, declined)) {
            None => return Ok(()),
            Some(Turn::Roll) => {
                let dice = Dice::roll(&mut self.rng);
                write!(self.out, "The bot rolls {}-{}", dice.high(), dice.low())?;
                match self.act(BOT, Action::Roll(dice))? {
                    Event::TurnPassed => writeln!(self.out, " and cannot move.")?,
                    _ => self.bots_play(dice, pool)?,
                }
            }
            Some(Turn::Act(action)) => {
                match action {
                    Action::Double => writeln!(self.out, "The bot doubles to {}.", 2 * stakes.cube.value())?,
                    Action::Resign(_) => writeln!(self.out, "The bot gives up.")?,
                    Action::Accept => writeln!(self.out, "The bot accepts.")?,
                    Action::Refuse => writeln!(self.out, "The bot refuses: the game goes on.")?,
                    Action::Take => writeln!(self.out, "The bot takes.")?,
                    Action::Drop => writeln!(self.out, "The bot drops.")?,
                    Action::Beaver => writeln!(self.out, "The bot beavers.")?,
                    _ => {}
                }
                self.act(BOT, action)?;
            }
        }
        Ok(())
    }

    fn bots_play(&mut self, dice: Dice, pool: &ThreadPool) -> Result<(), Stop> {
        let (bot, game) = (&mut self.bot, &self.game);
        let Some(Turn::Act(Action::Play(after))) = pool.install(|| bot.turn(game, 0)) else { return Ok(()) };
        let position = game.position();
        let legal = position.legal_plays(dice, game.rules());
        let text = legal.iter().find(|legal| legal.after == after).map(|legal| legal.play.text(position));
        writeln!(self.out, " and plays {}.", text.unwrap_or_default())?;
        self.act(BOT, Action::Play(after))?;
        Ok(())
    }

    fn save(&mut self, path: &Path) -> Result<(), Stop> {
        match write_saved(&self.game, path) {
            Ok(()) => writeln!(self.out, "Saved; \"load {0}\" or \"zar play --load {0}\" goes on.", path.display())?,
            Err(error) => writeln!(self.out, "Cannot save: {error}.")?,
        }
        Ok(())
    }

    fn load(&mut self, path: &Path) -> Result<(), Stop> {
        match load(path) {
            Ok(game) if game.rules() != self.game.rules() => {
                writeln!(self.out, "That is a match by the rules of {0}: start with --rules {0}.", game.rules())?;
            }
            Ok(game) => {
                self.game = game;
                self.parts.clear();
                self.declined = 0;
                writeln!(self.out, "{}.", self.what_is_played())?;
            }
            Err(error) => writeln!(self.out, "Cannot load {}: {error}.", path.display())?,
        }
        Ok(())
    }
}

/// Far longer than any play.
const LONGEST_LINE: u64 = 1 << 12;
/// Far longer than any saved match.
const LONGEST_FILE: u64 = 1 << 16;

/// What a resignation is called.
fn size(points: u32) -> &'static str {
    match points {
        1 => "a single game",
        2 => "a gammon",
        _ => "a backgammon",
    }
}

/// Why a saved match cannot be gone on with.
#[derive(Debug, Error)]
pub enum SavedGameError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It holds something else.
    #[error("not a saved match: {0}")]
    Json(#[from] serde_json::Error),
    /// No regular file of a sensible length.
    #[error("expected a file that \"save\" has written")]
    NoFile,
}

/// Writes a file that appears whole; through links, but not over devices.
fn write_saved(game: &Match, path: &Path) -> io::Result<()> {
    let text = serde_json::to_vec(game)?;
    let target = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => fs::canonicalize(path)?,
        Ok(_) => return Err(io::Error::other("expected a regular file or a new name")),
        Err(_) => path.to_owned(),
    };
    durable::write(&target, &text)
}

fn load(path: &Path) -> Result<Match, SavedGameError> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > LONGEST_FILE {
        return Err(SavedGameError::NoFile);
    }
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// The moves that a text says, one die or more each, as far as they can be drawn; `None` for other texts.
fn moves_of(text: &str) -> Option<Vec<Move>> {
    let point = |text: &str| match text.trim_end_matches('*') {
        "bar" => Some(25),
        "off" => Some(0),
        number => number.parse().ok().filter(|point| (0..=25).contains(point)),
    };
    let mut moves = Vec::new();
    for word in text.split_whitespace() {
        let (word, times) = match word.split_once('(') {
            Some((word, times)) => (word, times.trim_end_matches(')').parse().ok()?),
            None => (word, 1usize),
        };
        let stops: Vec<u8> = word.split('/').map(point).collect::<Option<_>>()?;
        for _ in 0..times.min(4) {
            moves.extend(stops.windows(2).map(|pair| Move { from: pair[0], to: pair[1] }));
        }
    }
    Some(moves)
}

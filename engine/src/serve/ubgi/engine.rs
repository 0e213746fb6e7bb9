//! The conversation: lines in, lines out, and the thread that thinks meanwhile.

use std::{
    io::{self, BufRead, Write},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{
    bot::{Bot, Level, Valuation},
    line_reader::{Line, next_line},
    rules::MoneyOptions,
    search::{RolloutOptions, Stop},
};

use super::{
    PROTOCOL,
    command::{Command, Go, Role},
    error::UbgiError,
    game::Game,
    keys::{Key, Settings},
    search::{DEPTHS, Found, News, Task, Wanted, think},
};

/// Bytes that a line may have.
const LONGEST_LINE: usize = 4096;
/// Lines and news that wait.
const MOST_WAITING: usize = 64;
/// How long a search that is stopped may take to tell what it has found since it last told anything.
const LAST_WORDS: Duration = Duration::from_millis(25);
/// How much earlier than it must a search for a limited time ends, to have its answer there in time.
const HEAD_START: Duration = Duration::from_millis(5);

/// The bot as an engine that speaks UBGI.
#[derive(Debug)]
pub struct Engine<'m> {
    bot: Bot<'m>,
    pool: Arc<ThreadPool>,
    /// What is on in money play unless the runner says otherwise.
    money: MoneyOptions,
    initial: Settings,
    settings: Settings,
    game: Game,
    searches: u64,
    running: Option<Running>,
}

/// Why a conversation has ended.
#[derive(Debug)]
pub enum Ended {
    /// The runner has said so, or has left.
    Quit,
    /// His lines cannot be read.
    Input(io::Error),
    /// Nothing can be written.
    Output(io::Error),
    /// No thread can be started.
    Thread(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Ended {
        Ended::Output(error)
    }
}

/// A search that goes on.
#[derive(Debug)]
struct Running {
    number: u64,
    stop: Stop,
    best: Option<Found>,
    /// When the answer is due, if it has been asked for.
    due: Option<Instant>,
    /// Whether it was asked in the first draft's way.
    bare: bool,
}

/// What the conversation waits for.
enum Event {
    Line(Line),
    /// There are no more lines, for this reason if there is one.
    End(Option<io::Error>),
    News(News),
}

impl<'m> Engine<'m> {
    /// An engine that begins with the level and the rules of `bot`, which has this seed, and looks ahead in `pool`. Unless
    /// the level `is_asked_for`, a time to think lets it look as far ahead as that allows.
    pub fn new(bot: Bot<'m>, is_asked_for: bool, seed: u64, pool: ThreadPool, money: MoneyOptions) -> Engine<'m> {
        let settings = Settings {
            level: bot.level(),
            level_is_asked_for: is_asked_for,
            threads: pool.current_num_threads(),
            seed,
            deterministic: true,
            cubeful: true,
            rules: bot.rules(),
            beavers: money.beavers,
            move_id: false,
        };
        let pool = Arc::new(pool);
        Engine { bot, pool, money, initial: settings, settings, game: Game::new(money), searches: 0, running: None }
    }

    /// Answers the lines of `input` until it ends, or until the runner quits.
    pub fn run(mut self, input: impl BufRead + Send + 'static, out: &mut impl Write) -> Ended {
        let (sender, events) = sync_channel(MOST_WAITING);
        let news = sender.clone();
        // It may wait for a line that never comes; nobody waits for it.
        if let Err(error) = thread::Builder::new().spawn(move || send_lines(input, &sender)) {
            return Ended::Thread(error);
        }
        let (tasks, waiting) = channel();
        thread::scope(|scope| {
            let thinking = move || {
                think(&waiting, |found| {
                    // When nobody listens any more, the tasks end too.
                    let _ = news.send(Event::News(found));
                });
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, thinking) {
                return Ended::Thread(error);
            }
            let send = |task| tasks.send(task).map_err(|_| UbgiError::Internal("nobody thinks".to_owned()));
            let ended = self.converse(events, &send, out).err().unwrap_or(Ended::Quit);
            if let Some(running) = &self.running {
                running.stop.now();
            }
            drop(tasks);
            ended
        })
    }

    fn converse(
        &mut self,
        events: Receiver<Event>,
        send: &dyn Fn(Task<'m>) -> Result<(), UbgiError>,
        out: &mut impl Write,
    ) -> Result<(), Ended> {
        let (mut ended, mut quits) = (false, false);
        while !ended || self.running.is_some() {
            let due = self.running.as_ref().filter(|running| running.best.is_some()).and_then(|running| running.due);
            let event = match due {
                Some(due) => events.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(RecvTimeoutError::from),
            };
            let event = match event {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    self.answer(out)?;
                    out.flush()?;
                    continue;
                }
                // The thread that thinks always listens.
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            match event {
                Event::End(None) => ended = true,
                Event::End(Some(error)) => return Err(Ended::Input(error)),
                Event::News(news) => self.hear(news, out)?,
                Event::Line(_) if quits => {}
                Event::Line(line) => match self.obey(line, send, out) {
                    Ok(()) => {}
                    Err(Refusal::Quit) => {
                        // What is owed is answered first; something is found at once.
                        self.stop(Duration::ZERO);
                        (ended, quits) = (true, true);
                    }
                    Err(Refusal::Io(error)) => return Err(error.into()),
                    Err(Refusal::Sorry) => writeln!(out, "sorry")?,
                    Err(Refusal::Error(error)) => writeln!(out, "error {error}")?,
                },
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Takes note of what the thread that thinks has found.
    fn hear(&mut self, news: News, out: &mut impl Write) -> io::Result<()> {
        let (News::Found(number, _) | News::Finished(number, _)) = news;
        let Some(running) = self.running.as_mut().filter(|running| running.number == number) else { return Ok(()) };
        match news {
            News::Found(_, found) => {
                tell_info(&found, out)?;
                running.best = Some(found);
                Ok(())
            }
            News::Finished(_, Ok(())) => self.answer(out),
            News::Finished(_, Err(error)) => {
                let bare = running.bare;
                self.running = None;
                if bare { writeln!(out, "sorry") } else { writeln!(out, "error {}", UbgiError::from(error)) }
            }
        }
    }

    /// Lets the search that goes on end, and answer within this time once it has found something.
    fn stop(&mut self, time: Duration) {
        if let Some(running) = &mut self.running {
            running.stop.now();
            let latest = Instant::now() + time;
            running.due = Some(running.due.map_or(latest, |due| due.min(latest)));
        }
    }

    /// Gives the best answer so far, and looks no further.
    fn answer(&mut self, out: &mut impl Write) -> io::Result<()> {
        if let Some(running) = self.running.take() {
            running.stop.now();
            // Every search has found something before it ends.
            if let Some(best) = running.best {
                out.write_all(best.answer.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Does what a line says.
    fn obey(
        &mut self,
        line: Line,
        send: &dyn Fn(Task<'m>) -> Result<(), UbgiError>,
        out: &mut impl Write,
    ) -> Result<(), Refusal> {
        let Line::Whole(bytes) = line else {
            return Err(UbgiError::argument("line", format_args!("longer than {LONGEST_LINE} bytes")).into());
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            UbgiError::argument("line", format_args!("not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let command: Command = text.parse()?;
        match command {
            Command::Ubgi => self.introduce(out)?,
            Command::IsReady => writeln!(out, "readyok")?,
            Command::Keys => write_lines(&self.initial.key_lines(), out)?,
            Command::Get(name) => writeln!(out, "{}", self.settings.value_line(&name)?)?,
            Command::Quit => return Err(Refusal::Quit),
            Command::Stop => self.stop(LAST_WORDS),
            _ if self.running.is_some() => return Err(UbgiError::SearchInProgress.into()),
            Command::Set { key, value } => self.set(&key, &value)?,
            Command::NewGame => self.game.new_game(),
            Command::NewSession(session) => {
                let usual = MoneyOptions { beavers: self.settings.beavers, ..self.money };
                self.game.new_session(session, usual)?;
            }
            Command::SetScore(scores) => self.game.set_scores(scores)?,
            Command::SetCube { value, owner } => self.game.set_cube(value, owner)?,
            Command::SetTurn(player) => self.game.set_turn(player),
            Command::Position(setup) => self.game.set_up(setup)?,
            Command::Dice(dice) => self.game.set_dice(dice),
            Command::Go(go) => {
                let wanted = self.wanted(go.role)?;
                self.search(wanted, go, send, out)?;
                self.game.answered();
            }
            Command::Bare(None) => return Err(Refusal::Sorry),
            Command::Bare(Some(line)) => {
                let money = self.game.money(self.settings.rules);
                let question = line.question(money).map_err(|_| Refusal::Sorry)?;
                let stakes = question.stakes.check(self.bot.rules());
                stakes.map_err(|_| Refusal::Sorry)?;
                self.search(Wanted::Bare(question), Go::default(), send, out)?;
            }
        }
        Ok(())
    }

    fn introduce(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "id name Zar")?;
        writeln!(out, "id author the Zar developers")?;
        writeln!(out, "id version {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "proto {PROTOCOL}")?;
        write_lines(&self.initial.option_lines(), out)?;
        write_lines(&self.initial.key_lines(), out)?;
        writeln!(out, "ubgiok")
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), UbgiError> {
        let mut settings = self.settings;
        let key = settings.set(name, value)?;
        let bad = |error: &dyn ToString| UbgiError::BadValue { key: name.to_owned(), detail: error.to_string() };
        match key {
            Key::Threads => {
                let pool = ThreadPoolBuilder::new().num_threads(settings.threads).build();
                self.pool = Arc::new(pool.map_err(|error| UbgiError::Internal(error.to_string()))?);
            }
            Key::Variant => self.bot = self.bot.by_rules(settings.rules).map_err(|error| bad(&error))?,
            Key::Beavers => self.game.set_beavers(settings.beavers),
            Key::Seed => self.bot = self.bot.clone().with_seed(settings.seed),
            Key::Level | Key::Ply | Key::Deterministic | Key::EvalMode | Key::MoveId => {}
        }
        self.settings = settings;
        Ok(())
    }

    /// The decision of a role in the game as it stands.
    fn wanted(&self, role: Role) -> Result<Wanted, UbgiError> {
        let position = self.game.position()?;
        let stakes = self.game.stakes(self.settings.rules)?;
        stakes.check(self.settings.rules).map_err(|error| UbgiError::argument("session", error))?;
        let doubled = self.game.is_doubled();
        match role {
            Role::Chequer => {
                let valuation = Valuation::counting(self.settings.cubeful, stakes);
                let with_id = self.settings.move_id;
                Ok(Wanted::Chequer { position, dice: self.game.dice()?, valuation, stakes, with_id })
            }
            Role::Cube | Role::Turn if doubled => Ok(Wanted::Take { position, stakes }),
            Role::Cube => Ok(Wanted::Cube { position, stakes }),
            Role::Turn => Ok(Wanted::Turn { position, stakes, dice: self.game.dice()? }),
        }
    }

    fn search(
        &mut self,
        wanted: Wanted,
        go: Go,
        send: &dyn Fn(Task<'m>) -> Result<(), UbgiError>,
        out: &mut impl Write,
    ) -> Result<(), Refusal> {
        self.searches += 1;
        let number = self.searches;
        let sign = Stop::on_sign();
        let stop = match go.time {
            Some(time) => sign.or_after(time.saturating_sub(HEAD_START)),
            None => sign,
        };
        let (mut bot, pool, begin) = (self.bot.clone(), self.pool.clone(), Instant::now());
        let mut level = self.settings.level;
        if go.time.is_some() && !self.settings.level_is_asked_for {
            level = Level::WITHIN_A_TIME;
        }
        if let Some(depth) = go.depth {
            level = DEPTHS[DEPTHS.len().min(depth as usize + 1) - 1];
        }
        if let Some(games) = go.trials {
            level = Level::Rollout;
            bot = bot.with_rollout(RolloutOptions { games, ..Bot::ROLLOUT });
        }
        let bare = matches!(wanted, Wanted::Bare(_));
        let task = Task { number, wanted, bot, pool, level, stop: stop.clone(), begin };
        if task.is_quick() {
            // That takes no longer than to hand it to another thread.
            let found =
                task.look(level).map_err(|error| if bare { Refusal::Sorry } else { UbgiError::from(error).into() })?;
            return Ok(tell(&found, out)?);
        }
        send(task)?;
        self.running = Some(Running { number, stop, best: None, due: None, bare });
        Ok(())
    }
}

/// Why a line has no other effect.
enum Refusal {
    /// The runner quits.
    Quit,
    /// The line is wrong.
    Error(UbgiError),
    /// A question in the first draft's way makes no sense.
    Sorry,
    /// Nothing can be written.
    Io(io::Error),
}

impl From<UbgiError> for Refusal {
    fn from(error: UbgiError) -> Refusal {
        Refusal::Error(error)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Io(error)
    }
}

fn tell_info(found: &Found, out: &mut impl Write) -> io::Result<()> {
    found.info.iter().try_for_each(|info| writeln!(out, "{info}"))
}

fn tell(found: &Found, out: &mut impl Write) -> io::Result<()> {
    tell_info(found, out)?;
    out.write_all(found.answer.as_bytes())
}

fn write_lines(lines: &[String], out: &mut impl Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// Reads lines until they end, or until nobody wants them.
fn send_lines(mut input: impl BufRead, sender: &SyncSender<Event>) {
    loop {
        let event = match next_line(&mut input, LONGEST_LINE) {
            Ok(Some(line)) => Event::Line(line),
            Ok(None) => Event::End(None),
            Err(error) => Event::End(Some(error)),
        };
        let last = matches!(event, Event::End(_));
        if sender.send(event).is_err() || last {
            return;
        }
    }
}

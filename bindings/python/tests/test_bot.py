"""The package as its users meet it."""

import doctest
import inspect
import multiprocessing
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import zar

START = "4HPwATDgc/ABMA"
# The player on roll is far ahead in a race without gammons.
AHEAD = "XGID=-DDDC---------dd--b-------:0:0:1:00:0:0:0:0:10"


@pytest.fixture(scope="module")
def bot():
    return zar.Bot()


def cubeless(probs):
    win, win_gammon, win_triple, lose_gammon, lose_triple = probs
    return 2 * win - 1 + win_gammon + win_triple - lose_gammon - lose_triple


def test_an_evaluation(bot):
    found = bot.evaluate(START)
    assert 0.5 < found.probs[0] < 0.56
    assert found.cubeless == pytest.approx(cubeless(found.probs), abs=1e-5)
    assert 0 < found.cubeful < 0.25
    assert found.mwc is None
    assert found == bot.evaluate("start") and found != bot.evaluate("sGfwATDgc/ABMA")
    in_match = bot.evaluate(START, match=zar.Match(7, (3, 5)))
    assert 0 < in_match.mwc < 0.5 and in_match.probs == found.probs


def test_plays(bot):
    plays = bot.plays(START, (3, 1))
    assert len(plays) == 16
    assert [play.equity for play in plays] == sorted((play.equity for play in plays), reverse=True)
    best = bot.best_play(START, (1, 3))
    assert (best.play, best.after) == ("8/5 6/5", "sGfwATDgc/ABMA") and best == plays[0]
    without = bot.best_play(START, (3, 1), cubeful=False)
    assert without.equity == pytest.approx(cubeless(without.probs), abs=1e-5) and without.equity != best.equity
    # The dice of the position, and nothing legal.
    assert bot.best_play("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10").play == "8/5 6/5"
    assert [play.play for play in bot.plays("27YBAGAAAIAAAA", (6, 1))] == [""]


def test_cube_actions(bot):
    assert bot.cube_action(START).action == "no-double"
    ahead = bot.cube_action(AHEAD)
    assert bot.cube_action(AHEAD, cube=zar.Cube(2, "player")).action == "redouble-drop"
    assert (ahead.action, ahead.dp, ahead.mwc, ahead.beaver) == ("double-drop", 1.0, None, False)
    assert ahead.dt > ahead.dp
    # Who loses the match with the game has nothing to lose by a redouble.
    desperate = bot.cube_action(START, cube=zar.Cube(2, "player"), match=zar.Match(7, (3, 5)))
    assert desperate.action.startswith("redouble")
    held = bot.cube_action(START, cube=zar.Cube(2, "player"), match=zar.Match(7, (1, 1)))
    assert held.action == "no-redouble" and len(held.mwc) == 3
    # A player far behind who doubles is beavered.
    behind = zar.position_id(-zar.points(AHEAD)[::-1])
    assert bot.cube_action(behind, beavers=True).beaver and not bot.cube_action(behind).beaver


def test_what_is_said_counts_more_than_the_position(bot):
    text = "XGID=-b----E-C---eE---c-e----B-:1:-1:1:31:0:0:3:0:10"
    with pytest.raises(ValueError, match="the opponent holds the cube"):
        bot.cube_action(text)
    assert bot.cube_action(text, cube=zar.Cube(2, "player")).action == "no-redouble"
    assert bot.best_play(text, (6, 5)).play == "24/13"
    jacoby = bot.evaluate(text, cube=zar.Cube(), jacoby=True, beavers=False)
    assert jacoby.cubeful != bot.evaluate(text, cube=zar.Cube(), jacoby=False, beavers=False).cubeful


@pytest.mark.parametrize(
    "ask, words",
    [
        (lambda bot: zar.Bot("9ply"), '"9ply" is not a level: expected beginner'),
        (lambda bot: zar.Bot(rules="chess"), '"chess" is not a rule set'),
        (lambda bot: zar.Bot(model="/nowhere/at all"), "cannot use the weights"),
        (lambda bot: zar.Bot(model="/"), "expected a regular file"),
        (lambda bot: zar.Bot(threads=0), "0 threads, expected 1 to 1024"),
        (lambda bot: bot.evaluate("nonsense"), '"nonsense" is no position'),
        (lambda bot: bot.evaluate("AAAA3q8AAAAAAA"), "is over"),
        (lambda bot: bot.best_play(START), 'a move needs "dice"'),
        (lambda bot: bot.plays(START, (7, 1)), "a die shows 1 to 6, not 7"),
        (lambda bot: bot.plays(START, (-1, 1)), "a die shows 1 to 6, not -1"),
        (lambda bot: zar.Cube(3), "the cube shows 3"),
        (lambda bot: zar.Cube(2, "me"), '"me" is no owner of the cube'),
        (lambda bot: zar.Match(7, (7, 0)), "does not fit a match to 7 points"),
        (lambda bot: zar.Match(7, (1, 2), crawford=True), "no score of a Crawford game"),
        (lambda bot: bot.evaluate(START, match=zar.Match(7), jacoby=True), "belong to money play"),
        (lambda bot: bot.cube_action(START, match=zar.Match(5, (4, 0), True)), "the Crawford game"),
        (lambda bot: zar.Bot(rules="table").evaluate(START, match=zar.Match(7)), "no matches under table"),
        (lambda bot: zar.Bot(rules="plain").cube_action(START), "there is no cube in this game under plain"),
        (lambda bot: zar.points("nonsense"), "is no position"),
        (lambda bot: zar.position_id([16] + [0] * 25), "the opponent's bar"),
        (lambda bot: bot.evaluate_batch(np.zeros((1, 25), np.int8)), r"shape \(1, 25\), expected \(n, 26\)"),
        (lambda bot: bot.evaluate_batch(np.zeros((1, 26), np.int8)), "row 0: both players have borne off"),
    ],
)
def test_whatever_is_wrong_is_a_value_error_in_the_words_of_the_engine(bot, ask, words):
    with pytest.raises(ValueError, match=words):
        ask(bot)


def test_other_types_are_type_errors(bot):
    for wrong in (np.zeros((1, 26)), np.zeros(26, np.int8), [[0] * 26]):
        with pytest.raises(TypeError):
            bot.evaluate_batch(wrong)
    with pytest.raises(TypeError):
        bot.evaluate(7)


def positions(bot, count):
    """Positions of games, as rows of counts."""
    rows, text, dice = [], START, np.random.default_rng(7)
    while len(rows) < count:
        rows.append(zar.points(text))
        text = bot.best_play(text, tuple(int(die) for die in dice.integers(1, 7, 2))).after
        try:
            bot.evaluate(text)
        except ValueError:
            text = START
    return np.stack(rows)


@pytest.mark.parametrize("level, count", [("0ply", 400), ("1ply", 40), ("casual", 40)])
def test_a_batch_has_the_answers_of_each_position(level, count):
    bot = zar.Bot(level, threads=2)
    rows = positions(zar.Bot(), count)
    score, cube = zar.Match(5, (1, 3)), zar.Cube(2, "opponent")
    for stakes in ({}, {"match": score, "cube": cube}, {"jacoby": True}):
        found = bot.evaluate_batch(rows, **stakes)
        assert (found.probs.shape, found.probs.dtype) == ((count, 5), np.float32)
        assert (found.cubeless.shape, found.cubeful.dtype, len(found)) == ((count,), np.float32, count)
        alone = [bot.evaluate(zar.position_id(row), **stakes) for row in rows]
        assert [tuple(row) for row in found.probs] == [one.probs for one in alone]
        assert list(found.cubeless) == [one.cubeless for one in alone]
        assert list(found.cubeful) == [one.cubeful for one in alone]


def test_batches_of_any_layout(bot):
    rows = positions(bot, 10)
    expected = bot.evaluate_batch(rows).probs
    assert (bot.evaluate_batch(np.asfortranarray(rows)).probs == expected).all()
    assert (bot.evaluate_batch(rows[::-2]).probs == expected[::-2]).all()
    assert bot.evaluate_batch(rows[:0]).probs.shape == (0, 5)
    # A game that is over is worth its points: the opponent has borne off, the player has not begun to.
    over = np.zeros((1, 26), np.int8)
    over[0, 6] = 15
    assert bot.evaluate_batch(over).cubeless[0] == -2


def test_arrays_of_other_kinds_are_refused(bot):
    rows = positions(bot, 3)
    for other in (rows.astype(np.int16), rows.astype(np.uint8), rows.astype(float), rows[0], rows[None], rows.tolist()):
        with pytest.raises(TypeError):
            bot.evaluate_batch(other)
    with pytest.raises(ValueError, match="shape .3, 25., expected .n, 26."):
        bot.evaluate_batch(rows[:, 1:])
    with pytest.raises(ValueError, match="row 1: "):
        bot.evaluate_batch(np.stack([rows[0], np.full(26, -128, np.int8)]))
    rows.flags.writeable = False
    assert len(bot.evaluate_batch(np.broadcast_to(rows[0], (100, 26)))) == 100
    for wrong in (lambda: zar.Match(-1), lambda: zar.position_id([200] * 26), lambda: zar.Bot(threads=-1)):
        with pytest.raises(OverflowError):
            wrong()


@pytest.mark.parametrize("rules", ["backgammon", "tavla", "tavla2004", "table", "plain"])
def test_a_batch_has_the_answers_by_every_rule_set(rules):
    bot, rows = zar.Bot(rules=rules), positions(zar.Bot(), 200)
    found = bot.evaluate_batch(rows)
    alone = [bot.evaluate(zar.position_id(row)) for row in rows]
    assert [tuple(row) for row in found.probs] == [one.probs for one in alone]
    assert [*found.cubeful] == [one.cubeful for one in alone] and [*found.cubeless] == [one.cubeless for one in alone]


def test_counts_of_checkers():
    start = zar.points(START)
    assert (start.shape, start.dtype) == ((26,), np.int8)
    assert list(np.flatnonzero(start > 0)) == [6, 8, 13, 24] and list(np.flatnonzero(start < 0)) == [1, 12, 17, 19]
    assert zar.position_id(start) == START and zar.position_id([int(count) for count in start]) == START


def test_other_threads_run_meanwhile():
    """While the bot thinks, Python goes on."""
    bot, done, steps = zar.Bot("3ply", threads=1), threading.Event(), 0
    bot.best_play(START, (3, 1))

    def think():
        for dice in ((2, 1), (4, 1), (5, 1)):
            bot.best_play(START, dice)
        done.set()

    begin = time.monotonic()
    thread = threading.Thread(target=think)
    thread.start()
    while not done.is_set():
        steps += 1
        time.sleep(0.001)
    thread.join()
    spent = time.monotonic() - begin
    # Had the bot kept the lock of the interpreter, there would be a step between two questions at most.
    assert steps > 10 and steps > 50 * spent, (steps, spent)


def test_weights_of_a_file():
    weights = Path(__file__).parents[3] / "models/tavla2004/weights.zar"
    bot = zar.Bot(rules="tavla2004", model=weights)
    assert bot.plays(START, (6, 5)) == zar.Bot(rules="tavla2004").plays(START, (6, 5))
    assert bot.evaluate(START) != zar.Bot().evaluate(START)
    with pytest.raises(ValueError, match="expected weights whose outcomes are those of backgammon"):
        zar.Bot(model=str(weights))


@pytest.mark.parametrize("level", ["0ply", "1ply"])
def test_threads_may_share_a_bot(level):
    bot, alone = zar.Bot(level), zar.Bot(level)
    asked = [(first, second) for first in range(1, 7) for second in range(1, 7)]
    with ThreadPoolExecutor(8) as threads:
        shared = list(threads.map(lambda dice: bot.best_play(START, dice), asked))
    assert shared == [alone.best_play(START, dice) for dice in asked]


def test_threads_may_share_a_bot_that_has_its_own():
    """None of a bot's own threads waits for another question than the one that is being answered."""
    bot, alone = zar.Bot("2ply", threads=3), zar.Bot("2ply", threads=1)
    texts = [zar.position_id(row) for row in positions(zar.Bot(), 24)]

    def think(text):
        time.sleep(0.01 * (hash(text) % 3))
        return bot.evaluate(text)

    with ThreadPoolExecutor(3) as threads:
        shared = list(threads.map(think, texts, timeout=120))
    assert shared == [alone.evaluate(text) for text in texts]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("threads", [None, 2])
def test_forked_processes_may_use_a_bot(threads):
    bots = [zar.Bot("0ply", threads=threads), zar.Bot("1ply", threads=threads)]
    rows = np.stack([zar.points(START)] * 300)

    def answers():
        return [(bot.evaluate(START).cubeful, bot.evaluate_batch(rows).cubeful.tolist()) for bot in bots]

    expected, context = answers(), multiprocessing.get_context("fork")
    said = context.SimpleQueue()
    process = context.Process(target=lambda: said.put(answers() == expected))
    process.start()
    process.join(60)
    alive = process.is_alive()
    process.kill()
    assert not alive and process.exitcode == 0 and said.get()
    assert answers() == expected


def test_the_cache_is_where_it_is_said(tmp_path):
    assert zar.Bot(cache=tmp_path / "cache").evaluate(START) == zar.Bot().evaluate(START)
    assert any((tmp_path / "cache").iterdir())


def test_levels_and_rules():
    bot = zar.Bot("casual", "tavla2004")
    assert (bot.level, bot.rules, repr(bot)) == ("casual", "tavla2004", 'Bot("casual", "tavla2004")')
    assert zar.Bot("casual", seed=1).evaluate(START) != zar.Bot("casual", seed=2).evaluate(START)
    assert zar.Bot("casual", seed=1).evaluate(START) == zar.Bot("casual", seed=1).evaluate(START)


def test_what_is_shown(bot):
    assert repr(zar.Match(7, (6, 2), crawford=True)) == "Match(7, (6, 2), crawford=True)"
    assert repr(zar.Cube(2, "player")) == 'Cube(2, "player")'
    assert repr(bot.best_play(START, (3, 1))).startswith('Play("8/5 6/5", after="sGfwATDgc/ABMA", equity=+0.')
    assert repr(bot.cube_action(START)).startswith('CubeDecision("no-double", nd=+0.')
    assert repr(bot.evaluate(START, match=zar.Match(3))).startswith("Evaluation(probs=(0.5")
    assert repr(bot.evaluate_batch(zar.points(START)[None])) == "Evaluations(of 1 positions)"
    assert {zar.Cube(): 1}[zar.Cube(1, "centered")] == 1 and {zar.Match(7): 2}[zar.Match(7, (0, 0))] == 2


def test_answers_do_not_change(bot):
    for answer, name in [
        (bot.evaluate(START), "cubeful"),
        (bot.best_play(START, (3, 1)), "play"),
        (bot.cube_action(START), "nd"),
        (zar.Cube(), "value"),
        (zar.Match(7), "score"),
    ]:
        with pytest.raises(AttributeError):
            setattr(answer, name, 1)


def test_the_examples_run(capsys):
    assert doctest.testmod(zar) == (0, 3)
    for readme in ("README.md", "bindings/python/README.md"):
        text = (Path(__file__).parents[3] / readme).read_text()
        for block in text.split("```python\n")[1:]:
            exec(block.split("```")[0], {})
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "8/5 6/5" and said[1].startswith('CubeDecision("no-double", nd='), said


def test_everything_has_a_docstring():
    for name in zar.__all__:
        thing = getattr(zar, name)
        assert name.startswith("__") or inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                assert member.startswith("__") or inspect.getdoc(value) or name not in ("Bot", "Cube", "Match"), member


def test_the_types_are_those_of_the_code():
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "zar"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

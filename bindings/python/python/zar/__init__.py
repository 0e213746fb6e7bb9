"""Zar, a backgammon engine whose networks have learnt from their own play alone.

A position is a text: a GNU Backgammon Position ID, ``PositionID:MatchID``, an XGID, or ``"start"``. Everything is seen by
the player on roll; equities are points per unit of the cube, in a match EMG. Whatever is wrong raises ``ValueError`` with the
engine's words; a thing of another type raises ``TypeError``, and a number that no position, cube or match could hold may
raise ``OverflowError``, as in Python itself.

>>> import zar
>>> bot = zar.Bot()
>>> bot.best_play("start", (3, 1)).play
'8/5 6/5'
"""

from ._zar import (
    Bot,
    Cube,
    CubeDecision,
    Evaluation,
    Evaluations,
    Match,
    Play,
    __version__,
    points,
    position_id,
)

__all__ = [
    "Bot",
    "Cube",
    "CubeDecision",
    "Evaluation",
    "Evaluations",
    "Match",
    "Play",
    "__version__",
    "points",
    "position_id",
]

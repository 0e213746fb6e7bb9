import os
from typing import Literal, Optional, Sequence, Tuple, final

import numpy as np
import numpy.typing as npt

_Probabilities = Tuple[float, float, float, float, float]
_Owner = Literal["centered", "player", "opponent"]
_Rules = Literal["backgammon", "tavla", "tavla2004", "table", "plain"]
_Level = Literal[
    "0ply", "1ply", "2ply", "3ply", "rollout", "beginner", "casual", "intermediate", "advanced", "expert", "worldclass"
]
_Action = Literal[
    "no-double",
    "double-take",
    "double-drop",
    "too-good",
    "no-redouble",
    "redouble-take",
    "redouble-drop",
]

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

__version__: str

@final
class Cube:
    value: int
    owner: _Owner
    def __new__(cls, value: int = 1, owner: str = "centered") -> Cube: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Match:
    length: int
    score: Tuple[int, int]
    crawford: bool
    def __new__(cls, length: int, score: Tuple[int, int] = (0, 0), crawford: bool = False) -> Match: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Evaluation:
    @property
    def probs(self) -> _Probabilities: ...
    @property
    def cubeless(self) -> float: ...
    @property
    def cubeful(self) -> float: ...
    @property
    def mwc(self) -> Optional[float]: ...

@final
class Play:
    @property
    def play(self) -> str: ...
    @property
    def after(self) -> str: ...
    @property
    def equity(self) -> float: ...
    @property
    def probs(self) -> _Probabilities: ...

@final
class CubeDecision:
    @property
    def action(self) -> _Action: ...
    @property
    def nd(self) -> float: ...
    @property
    def dt(self) -> float: ...
    @property
    def dp(self) -> float: ...
    @property
    def probs(self) -> _Probabilities: ...
    @property
    def mwc(self) -> Optional[Tuple[float, float, float]]: ...
    @property
    def beaver(self) -> bool: ...

@final
class Evaluations:
    @property
    def probs(self) -> npt.NDArray[np.float32]: ...
    @property
    def cubeless(self) -> npt.NDArray[np.float32]: ...
    @property
    def cubeful(self) -> npt.NDArray[np.float32]: ...
    def __len__(self) -> int: ...

@final
class Bot:
    def __new__(
        cls,
        level: str = "0ply",
        rules: str = "backgammon",
        model: Optional[os.PathLike[str] | str] = None,
        *,
        seed: int = 0,
        threads: Optional[int] = None,
        cache: Optional[os.PathLike[str] | str] = None,
    ) -> Bot: ...
    @property
    def level(self) -> _Level: ...
    @property
    def rules(self) -> _Rules: ...
    def evaluate(
        self,
        position: str,
        *,
        match: Optional[Match] = None,
        cube: Optional[Cube] = None,
        jacoby: Optional[bool] = None,
        beavers: Optional[bool] = None,
    ) -> Evaluation: ...
    def plays(
        self,
        position: str,
        dice: Optional[Tuple[int, int]] = None,
        *,
        cubeful: bool = True,
        match: Optional[Match] = None,
        cube: Optional[Cube] = None,
        jacoby: Optional[bool] = None,
        beavers: Optional[bool] = None,
    ) -> list[Play]: ...
    def best_play(
        self,
        position: str,
        dice: Optional[Tuple[int, int]] = None,
        *,
        cubeful: bool = True,
        match: Optional[Match] = None,
        cube: Optional[Cube] = None,
        jacoby: Optional[bool] = None,
        beavers: Optional[bool] = None,
    ) -> Play: ...
    def cube_action(
        self,
        position: str,
        *,
        match: Optional[Match] = None,
        cube: Optional[Cube] = None,
        jacoby: Optional[bool] = None,
        beavers: Optional[bool] = None,
    ) -> CubeDecision: ...
    def evaluate_batch(
        self,
        points: npt.NDArray[np.int8],
        *,
        match: Optional[Match] = None,
        cube: Optional[Cube] = None,
        jacoby: Optional[bool] = None,
        beavers: Optional[bool] = None,
    ) -> Evaluations: ...

def points(position: str) -> npt.NDArray[np.int8]: ...
def position_id(points: npt.NDArray[np.int8] | Sequence[int]) -> str: ...

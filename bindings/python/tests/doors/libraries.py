"""Answers requests of `zar decide` with the package zar and, through ctypes, with the library for C, whose path is given.

A request a line on standard input; on standard output a line with both answers, the second null where the library for C
cannot be asked.
"""

import ctypes as c
import json
import sys

import zar

OWNERS = {"centered": 0, "player": 1, "opponent": -1}


class Stakes(c.Structure):
    _fields_ = [
        ("cube_value", c.c_uint32),
        ("cube_owner", c.c_int32),
        ("highest_cube", c.c_uint32),
        ("match_length", c.c_uint32),
        ("score", c.c_uint32),
        ("opponent_score", c.c_uint32),
        ("crawford", c.c_uint8),
        ("jacoby", c.c_uint8),
        ("beavers", c.c_uint8),
        ("cubeless", c.c_uint8),
    ]


class Evaluation(c.Structure):
    _fields_ = [("probs", c.c_float * 5), ("cubeless", c.c_float), ("cubeful", c.c_float), ("mwc", c.c_float)]


class Play(c.Structure):
    _fields_ = [("play", c.c_char * 64), ("after", c.c_char * 16), ("equity", c.c_float), ("probs", c.c_float * 5)]


class CubeDecision(c.Structure):
    _fields_ = [
        ("action", c.c_int),
        ("name", c.c_char * 16),
        ("nd", c.c_float),
        ("dt", c.c_float),
        ("dp", c.c_float),
        ("probs", c.c_float * 5),
        ("mwc", c.c_float * 3),
        ("beaver", c.c_bool),
    ]


class Python:
    """The package zar."""

    def __init__(self):
        self.bots = {}

    def answer(self, request):
        try:
            return self.ask(request)
        except ValueError as error:
            return {"error": str(error)}

    def ask(self, request):
        key = (request["level"], request["rules"])
        if key not in self.bots:
            self.bots[key] = zar.Bot(*key, threads=2)
        bot, stakes = self.bots[key], {}
        if "cube" in request:
            stakes["cube"] = zar.Cube(**request["cube"])
        if "match" in request:
            score = request["match"]
            stakes["match"] = zar.Match(score["length"], tuple(score["score"]), score["crawford"])
        for option in ("jacoby", "beavers"):
            if option in request:
                stakes[option] = request[option]
        position, dice, want = request["pos"], request.get("dice"), request.get("want")
        if dice or want == "move":
            asked = (position, tuple(dice) if dice else None)
            plays = bot.plays(*asked, cubeful=request.get("cubeful", True), **stakes)
            assert plays[0] == bot.best_play(*asked, cubeful=request.get("cubeful", True), **stakes)
            return moves([(play.play, play.after, play.equity) for play in plays], plays[0].probs)
        if want == "eval":
            found = bot.evaluate(position, **stakes)
            return evaluation(found.probs, found.cubeless, found.cubeful, found.mwc)
        found = bot.cube_action(position, **stakes)
        return cube(found.action, (found.nd, found.dt, found.dp), found.probs, found.mwc, found.beaver)


class C:
    """The library for C."""

    def __init__(self, path):
        self.library, self.bots = c.CDLL(path), {}
        self.error = c.create_string_buffer(512)

    def answer(self, request):
        stakes = None
        if "cube" in request:
            if request["pos"].startswith("XGID"):
                return None
            score = request.get("match", {"length": 0, "score": [0, 0], "crawford": False})
            stakes = Stakes(
                request["cube"]["value"],
                OWNERS[request["cube"]["owner"]],
                0,
                score["length"],
                *score["score"],
                score["crawford"],
                request.get("jacoby", False),
                request.get("beavers", False),
                not request.get("cubeful", True),
            )
        elif not request.get("cubeful", True):
            return None
        status, answer = self.ask(request, None if stakes is None else c.byref(stakes))
        return answer if status == 0 else {"error": self.error.value.decode()}

    def bot(self, request):
        key = (request["rules"].encode(), request["level"].encode())
        if key not in self.bots:
            bot = c.c_void_p()
            status = self.library.zar_bot_open(*key, None, c.byref(bot), self.error)
            assert status == 0, self.error.value
            self.bots[key] = bot
        return self.bots[key]

    def ask(self, request, stakes):
        bot, position, want = self.bot(request), request["pos"].encode(), request.get("want")
        if "dice" in request or want == "move":
            dice, plays, count = request.get("dice", [0, 0]), (Play * 4096)(), c.c_size_t()
            room = c.c_size_t(len(plays))
            status = self.library.zar_plays(bot, position, *dice, stakes, plays, room, c.byref(count), self.error)
            if status != 0:
                return status, None
            best = Play()
            assert self.library.zar_best_play(bot, position, *dice, stakes, c.byref(best), self.error) == 0
            assert (best.play, best.after, best.equity) == (plays[0].play, plays[0].after, plays[0].equity)
            found = [(play.play.decode(), play.after.decode(), play.equity) for play in plays[: count.value]]
            return status, moves(found, plays[0].probs)
        if want == "eval":
            found = Evaluation()
            status = self.library.zar_evaluate(bot, position, stakes, c.byref(found), self.error)
            return status, evaluation(found.probs, found.cubeless, found.cubeful, chance(found.mwc))
        found = CubeDecision()
        status = self.library.zar_cube_action(bot, position, stakes, c.byref(found), self.error)
        mwc = None if chance(found.mwc[0]) is None else tuple(found.mwc)
        return status, cube(found.name.decode(), (found.nd, found.dt, found.dp), found.probs, mwc, found.beaver)


def chance(number):
    """A chance, or None for what is not a number."""
    return number if number == number else None


def moves(plays, probs):
    plays = [{"play": play, "after": after, "equity": equity} for play, after, equity in plays]
    return {**plays[0], "probs": list(probs), "plays": plays}


def evaluation(probs, cubeless, cubeful, mwc):
    answer = {"probs": list(probs), "cubeless": cubeless, "cubeful": cubeful}
    return answer if mwc is None else {**answer, "mwc": mwc}


def cube(action, equities, probs, mwc, beaver):
    answer = {"action": action, **dict(zip(("nd", "dt", "dp"), equities)), "probs": list(probs)}
    if mwc is not None:
        answer["mwc"] = dict(zip(("nd", "dt", "dp"), mwc))
    return {**answer, "beaver": True} if beaver else answer


def main():
    python, library = Python(), C(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps([python.answer(request), library.answer(request)]))


main()

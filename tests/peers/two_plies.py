#!/usr/bin/env python3
"""Times Zar and GNU Backgammon on the same decisions, in turns, each on one thread.

two_plies.py [--decisions N] [--plies P] [--filter NAME]

Plays: the first N contact decisions of tests/data/checker_dev.jsonl, cubeless, GNU Backgammon with its default move filter
and pruning networks. Cube decisions: the first N of tests/data/cube_dev.jsonl in money play. Needs gnubg and a release build."""
import argparse, base64, json, os, shutil, socket, statistics, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")


def points(position_id):
    """Counts from the opponent's bar (0, negative) to the own bar (25), as the player on roll sees them."""
    bits = int.from_bytes(base64.b64decode(position_id + "=="), "little")
    sides = []
    for _ in range(2):
        side = []
        for _ in range(25):
            count = 0
            while bits & 1:
                count, bits = count + 1, bits >> 1
            bits >>= 1
            side.append(count)
        sides.append(side)
    other, own = sides
    board = [0] * 26
    for i in range(24):
        board[i + 1] += own[i]
        board[24 - i] -= other[i]
    board[25], board[0] = own[24], -other[24]
    return board


def board_line(position_id, dice):
    counts = points(position_id)
    off = [15 - sum(c for c in counts if c > 0), 15 + sum(c for c in counts if c < 0)]
    a, b = dice
    middle = ":".join(map(str, counts))
    return f"board:X:O:0:0:0:{middle}:1:{a}:{b}:{a}:{b}:1:1:1:0:1:-1:0:25:{off[0]}:{off[1]}:0:0:0:0:0:0\n"


class Gnubg:
    def __init__(self, plies):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.folder = tempfile.mkdtemp()
        commands = ["set threads 1", "set evaluation sameasanalysis off", "set jacoby off"]
        for kind in ["chequerplay", "cubedecision"]:
            evaluation = f"set evaluation {kind} evaluation"
            commands += [
                f"set evaluation {kind} type evaluation",
                f"{evaluation} plies {plies}",
                f"{evaluation} cubeful {'on' if kind == 'cubedecision' else 'off'}",
                f"{evaluation} prune on",
                f"{evaluation} noise 0",
            ]
        commands.append(f"external 127.0.0.1:{port}")
        program = shutil.which("gnubg") or "/usr/games/gnubg"
        self.process = subprocess.Popen(
            [program, "-t", "-q", "-r", "-s", self.folder],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write("\n".join(commands) + "\n")
        self.process.stdin.flush()
        for _ in range(600):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.1)
        self.replies = self.socket.makefile()

    def ask(self, line):
        self.socket.sendall(line.encode())
        return self.replies.readline()

    def end(self):
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Zar:
    def __init__(self, plies, move_filter):
        program = os.path.join(ROOT, "target", "release", "zar")
        arguments = [program, "decide", "--threads", "1", "--level", f"{plies}ply", "--filter", move_filter]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.kill()


def read(name):
    with open(os.path.join(ROOT, "tests", "data", name)) as lines:
        return [json.loads(line) for line in lines if line.strip()]


def timed(ask, *arguments):
    begin = time.perf_counter()
    answer = ask(*arguments)
    return time.perf_counter() - begin, answer


def report(what, ours, theirs):
    def row(times):
        return f"median {1000 * statistics.median(times):8.3f} ms   mean {1000 * statistics.mean(times):8.3f} ms"
    ratio = statistics.median(theirs) / statistics.median(ours), sum(theirs) / sum(ours)
    print(f"{what}, {len(ours)} decisions\n  zar    {row(ours)}\n  gnubg  {row(theirs)}"
          f"\n  gnubg's time is {ratio[0]:.1f} (median) and {ratio[1]:.1f} (mean) times zar's", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--decisions", type=int, default=200)
    parser.add_argument("--plies", type=int, default=2)
    parser.add_argument("--filter", default="normal")
    arguments = parser.parse_args()
    zar, gnubg = Zar(arguments.plies, arguments.filter), Gnubg(arguments.plies)
    try:
        # The first answers start what is needed.
        zar.ask({"pos": "4HPwATDgc/ABMA", "dice": [3, 1], "cubeful": False})
        gnubg.ask(board_line("4HPwATDgc/ABMA", [3, 1]))
        ours, theirs = [], []
        for line in [x for x in read("checker_dev.jsonl") if x["class"] == "contact"][:arguments.decisions]:
            ours.append(timed(zar.ask, {"pos": line["pos"], "dice": line["dice"], "cubeful": False})[0])
            theirs.append(timed(gnubg.ask, board_line(line["pos"], line["dice"]))[0])
        report(f"plays at {arguments.plies} plies, {arguments.filter} filter", ours, theirs)
        ours, theirs, answers = [], [], []
        money = [x for x in read("cube_dev.jsonl") if not x.get("match") and "double" in json.dumps(x)]
        for line in money[:arguments.decisions]:
            ours.append(timed(zar.ask, {"pos": line["pos"]})[0])
            took, answer = timed(gnubg.ask, board_line(line["pos"], [0, 0]))
            theirs.append(took)
            answers.append(answer.strip())
        report(f"cube decisions at {arguments.plies} plies", ours, theirs)
        print("  gnubg's answers:", {answer: answers.count(answer) for answer in set(answers)})
    finally:
        zar.end()
        gnubg.end()


main()

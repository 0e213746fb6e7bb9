# Gerald Tesauro's pubeval as a player over lines. A request is 52 numbers: the opponent's checkers on his points 1-24
# and his bar, those of the player on roll likewise, two dice. The answer is the play in moves such as 8/5, 25 for the
# bar and 0 for off; an empty line when nothing is legal.
import signal
import sys

# Ctrl-C in the terminal ends the duel; no traceback from here.
signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from gnubg_nn import pub_best_move
except ImportError as error:
    print("missing:", error)
    sys.exit(1)

print("ready", flush=True)
for line in sys.stdin:
    numbers = [int(word) for word in line.split()]
    places = pub_best_move([numbers[:25], numbers[25:50]], numbers[50], numbers[51])
    # Points count from 0, the bar is 24, off is negative.
    moves = zip(places[::2], places[1::2])
    print(*(f"{source + 1}/{max(target + 1, 0)}" for source, target in moves), flush=True)

// Zar, a backgammon engine, for programs in C. Link with -lzar_c; the static library needs -lpthread -ldl -lm too on Linux.
//
//   ZarBot *bot = NULL;
//   ZarError error;
//   ZarPlay play;
//   if (zar_bot_open("backgammon", "0ply", NULL, &bot, &error) == ZAR_STATUS_OK
//       && zar_best_play(bot, "4HPwATDgc/ABMA", 3, 1, NULL, &play, &error) == ZAR_STATUS_OK)
//     puts(play.play); // 8/5 6/5
//   else
//     fprintf(stderr, "%s\n", error.text);
//   zar_bot_free(bot);
//
// A position is a text: a GNU Backgammon Position ID, PositionID:MatchID, an XGID, or "start". All is seen by the
// player on roll. Probabilities are five: to win, to win a gammon or better, to win a triple game (a backgammon), to lose
// a gammon or worse, to lose a triple game. Equities are points per unit of the cube, in a match EMG.
//
// Texts are UTF-8 and end with 0. A pointer that is not said to be optional must not be null; a null one, like anything
// else that is wrong, is answered with a status and, where `error` is not null, with a text. What a function writes its
// answer to is left alone when it fails. Any thread may use a bot; a bot answers one question after the other.
//
// Bear-off tables are built in a second on first use, and kept in the folder that the environment variable ZAR_CACHE
// names or else in the user's cache folder. Levels that look ahead use all cores, or as many as RAYON_NUM_THREADS says. After
// fork() both processes may use a bot, unless it was being asked at that moment.
//
// This file is made from the code by cbindgen: do not edit it.


#ifndef ZAR_H
#define ZAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The cube is in the middle.
#define ZAR_CUBE_CENTERED 0

// The player on roll holds the cube.
#define ZAR_CUBE_PLAYER 1

// The opponent of the player on roll holds the cube.
#define ZAR_CUBE_OPPONENT -1

// Bytes of the text of an error, with its end.
#define ZAR_ERROR_SIZE 512

// Bytes of the text of a play, with its end.
#define ZAR_PLAY_SIZE 64

// Bytes of a Position ID, with its end.
#define ZAR_POSITION_ID_SIZE 16

// Bytes of the name of a cube action, with its end.
#define ZAR_ACTION_SIZE 16

// How a call has ended.
typedef enum ZarStatus {
  // Well.
  ZAR_STATUS_OK = 0,
  // A pointer is null that must not be.
  ZAR_STATUS_NULL_POINTER = 1,
  // A text is not UTF-8.
  ZAR_STATUS_NOT_UTF8 = 2,
  // What is asked makes no sense; the error's text says why.
  ZAR_STATUS_REFUSED = 3,
  // The library has a fault. The bot can still be used.
  ZAR_STATUS_INTERNAL = 4,
} ZarStatus;

// What a player who may turn the cube should do before he rolls, and the answer to a double.
typedef enum ZarCubeAction {
  // Roll.
  ZAR_CUBE_ACTION_NO_DOUBLE = 0,
  // Double; the opponent takes.
  ZAR_CUBE_ACTION_DOUBLE_TAKE = 1,
  // Double; the opponent drops.
  ZAR_CUBE_ACTION_DOUBLE_DROP = 2,
  // Roll, since playing on for a gammon is worth more than a drop.
  ZAR_CUBE_ACTION_TOO_GOOD = 3,
} ZarCubeAction;

// A bot: rules, a level, and weights.
typedef struct ZarBot ZarBot;

// What is wrong, and what was expected; empty when nothing is.
typedef struct ZarError {
  // UTF-8 that ends with 0; what is longer is cut.
  char text[ZAR_ERROR_SIZE];
} ZarError;

// What a game is played for, seen by the player on roll. All zero: money play, the cube in the middle at 1.
//
// Where a function is given none (a null pointer), the text of the position says it.
typedef struct ZarStakes {
  // What the cube shows: 1, 2, 4 ...; 0 counts as 1.
  uint32_t cube_value;
  // ZAR_CUBE_CENTERED, ZAR_CUBE_PLAYER or ZAR_CUBE_OPPONENT.
  int32_t cube_owner;
  // The highest value that the cube may reach; 0 where only the rules limit it.
  uint32_t highest_cube;
  // Points that win the match; 0 in money play.
  uint32_t match_length;
  // Points that the player on roll has in the match.
  uint32_t score;
  // Points that his opponent has.
  uint32_t opponent_score;
  // Not 0 in the Crawford game.
  uint8_t crawford;
  // Not 0 where the Jacoby rule is on, in money play.
  uint8_t jacoby;
  // Not 0 where beavers are on, in money play.
  uint8_t beavers;
  // Not 0 where the cube and the score are left out of all equities.
  uint8_t cubeless;
} ZarStakes;

// What a position is worth to the player on roll before he rolls.
typedef struct ZarEvaluation {
  // The five probabilities.
  float probabilities[5];
  // Points at a cube of 1 that nobody may turn.
  float cubeless;
  // Cube and score counted in, with the right to double this turn; where the stakes are cubeless, as `cubeless`.
  float cubeful;
  // The chance to win the match; not a number (NaN) in money play, and where the stakes are cubeless.
  float match_winning_chance;
} ZarEvaluation;

// A play.
typedef struct ZarPlay {
  // As in "8/5 6/5"; empty when nothing is legal.
  char play[ZAR_PLAY_SIZE];
  // Position ID of its result, as the next player sees it.
  char after[ZAR_POSITION_ID_SIZE];
  // Its equity for the player who makes it.
  float equity;
  // The five probabilities after it, for the player who makes it.
  float probabilities[5];
} ZarPlay;

// A cube decision.
typedef struct ZarCubeDecision {
  // What to do.
  enum ZarCubeAction action;
  // The same in a word: "no-double", "double-take", "double-drop" or "too-good", or with a cube that the player on roll
  // holds "no-redouble", "redouble-take", "redouble-drop" or "too-good".
  char name[ZAR_ACTION_SIZE];
  // The equity without a double.
  float no_double;
  // The equity after a double that is taken.
  float double_take;
  // The equity after a double that is dropped.
  float double_drop;
  // The five probabilities.
  float probabilities[5];
  // The chances to win the match in the order of the three equities; not numbers (NaN) in money play.
  float match_winning_chances[3];
  // Whether the opponent should answer a double with a beaver.
  bool beaver;
} ZarCubeDecision;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, as in "0.1.0".
const char *zar_version(void);

// Makes a bot, which zar_bot_free ends.
//
// rules: "backgammon", "tavla", "tavla2004", "table" or "plain"; level: "0ply" to "3ply", "rollout", or whom to imitate,
// as in "casual"; weights: the path of a weights file, or null for those in the library. Where `error` is null nothing is
// said.
enum ZarStatus zar_bot_open(const char *rules,
                            const char *level,
                            const char *weights,
                            struct ZarBot **bot,
                            struct ZarError *error);

// Ends a bot, which no thread may use any more. A null pointer is no fault.
void zar_bot_free(struct ZarBot *bot);

// What a position is worth to the player on roll before he rolls; dice in the position do not matter.
//
// stakes and error may be null.
enum ZarStatus zar_evaluate(const struct ZarBot *bot,
                            const char *position,
                            const struct ZarStakes *stakes,
                            struct ZarEvaluation *evaluation,
                            struct ZarError *error);

// The best play of a roll; the dice are those in the position where both numbers are 0.
//
// stakes and error may be null.
enum ZarStatus zar_best_play(const struct ZarBot *bot,
                             const char *position,
                             int first_die,
                             int second_die,
                             const struct ZarStakes *stakes,
                             struct ZarPlay *play,
                             struct ZarError *error);

// Every legal result of a roll once, the best first. `count` is told how many there are, always one at least, also where
// `plays` has room for fewer (`capacity`); the first ones are written. The dice are those in the position where both
// numbers are 0.
//
// stakes and error may be null, and plays too where capacity is 0.
enum ZarStatus zar_plays(const struct ZarBot *bot,
                         const char *position,
                         int first_die,
                         int second_die,
                         const struct ZarStakes *stakes,
                         struct ZarPlay *plays,
                         size_t capacity,
                         size_t *count,
                         struct ZarError *error);

// Whether the player on roll should double before he rolls, and what the opponent should answer; dice in the position do
// not matter. Refused where the player on roll may not turn the cube.
//
// stakes and error may be null.
enum ZarStatus zar_cube_action(const struct ZarBot *bot,
                               const char *position,
                               const struct ZarStakes *stakes,
                               struct ZarCubeDecision *decision,
                               struct ZarError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ZAR_H */

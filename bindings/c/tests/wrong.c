// Everything that can be wrong in a call, and what is answered: a status and a text a line.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "zar.h"

static ZarError error;

static void tell(ZarStatus status) {
  printf("%d%s%s\n", (int)status, error.text[0] ? " " : "", error.text);
  memset(&error, 'x', sizeof error);
}

int main(void) {
  const char *start = "start";
  ZarBot *bot = NULL;
  tell(zar_bot_open(NULL, "0ply", NULL, &bot, &error));
  tell(zar_bot_open("backgammon", "0ply", NULL, NULL, &error));
  tell(zar_bot_open("backgammon", "\xff", NULL, &bot, &error));
  tell(zar_bot_open("chess", "0ply", NULL, &bot, &error));
  tell(zar_bot_open("backgammon", "9ply", NULL, &bot, &error));
  tell(zar_bot_open("backgammon", "0ply", "/nowhere/at all", &bot, &error));
  tell(zar_bot_open("backgammon", "0ply", "/", &bot, &error));
  if (bot != NULL || zar_bot_open("backgammon", "0ply", NULL, &bot, NULL) != ZAR_STATUS_OK)
    return 1;

  ZarEvaluation evaluation;
  tell(zar_evaluate(NULL, start, NULL, &evaluation, &error));
  tell(zar_evaluate(bot, NULL, NULL, &evaluation, &error));
  tell(zar_evaluate(bot, "\xff", NULL, &evaluation, &error));
  tell(zar_evaluate(bot, start, NULL, NULL, &error));
  tell(zar_evaluate(bot, "AAAA3q8AAAAAAA", NULL, &evaluation, &error));

  ZarPlay play;
  size_t count;
  tell(zar_best_play(bot, start, 3, 7, NULL, &play, &error));
  tell(zar_best_play(bot, start, -1, 0, NULL, &play, &error));
  tell(zar_best_play(bot, start, 0, 0, NULL, &play, &error));
  tell(zar_plays(bot, start, 3, 1, NULL, NULL, 1, &count, &error));
  tell(zar_plays(bot, start, 3, 1, NULL, &play, 1, NULL, &error));

  ZarCubeDecision decision;
  ZarStakes stakes = {0};
  stakes.cube_value = 3;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  stakes.cube_value = 2;
  stakes.cube_owner = 7;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  stakes.cube_owner = ZAR_CUBE_OPPONENT;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  memset(&stakes, 0, sizeof stakes);
  stakes.match_length = 5;
  stakes.score = 5;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  stakes.score = 4;
  stakes.jacoby = 1;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  stakes.jacoby = 0;
  stakes.crawford = 1;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));
  memset(&stakes, 0, sizeof stakes);
  stakes.cubeless = 1;
  tell(zar_cube_action(bot, start, &stakes, &decision, &error));

  // Without a place for its text an error is answered all the same.
  error.text[0] = 0;
  tell(zar_evaluate(bot, "nonsense", NULL, &evaluation, NULL));

  // A cubeless evaluation, and money play: no chance to win a match.
  ZarStatus status = zar_evaluate(bot, start, &stakes, &evaluation, &error);
  if (evaluation.cubeful != evaluation.cubeless || !isnan(evaluation.match_winning_chance))
    return 1;
  tell(status);

  // The plays of a look ahead are not chosen for the sake of a score that is left out.
  ZarBot *ahead = NULL;
  ZarEvaluation at_a_score;
  if (zar_bot_open("backgammon", "1ply", NULL, &ahead, &error) != ZAR_STATUS_OK
      || zar_evaluate(ahead, start, &stakes, &evaluation, &error) != ZAR_STATUS_OK)
    return 1;
  stakes.match_length = 1;
  if (zar_evaluate(ahead, start, &stakes, &at_a_score, &error) != ZAR_STATUS_OK
      || evaluation.cubeless != at_a_score.cubeless)
    return 1;
  zar_bot_free(ahead);

  // Room for one play of sixteen; and the dice of the position, with nothing legal.
  status = zar_plays(bot, "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", 0, 0, NULL, &play, 1, &count, &error);
  printf("%d %zu %s\n", (int)status, count, play.play);
  status = zar_plays(bot, "27YBAGAAAIAAAA", 6, 1, NULL, &play, 1, &count, &error);
  printf("%d %zu%s\n", (int)status, count, play.play);

  zar_bot_free(bot);
  zar_bot_free(NULL);
  return 0;
}

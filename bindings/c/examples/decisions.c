// Asks Zar for an evaluation, a play and a cube decision.
//
//   cargo build --release --package zar-c
//   cc -I bindings/c bindings/c/examples/decisions.c -L target/release -lzar_c -o decisions
//   LD_LIBRARY_PATH=target/release ./decisions

#include <stdio.h>

#include "zar.h"

static int failed(const ZarError *error) {
  fprintf(stderr, "%s\n", error->text);
  return 1;
}

static void print_probabilities(const float *probabilities) {
  for (int i = 0; i < 5; i++)
    printf(" %.6f", probabilities[i]);
  printf("\n");
}

int main(void) {
  ZarError error;
  ZarBot *bot = NULL;
  if (zar_bot_open("backgammon", "0ply", NULL, &bot, &error) != ZAR_STATUS_OK)
    return failed(&error);

  // Money play.
  ZarEvaluation evaluation;
  if (zar_evaluate(bot, "4HPwATDgc/ABMA", NULL, &evaluation, &error) != ZAR_STATUS_OK)
    return failed(&error);
  printf("eval %.6f %.6f", evaluation.cubeless, evaluation.cubeful);
  print_probabilities(evaluation.probabilities);

  // All plays of 3-1.
  ZarPlay plays[4];
  size_t count;
  if (zar_plays(bot, "4HPwATDgc/ABMA", 3, 1, NULL, plays, 4, &count, &error) != ZAR_STATUS_OK)
    return failed(&error);
  printf("plays %zu\n", count);
  for (size_t i = 0; i < count && i < 4; i++)
    printf("play %.6f %s %s\n", plays[i].equity, plays[i].after, plays[i].play);

  // At 3-5 in a match to 7, with the cube at 2 on the side of the player on roll.
  ZarStakes stakes = {0};
  stakes.match_length = 7;
  stakes.score = 3;
  stakes.opponent_score = 5;
  stakes.cube_value = 2;
  stakes.cube_owner = ZAR_CUBE_PLAYER;
  ZarCubeDecision decision;
  if (zar_cube_action(bot, "4HPwATDgc/ABMA", &stakes, &decision, &error) != ZAR_STATUS_OK)
    return failed(&error);
  printf("cube %s %.6f %.6f %.6f", decision.name, decision.no_double, decision.double_take, decision.double_drop);
  print_probabilities(decision.probabilities);

  zar_bot_free(bot);
  return 0;
}

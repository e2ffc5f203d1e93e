// arion eval: logits of given tokens, perplexity of a text, divergence between two models.
#include "eval.h"

#include <memory>

#include "command.h"

namespace arion::app {

void command_eval(CLI::App& program, const GlobalOptions& global) {
  CLI::App* command =
      program.add_subcommand("eval", "Measures a model: logits, perplexity, divergence");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  arion eval logits model.gguf --tokens 1,2,3 --hash\n"
      "  arion eval ppl model.gguf --file text.txt --ctx 512\n"
      "  arion eval kl small.gguf --reference large.gguf --file text.txt");
  add_eval_logits(*command, global);
  add_eval_ppl(*command, global);
  add_eval_kl(*command, global);
}

}  // namespace arion::app

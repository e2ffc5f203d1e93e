// The parts of `arion eval`, one file each.
#pragma once
#include "command.h"

namespace arion::app {

void add_eval_logits(CLI::App& eval, const GlobalOptions& global);
void add_eval_ppl(CLI::App& eval, const GlobalOptions& global);
void add_eval_kl(CLI::App& eval, const GlobalOptions& global);

}  // namespace arion::app

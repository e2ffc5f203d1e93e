// Answers to the requests of a batch, many at the same time.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "answer_file.h"
#include "assembly/answering_engine.h"
#include "batch_request.h"

namespace arion::app {

struct BatchCounts {
  size_t answered = 0;
  size_t refused = 0;  // with an error as their answer
  int64_t prompt_tokens = 0, completion_tokens = 0;
};

// Answers `requests` in the order in which they are done. A request that cannot be served has its
// error as answer. `on_answer` is called after each. Throws Interrupted after Ctrl-C, and Error
// when the file cannot be written; what is in flight is lost then.
BatchCounts answer_batch(const std::vector<BatchRequest>& requests, AnsweringEngine& answering,
                         int max_sequences, AnswerFile& file,
                         const std::function<void()>& on_answer);

}  // namespace arion::app

/* What a program in C does with the library. */
#include "c_client.h"

#include <stdio.h>
#include <string.h>

#include "arion/arion.h"

static int on_progress(void* data, uint64_t done, uint64_t total) {
  *(int*)data += done <= total ? 1 : -1000;
  return 0;
}

static int read_answer(arion_request* request, char* answer, size_t size) {
  const arion_event* event = NULL;
  int status = ARION_OK, finish = ARION_FINISH_NONE;
  size_t used = 0;
  while ((status = arion_request_next(request, -1, &event)) == ARION_OK) {
    if (event->text_len >= size - used) return ARION_FAILED;
    memcpy(answer + used, event->text, event->text_len);
    used += event->text_len;
    finish = event->finish;
  }
  answer[used] = '\0';
  return status == ARION_ENDED && finish == ARION_FINISH_LENGTH ? ARION_OK : ARION_FAILED;
}

int c_client_answer(const char* model, const char* json, char* answer, size_t size) {
  int calls = 0, status = ARION_OK;
  arion_engine_options options = {0};
  arion_engine* engine = NULL;
  arion_request* request = NULL;
  if (arion_abi_version() != ARION_ABI_VERSION) return ARION_FAILED;
  options.size = sizeof options;
  options.threads = 1;
  options.progress = on_progress;
  options.progress_data = &calls;
  status = arion_engine_open(model, &options, &engine);
  if (status != ARION_OK) {
    snprintf(answer, size, "%s", arion_last_error());
    return status;
  }
  status = arion_request_start(engine, ARION_COMPLETION, json, strlen(json), &request);
  if (status == ARION_OK) {
    status = read_answer(request, answer, size);
    arion_request_free(request);
  } else {
    snprintf(answer, size, "%s", arion_last_error());
  }
  arion_engine_close(engine);
  return calls > 0 ? status : ARION_FAILED;
}

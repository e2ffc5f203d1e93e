/* Compiled as C, called by a test in C++. */
#ifndef ARION_TESTS_C_CLIENT_H
#define ARION_TESTS_C_CLIENT_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens the model, answers one completion and closes; the answer, or why there is none. */
int c_client_answer(const char* model, const char* json, char* answer, size_t size);

#ifdef __cplusplus
}
#endif

#endif

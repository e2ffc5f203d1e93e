// CHECK states an invariant of the program: a failure is a bug here, never bad input.
#pragma once
#include <stdexcept>

#define ARION_STRINGIFY_(x) #x
#define ARION_STRINGIFY(x) ARION_STRINGIFY_(x)
#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition))                                                                 \
      throw std::logic_error(__FILE__ ":" ARION_STRINGIFY(__LINE__) ": " #condition); \
  } while (false)

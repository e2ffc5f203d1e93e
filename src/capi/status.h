// Exceptions become statuses of the C interface, with their text for arion_last_error.
#pragma once
#include <exception>
#include <new>

#include "arion/arion.h"
#include "base/error.h"

namespace arion {

// Of the calling thread. Never throws: a text there is no memory for is replaced by a shorter one.
void set_last_error(const char* message) noexcept;
const char* last_error() noexcept;

// Throws Error{usage} for NULL; `name` is that of the parameter.
template <typename T>
T& require(T* pointer, const char* name) {
  if (pointer == nullptr) fail(ErrorCode::usage, "{} is NULL", name);
  return *pointer;
}

// Runs `body`, which returns a status.
template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    set_last_error(error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    set_last_error("there is not enough memory");
  } catch (const std::exception& error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("an unknown error");
  }
  return ARION_FAILED;
}

}  // namespace arion

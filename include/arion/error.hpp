// The statuses of arion.h that are errors, as the exception of arion.hpp.
#ifndef ARION_ERROR_HPP
#define ARION_ERROR_HPP

#include <stdexcept>
#include <string>

#include "arion/arion.h"

namespace arion::client {

// What a function of arion.h refused, and why.
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }  // ARION_FAILED, ARION_USAGE, ...

 private:
  int status_;
};

// Throws Error unless all is well; statuses that are no errors come back.
inline int check(int status) {
  if (status >= ARION_FAILED && status <= ARION_OVERLOADED) throw Error(status, arion_last_error());
  return status;
}

}  // namespace arion::client

#endif  // ARION_ERROR_HPP

// What the interpreter changes for the time of a block.
#pragma once
#include <optional>
#include <utility>

#include "base/error.h"
#include "jinja/interpreter.h"

namespace arion::jinja {

// Counts nesting.
class Interpreter::Level {
 public:
  explicit Level(Interpreter& interpreter) : interpreter_(interpreter) {
    if (interpreter_.depth_ >= interpreter_.heap_.limits().depth) {
      fail(ErrorCode::bad_input, "maximum recursion depth exceeded");
    }
    ++interpreter_.depth_;
  }
  ~Level() { --interpreter_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Interpreter& interpreter_;
};

// Collects output for itself.
class Interpreter::Capture {
 public:
  explicit Capture(Interpreter& interpreter)
      : interpreter_(interpreter), before_(std::exchange(interpreter.out_, &text_)) {}
  ~Capture() { interpreter_.out_ = before_; }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Ends the capture.
  Value take() {
    interpreter_.out_ = before_;
    return make_string(interpreter_.heap_, std::move(text_));
  }

 private:
  Interpreter& interpreter_;
  Text text_;
  Text* const before_;
};

// Runs in a new activation of a unit.
class Interpreter::ActivationSwitch {
 public:
  ActivationSwitch(Interpreter& interpreter, const Unit& unit, Activation* outer)
      : interpreter_(interpreter), before_(interpreter.active_) {
    if (unit.outlives_call) {
      interpreter.heap_.charge(unit.slot_count * sizeof(Value));
      interpreter.active_ = interpreter.heap_.make<Activation>(unit.slot_count, outer);
    } else {
      interpreter.active_ = &local_.emplace(unit.slot_count, outer);
    }
  }
  ~ActivationSwitch() { interpreter_.active_ = before_; }
  ActivationSwitch(const ActivationSwitch&) = delete;
  ActivationSwitch& operator=(const ActivationSwitch&) = delete;

 private:
  Interpreter& interpreter_;
  Activation* const before_;
  std::optional<Activation> local_;
};

}  // namespace arion::jinja

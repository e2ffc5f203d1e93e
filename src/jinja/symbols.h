// The names of one frame and of those around it.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jinja/ast.h"

namespace arion::jinja {

// A unit being compiled.
struct UnitScope {
  Unit* unit;
  uint32_t depth;  // units around it
};

// After jinja2.idtracking.Symbols. A frame's table is analysed as a whole before code of the frame
// asks it where names are.
class Symbols {
 public:
  Symbols(const Symbols* parent, UnitScope unit)
      : parent_(parent), unit_(unit), slots_(std::make_shared<std::map<std::string, uint32_t>>()) {}

  void load(const std::string& name);
  void store(const std::string& name);
  uint32_t declare_parameter(const std::string& name);
  // Joins what the branches of an `if` do; they began as copies of this.
  void join(const std::vector<Symbols>& branches);

  // The place of a name that the analysis has seen, for code of this frame.
  Ref ref(const std::string& name) const;
  std::optional<Ref> find_ref(const std::string& name) const;
  Frame loads() const;
  const UnitScope& unit() const { return unit_; }
  size_t size() const { return refs_.size() + loads_.size() + stores_.size(); }

 private:
  struct Place {
    uint32_t depth, slot;
  };
  std::optional<Place> find(const std::string& name) const;
  std::optional<Place> find_outside(const std::string& name) const;
  uint32_t define(const std::string& name, SlotLoad::Action action, Ref outer = {});
  Ref relative(Place place) const { return {unit_.depth - place.depth, place.slot}; }

  const Symbols* parent_;
  UnitScope unit_;
  std::shared_ptr<std::map<std::string, uint32_t>> slots_;  // of the frame, shared by its branches
  std::map<std::string, uint32_t> refs_;
  std::map<uint32_t, SlotLoad> loads_;
  std::set<std::string> stores_;
};

}  // namespace arion::jinja

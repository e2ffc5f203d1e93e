#include "jinja/symbols.h"

#include "base/check.h"

namespace arion::jinja {

std::optional<Symbols::Place> Symbols::find(const std::string& name) const {
  const auto found = refs_.find(name);
  if (found != refs_.end()) return Place{unit_.depth, found->second};
  return find_outside(name);
}

std::optional<Symbols::Place> Symbols::find_outside(const std::string& name) const {
  if (parent_ == nullptr) return std::nullopt;
  return parent_->find(name);
}

uint32_t Symbols::define(const std::string& name, SlotLoad::Action action, Ref outer) {
  const auto [entry, is_new] = slots_->try_emplace(name, unit_.unit->slot_count);
  if (is_new) ++unit_.unit->slot_count;
  refs_[name] = entry->second;
  loads_[entry->second] = {entry->second, action, outer, name};
  return entry->second;
}

void Symbols::load(const std::string& name) {
  if (!find(name)) define(name, SlotLoad::Action::resolve);
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (refs_.contains(name)) return;
  if (const auto outer = find_outside(name)) {
    define(name, SlotLoad::Action::alias, relative(*outer));
  } else {
    define(name, SlotLoad::Action::clear);
  }
}

uint32_t Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  return define(name, SlotLoad::Action::parameter);
}

void Symbols::join(const std::vector<Symbols>& branches) {
  std::set<std::string> stored;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_) {
      if (!stores_.contains(name)) stored.insert(name);
    }
  }
  for (const Symbols& branch : branches) {
    for (const auto& [name, slot] : branch.refs_) refs_[name] = slot;
    for (const auto& [slot, load] : branch.loads_) loads_[slot] = load;
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  // A branch that does not store leaves what was there before.
  for (const std::string& name : stored) {
    if (const auto outer = find_outside(name)) {
      define(name, SlotLoad::Action::alias, relative(*outer));
    } else {
      define(name, SlotLoad::Action::resolve);
    }
  }
}

Ref Symbols::ref(const std::string& name) const {
  const auto found = find_ref(name);
  CHECK(found.has_value());
  return *found;
}

std::optional<Ref> Symbols::find_ref(const std::string& name) const {
  const auto place = find(name);
  if (!place) return std::nullopt;
  return relative(*place);
}

Frame Symbols::loads() const {
  Frame frame;
  for (const auto& [slot, load] : loads_) frame.push_back(load);
  return frame;
}

}  // namespace arion::jinja

// json.loads(): events of the JSON library's parser, put together to values.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jinja/json.h"

namespace arion::jinja {
namespace {

class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(Heap& heap, Origin origin) : heap_(heap), origin_(origin) {}

  Value result() const { return result_; }

  bool null() override { return add(Value::none()); }
  bool boolean(bool value) override { return add(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return add(integer(std::to_string(value)));
  }
  bool number_float(number_float_t value, const string_t& spelling) override {
    const bool is_integer = spelling.find_first_of(".eE") == std::string::npos;
    return add(is_integer ? integer(spelling) : Value::real(value));
  }
  bool string(string_t& value) override { return add(make_string(heap_, Text(value, origin_))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override {
    DictObject* dict = nullptr;
    return open({make_dict(heap_, dict), dict, {}, {}});
  }
  bool key(string_t& value) override {
    open_.back().key = make_string(heap_, Text(value, origin_));
    return true;
  }
  bool end_object() override { return close(open_.back().value); }
  bool start_array(size_t) override { return open({}); }
  bool end_array() override { return close(make_list(heap_, std::move(open_.back().items))); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    fail(ErrorCode::bad_input, "not JSON: {}", error.what());
  }

 private:
  struct Open {
    Value value;
    DictObject* dict = nullptr;  // null: a list
    Value key;
    std::vector<Value> items;
  };

  Value integer(const std::string& spelling) {
    const bool is_negative = spelling[0] == '-';
    const auto digits = BigInt::parse(std::string_view(spelling).substr(is_negative ? 1 : 0), 10);
    return make_integer(heap_, is_negative ? -*digits : *digits);
  }

  bool open(Open container) {
    constexpr size_t kMaxNesting = 500;
    if (open_.size() == kMaxNesting) {
      fail(ErrorCode::bad_input, "JSON is nested more than {} levels deep", kMaxNesting);
    }
    open_.push_back(std::move(container));
    return true;
  }

  bool close(const Value& value) {
    open_.pop_back();
    return add(value);
  }

  bool add(const Value& value) {
    if (open_.empty()) {
      result_ = value;
    } else if (Open& parent = open_.back(); parent.dict != nullptr) {
      heap_.charge(sizeof(DictObject::Entry) * 2);
      parent.dict->set(parent.key, value);
    } else {
      parent.items.push_back(value);
    }
    return true;
  }

  Heap& heap_;
  const Origin origin_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace

Value parse_json(Heap& heap, std::string_view json, Origin origin) {
  Builder builder(heap, origin);
  nlohmann::json::sax_parse(json.begin(), json.end(), &builder);
  return builder.result();
}

}  // namespace arion::jinja

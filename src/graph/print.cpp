// The textual form of a graph.
#include <fmt/format.h>

#include <iterator>

#include "graph/graph.h"

namespace arion {
namespace {

std::string value_text(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return fmt::format("%{}:{}[{}{}]", id.index, activation_form_name(value.form),
                     value.rows == RowsKind::output ? "output," : "", value.cols);
}

void append_attributes(const Graph& graph, const Node& node, std::string& line) {
  auto out = std::back_inserter(line);
  const Attributes& a = node.attributes;
  switch (node.kind) {
    case OpKind::embed:
      if (a.scale != 1.0f) fmt::format_to(out, " scale={}", a.scale);
      break;
    case OpKind::rope_angles:
      fmt::format_to(out, " table={}", a.rope_table);
      break;
    case OpKind::attention:
      fmt::format_to(out, " heads={}/{} dim={} window={} kv={}.{}", a.attention.heads,
                     a.attention.kv_heads, a.attention.head_dim, a.attention.window,
                     a.attention.kv_group, a.attention.kv_layer);
      break;
    case OpKind::glu:
    case OpKind::linear_glu:
      fmt::format_to(out, " act={}", activation_name(a.activation));
      break;
    case OpKind::linear_head:
    case OpKind::kv_write: {
      static constexpr const char* kRoles[] = {"query", "key", "value"};
      fmt::format_to(out, " role={} heads={}", kRoles[static_cast<int>(a.role)], a.heads);
      if (writes_kv(node)) fmt::format_to(out, " kv={}.{}", a.kv_group, a.kv_layer);
      break;
    }
    default:
      break;
  }
  for (WeightId id : node.weights) {
    if (!id) continue;
    const Weight& weight = graph.weight(id);
    fmt::format_to(out, " {}:{}", weight.name, weight.format->name());
    if (weight.scale != 1.0f) fmt::format_to(out, "*{}", weight.scale);
  }
}

}  // namespace

std::string print_graph(const Graph& graph) {
  std::string text;
  std::string scope;
  for (const Node& node : graph.nodes) {
    if (node.scope != scope) {
      scope = node.scope;
      text += fmt::format("# {}\n", scope);
    }
    std::string line;
    for (ValueId id : node.outputs) {
      line += (line.empty() ? "" : ", ") + value_text(graph, id);
    }
    if (!line.empty()) line += " = ";
    line += op_name(node.kind);
    for (ValueId id : node.inputs) {
      if (id) line += fmt::format(" %{}", id.index);
    }
    append_attributes(graph, node, line);
    text += line + "\n";
  }
  return text;
}

}  // namespace arion

// SPDX-License-Identifier: Apache-2.0
#include "kernel/plan_yaml.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace ako {
namespace {

IntegerExpression read_expression(const YAML::Node& node, std::string_view what, YamlReader& reader) {
  IntegerExpression expression{reader.scalar(node, what).value_or("1")};
  if (auto names = names_in(expression); !names)
    reader.mistake(node, names.error().what, names.error().advice);
  return expression;
}

/// YAML splits [ceil_div(T, 8), 1] at every comma: entries are put together again until their parentheses
/// match.
std::vector<std::string> rejoined(const std::vector<std::string>& entries) {
  std::vector<std::string> whole;
  std::ptrdiff_t open = 0;
  for (const std::string& entry : entries) {
    if (open > 0)
      whole.back() += ", " + entry;
    else
      whole.push_back(entry);
    open += std::count(entry.begin(), entry.end(), '(') - std::count(entry.begin(), entry.end(), ')');
  }
  return whole;
}

std::vector<IntegerExpression> read_expressions(const YAML::Node& list, std::string_view what,
                                                YamlReader& reader) {
  std::vector<IntegerExpression> expressions;
  for (std::string& text : rejoined(reader.scalars(list, what))) {
    if (auto names = names_in({text}); !names) reader.mistake(list, names.error().what, names.error().advice);
    expressions.push_back({std::move(text)});
  }
  return expressions;
}

std::array<IntegerExpression, 3> read_extents(const YAML::Node& list, std::string_view what,
                                              YamlReader& reader) {
  std::array<IntegerExpression, 3> extents{{{"1"}, {"1"}, {"1"}}};
  std::vector<IntegerExpression> given = read_expressions(list, what, reader);
  if (given.empty() || given.size() > extents.size())
    reader.mistake(list, fmt::format("{} must be a list of one to three extents", what),
                   "for example [T, 1, 1]");
  else
    std::move(given.begin(), given.end(), extents.begin());
  return extents;
}

void read_tunables(const YAML::Node& map, LaunchPlan& plan, YamlReader& reader) {
  if (!map.IsMap() || map.size() > most_yaml_entries)
    return reader.mistake(map, "'tunables' must be a map of names to lists of integers",
                          "NAME: [128, 256, 512]");
  for (const auto& entry : map) {
    auto name = reader.scalar(entry.first, "the name of a tunable");
    if (!name) continue;
    if (!entry.second.IsSequence() || entry.second.size() > 4096) {
      reader.mistake(entry.second, fmt::format("tunable '{}' must be a list of allowed integers", *name),
                     fmt::format("{}: [128, 256, 512]", *name));
      continue;
    }
    std::vector<std::int64_t> values;
    for (const auto& value : entry.second)
      if (auto number = reader.integer(value, "a value of a tunable")) values.push_back(*number);
    if (!plan.tunables.emplace(*name, std::move(values)).second)
      reader.mistake(entry.first, fmt::format("tunable '{}' is given twice", *name));
  }
}

void read_workspace(const YAML::Node& map, LaunchPlan& plan, YamlReader& reader) {
  if (!map.IsMap() || map.size() > most_yaml_entries)
    return reader.mistake(map, "'workspace' must be a map of buffers", "partial: {type: f32, shape: [T, 8]}");
  for (const auto& entry : map) {
    WorkspaceBuffer buffer;
    buffer.name = reader.scalar(entry.first, "the name of a workspace buffer").value_or("");
    if (!reader.check_keys(entry.second, fmt::format("workspace buffer '{}'", buffer.name),
                           {"type", "shape"}))
      continue;
    if (!entry.second["type"] || !entry.second["shape"]) {
      reader.mistake(entry.second, fmt::format("workspace buffer '{}' needs a type and a shape", buffer.name),
                     "{type: f32, shape: [T, 8]}");
      continue;
    }
    std::string type = reader.scalar(entry.second["type"], "the type").value_or("f32");
    if (auto known = scalar_type_from(type))
      buffer.type = *known;
    else
      reader.mistake(entry.second["type"], fmt::format("there is no type '{}'", type),
                     "f32, bf16, i32, u8 …");
    buffer.shape = read_expressions(entry.second["shape"], "a shape", reader);
    plan.workspace.push_back(std::move(buffer));
  }
}

void read_launch(const YAML::Node& map, LaunchPlan& plan, YamlReader& reader) {
  if (!reader.check_keys(map, "a launch", {"kernel", "grid", "block", "shared", "args"})) return;
  Launch launch;
  if (!map["kernel"] || !map["args"])
    return reader.mistake(map, "a launch needs 'kernel' and 'args'", "{kernel: softmax, args: [x, y, T, D]}");
  launch.kernel = reader.scalar(map["kernel"], "'kernel'").value_or("");
  if (map["grid"]) launch.grid = read_extents(map["grid"], "'grid'", reader);
  if (map["block"]) launch.block = read_extents(map["block"], "'block'", reader);
  if (map["shared"]) launch.shared = read_expression(map["shared"], "'shared'", reader);
  launch.args = rejoined(reader.scalars(map["args"], "'args'"));
  plan.launches.push_back(std::move(launch));
}

}  // namespace

const std::vector<std::string>& plan_keys() {
  static const std::vector<std::string> keys{"tunables", "workspace", "launches"};
  return keys;
}

LaunchPlan read_plan(const YAML::Node& map, YamlReader& reader) {
  LaunchPlan plan;
  if (!map.IsMap()) {
    reader.mistake(map, "a launch plan must be a map", "launches: [{kernel: softmax, args: [x, y, T, D]}]");
    return plan;
  }
  if (map["tunables"]) read_tunables(map["tunables"], plan, reader);
  if (map["workspace"]) read_workspace(map["workspace"], plan, reader);
  const YAML::Node launches = map["launches"];
  if (!launches || !launches.IsSequence() || launches.size() == 0 || launches.size() > most_yaml_entries)
    reader.mistake(launches ? launches : map,
                   fmt::format("a plan needs a list of 1 to {} 'launches'", most_yaml_entries),
                   "launches: [{kernel: softmax, args: [x, y, T, D]}]");
  else
    for (const auto& launch : launches) read_launch(launch, plan, reader);
  return plan;
}

Parsed<LaunchPlan> parse_launch_plan(std::string_view yaml, const std::string& file) {
  YamlReader reader(yaml, file);
  LaunchPlan plan;
  try {
    YAML::Node document = reader.load();
    if (reader.errors.empty() && reader.check_keys(document, "a launch plan", plan_keys()))
      plan = read_plan(document, reader);
  } catch (const YAML::Exception& exception) {
    reader.mistake(exception.mark, fmt::format("YAML: {}", exception.msg));
  }
  if (!reader.errors.empty()) return std::unexpected(std::move(reader.errors));
  return plan;
}

namespace {

/// A scalar that reads back as the same text: quoted whenever YAML could see anything else in it.
std::string yaml_scalar(std::string_view text) {
  auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain) && text != "null" && text != "true" &&
      text != "false")
    return std::string(text);
  std::string out = "\"";
  for (char c : printable(text, true)) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

template <class List>
std::string yaml_list(const List& list) {
  std::vector<std::string> entries;
  for (const auto& entry : list)
    if constexpr (requires { entry.text; })
      entries.push_back(yaml_scalar(entry.text));
    else
      entries.push_back(yaml_scalar(entry));
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

}  // namespace

std::string to_yaml(const LaunchPlan& plan) {
  std::string out;
  if (!plan.tunables.empty()) out += "tunables:\n";
  for (const auto& [name, values] : plan.tunables)
    out += fmt::format("  {}: [{}]\n", yaml_scalar(name), fmt::join(values, ", "));
  if (!plan.workspace.empty()) out += "workspace:\n";
  for (const WorkspaceBuffer& buffer : plan.workspace)
    out += fmt::format("  {}: {{type: {}, shape: {}}}\n", yaml_scalar(buffer.name), name_of(buffer.type),
                       yaml_list(buffer.shape));
  const Launch plain;
  out += "launches:\n";
  for (const Launch& launch : plan.launches) {
    out += fmt::format("  - {{kernel: {}", yaml_scalar(launch.kernel));
    if (launch.grid != plain.grid) out += ", grid: " + yaml_list(launch.grid);
    if (launch.block != plain.block) out += ", block: " + yaml_list(launch.block);
    if (launch.shared != plain.shared) out += ", shared: " + yaml_scalar(launch.shared.text);
    out += fmt::format(", args: {}}}\n", yaml_list(launch.args));
  }
  return out;
}

}  // namespace ako

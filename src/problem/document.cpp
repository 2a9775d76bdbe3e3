// SPDX-License-Identifier: Apache-2.0
#include "problem/document.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <set>

namespace ako {
namespace {

constexpr std::size_t longest_file = std::size_t{1} << 20;

Spot spot_of(const YAML::Node& node) {
  YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {};
  int length = node.IsScalar() ? static_cast<int>(std::min<std::size_t>(node.Scalar().size(), 60)) : 1;
  return {mark.line + 1, mark.column + 1, std::max(length, 1)};
}

std::string_view kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Null:
      return "nothing";
    case YAML::NodeType::Scalar:
      return "a single value";
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a mapping";
    default:
      return "nothing";
  }
}

class Reader {
 public:
  Reader(std::string_view source, Diagnostics& diagnostics) : source_(source), diagnostics_(diagnostics) {
    for (std::size_t begin = 0; begin < source.size();) {
      std::size_t end = std::min(source.find('\n', begin), source.size());
      lines_.push_back(source.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  Document read() {
    Document document;
    if (!readable()) return document;
    try {
      YAML::Node root = YAML::Load(std::string(source_));
      read_root(root, document);
    } catch (const YAML::Exception& error) {
      Spot spot{error.mark.line + 1, error.mark.column + 1, 1};
      diagnostics_.add(spot, fmt::format("not valid YAML: {}", error.msg), yaml_advice(error.msg));
    }
    return document;
  }

 private:
  static std::string yaml_advice(std::string_view message) {
    if (message.find("end of map not found") != std::string_view::npos)
      return "this line is indented otherwise than the lines it belongs with; keys of one mapping begin in "
             "one column";
    if (message.find("illegal map value") != std::string_view::npos)
      return "often the math above is the cause: write `math: |`, with the bar, and indent every statement "
             "below it";
    return "quote texts that hold `: `, `#`, `{` or `[`; align the keys of a mapping";
  }

  using Field = std::pair<std::string_view, std::function<void(const YAML::Node&)>>;

  /// Lines count from 1.
  std::string_view line(int number) const {
    std::size_t at = static_cast<std::size_t>(number - 1);
    return number >= 1 && at < lines_.size() ? lines_[at] : std::string_view{};
  }

  bool readable() {
    if (source_.size() > longest_file) {
      diagnostics_.add({}, fmt::format("the file has {} bytes, more than 1 MiB", source_.size()),
                       "a problem file is a page of text; data does not belong into it");
      return false;
    }
    if (source_.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      diagnostics_.add({}, "the file is empty", "start from one of the files under problems/");
      return false;
    }
    if (std::size_t nul = source_.find('\0'); nul != std::string_view::npos) {
      diagnostics_.add({}, fmt::format("byte {} of the file is zero: this is not UTF-8 text", nul), {});
      return false;
    }
    return !indented_by_tabs();
  }

  bool indented_by_tabs() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::size_t text = lines_[i].find_first_not_of(' ');
      if (text == std::string_view::npos || lines_[i][text] != '\t') continue;
      if (lines_[i].find_first_not_of(" \t\r", text) == std::string_view::npos) continue;
      diagnostics_.add({static_cast<int>(i) + 1, static_cast<int>(text) + 1, 1}, "a tab in the indentation",
                       "YAML is indented with spaces");
      return true;
    }
    return false;
  }

  bool is_map(const YAML::Node& node, std::string_view what, std::string_view example) {
    if (node.IsMap()) return true;
    diagnostics_.add(spot_of(node), fmt::format("{} must be a mapping, this is {}", what, kind_of(node)),
                     fmt::format("write {}", example));
    return false;
  }

  /// Every key in the file's order, repeated ones reported.
  void for_each(const YAML::Node& map, const std::function<void(const Text&, const YAML::Node&)>& visit) {
    std::set<std::string> seen;
    for (const auto& pair : map) {
      if (!pair.first.IsScalar()) {
        diagnostics_.add(spot_of(pair.first), "a key must be a word", {});
        continue;
      }
      Text key = text_of(pair.first);
      if (!seen.insert(key.text).second)
        diagnostics_.add(key.spot, fmt::format("`{}` is given twice", key.text), "remove one of the two");
      else
        visit(key, pair.second);
    }
  }

  void fields(const YAML::Node& map, std::string_view where, std::initializer_list<Field> known) {
    std::vector<std::string> names;
    for (const Field& field : known) names.emplace_back(field.first);
    for_each(map, [&](const Text& key, const YAML::Node& value) {
      for (const Field& field : known)
        if (field.first == key.text) return field.second(value);
      diagnostics_.add(key.spot, fmt::format("{} has no key `{}`", where, key.text),
                       did_you_mean(key.text, names, fmt::format("known are {}", fmt::join(names, ", "))));
    });
  }

  Text text_of(const YAML::Node& node) const {
    Text result{node.Scalar(), spot_of(node)};
    std::string_view raw = line(result.spot.line);
    std::size_t at = static_cast<std::size_t>(std::max(result.spot.column - 1, 0));
    if (at < raw.size() && (raw[at] == '"' || raw[at] == '\'')) ++result.spot.column;
    return result;
  }

  Text scalar(const YAML::Node& node, std::string_view what) {
    if (node.IsScalar()) return text_of(node);
    diagnostics_.add(spot_of(node),
                     fmt::format("{} must be a single value, this is {}", what, kind_of(node)));
    return {{}, spot_of(node)};
  }

  bool truth(const YAML::Node& node, std::string_view what) {
    Text value = scalar(node, what);
    if (value.text != "true" && value.text != "false" && node.IsScalar())
      diagnostics_.add(value.spot, fmt::format("{} is `true` or `false`, not `{}`", what, value.text));
    return value.text == "true";
  }

  void read_root(const YAML::Node& root, Document& document) {
    if (!is_map(root, "a problem file", "`problem: NAME`, then dims, tensors, math and shapes")) return;
    bool math = false, tensors = false, shapes = false, name = false;
    fields(root, "a problem file",
           {{"problem", [&](auto& node) { name = true, document.name = scalar(node, "problem"); }},
            {"summary", [&](auto& node) { document.summary = scalar(node, "summary"); }},
            {"dims", [&](auto& node) { read_dims(node, document); }},
            {"tensors", [&](auto& node) { tensors = true, read_tensors(node, document); }},
            {"scalars", [&](auto& node) { read_scalars(node, document); }},
            {"math", [&](auto& node) { math = true, read_math(node, document); }},
            {"shapes", [&](auto& node) { shapes = true, read_shapes(node, document); }},
            {"tolerance", [&](auto& node) { read_tolerance(node, document); }},
            {"reference", [&](auto& node) { read_reference(node, document); }},
            {"cost", [&](auto& node) { read_cost(node, document); }},
            {"derive", [&](auto& node) { read_derive(node, document); }}});
    if (!name) missing("problem", "`problem: my_kernel`, the name of the problem");
    if (document.derive) return only_derived(root);
    if (!tensors) missing("tensors", "`tensors:` with a line `x: {type: f32, shape: [T, D]}` for each");
    if (!math && !document.python_reference)
      missing("math", "`math: |` and below it, indented, the statements");
    if (!shapes) missing("shapes", "`shapes:` and below it a line `- {T: 128, D: 64}` for each");
  }

  void missing(std::string_view key, std::string_view example) {
    diagnostics_.add({1, 1, 1}, fmt::format("the file has no `{}`", key), fmt::format("add {}", example));
  }

  void read_dims(const YAML::Node& node, Document& document) {
    if (node.IsSequence()) {
      for (const auto& item : node) document.dims.push_back({scalar(item, "a dim"), {}});
      return;
    }
    if (node.IsNull() || !is_map(node, "dims", "`dims: {T: tokens, D: hidden size}`")) return;
    for_each(node, [&](const Text& key, const YAML::Node& value) {
      document.dims.push_back(
          {key, value.IsNull() ? Text{{}, key.spot} : scalar(value, "the meaning of a dim")});
    });
  }

  void read_tensors(const YAML::Node& node, Document& document) {
    if (!is_map(node, "tensors", "`x: {type: f32, shape: [T, D]}` for each")) return;
    for_each(node, [&](const Text& key, const YAML::Node& value) {
      if (!is_map(value, fmt::format("tensor {}", key.text), "`{type: f32, shape: [T, D]}`")) return;
      document.tensors.push_back(read_tensor(key, value));
    });
  }

  Document::Tensor read_tensor(const Text& name, const YAML::Node& node) {
    Document::Tensor tensor{.name = name, .type = {}, .shape = {}, .values = {}};
    bool type = false, shape = false;
    fields(node, "a tensor",
           {{"type", [&](auto& value) { type = true, tensor.type = scalar(value, "type"); }},
            {"shape", [&](auto& value) { shape = true, tensor.shape = read_extents(value); }},
            {"values", [&](auto& value) { tensor.values = scalar(value, "values"); }},
            {"temporary", [&](auto& value) { tensor.temporary = truth(value, "temporary"); }}});
    if (!type)
      diagnostics_.add(name.spot, fmt::format("tensor {} has no type", name.text), "for example `type: f32`");
    if (!shape)
      diagnostics_.add(name.spot, fmt::format("tensor {} has no shape", name.text),
                       "for example `shape: [T, D]`; a single value has `shape: []`");
    return tensor;
  }

  std::vector<Text> read_extents(const YAML::Node& node) {
    std::vector<Text> result;
    if (!node.IsSequence()) {
      diagnostics_.add(spot_of(node), fmt::format("a shape must be a list, this is {}", kind_of(node)),
                       "write `shape: [T, D]`, and `shape: []` for a single value");
      return result;
    }
    for (const auto& item : node) result.push_back(scalar(item, "an extent"));
    return result;
  }

  void read_scalars(const YAML::Node& node, Document& document) {
    if (node.IsNull() || !is_map(node, "scalars", "`eps: {type: f32, value: 1e-6}` for each")) return;
    for_each(node, [&](const Text& key, const YAML::Node& value) {
      if (!is_map(value, fmt::format("scalar {}", key.text), "`{type: f32, value: 1e-6}`")) return;
      Document::Scalar result{key, {}, {}};
      bool type = false, number = false;
      fields(value, "a scalar",
             {{"type", [&](auto& item) { type = true, result.type = scalar(item, "type"); }},
              {"value", [&](auto& item) { number = true, result.value = scalar(item, "value"); }}});
      if (!type || !number)
        diagnostics_.add(key.spot, fmt::format("scalar {} needs a type and a value", key.text),
                         "write `{type: f32, value: 1e-6}`");
      else
        document.scalars.push_back(std::move(result));
    });
  }

  /// The places of a literal block (`|`) follow from its indentation; other styles are taken when on one
  /// line.
  void read_math(const YAML::Node& node, Document& document) {
    if (!node.IsScalar()) {
      diagnostics_.add(spot_of(node), fmt::format("math must be text, this is {}", kind_of(node)),
                       "write `math: |`, with the bar, and the statements on the lines below, indented");
      return;
    }
    Text text = text_of(node);
    std::string_view first = line(text.spot.line);
    std::size_t column = static_cast<std::size_t>(std::max(text.spot.column - 1, 0));
    char style = column < first.size() ? first[column] : ' ';
    bool block = style == '|';
    if (style == '>' ||
        (!block && first.substr(std::min(column, first.size())).substr(0, text.text.size()) != text.text)) {
      diagnostics_.add({text.spot.line, text.spot.column, 1}, "math must keep its lines",
                       "write `math: |` and the statements on the lines below, indented");
      return;
    }
    document.math.text = node.Scalar();
    document.math.line = block ? text.spot.line + 1 : text.spot.line;
    document.math.column = block ? block_indentation(document.math) + 1 : text.spot.column;
  }

  /// From the first line with text: its raw indentation less what YAML left of it.
  int block_indentation(const SourceText& math) const {
    int number = math.line;
    for (std::size_t begin = 0; begin < math.text.size(); ++number) {
      std::size_t end = std::min(math.text.find('\n', begin), math.text.size());
      std::size_t kept = math.text.find_first_not_of(' ', begin);
      if (kept < end) {
        std::size_t raw = line(number).find_first_not_of(' ');
        return raw == std::string_view::npos ? 0 : static_cast<int>(raw - std::min(raw, kept - begin));
      }
      begin = end + 1;
    }
    return 0;
  }

  void read_shapes(const YAML::Node& node, Document& document) {
    if (!node.IsSequence()) {
      diagnostics_.add(spot_of(node), fmt::format("shapes must be a list, this is {}", kind_of(node)),
                       "write a line `- {T: 128, D: 64}` for each shape");
      return;
    }
    for (const auto& item : node) {
      if (!is_map(item, "a shape", "`- {T: 128, D: 64}`")) continue;
      Document::Shape shape{spot_of(item), {}};
      for_each(item, [&](const Text& key, const YAML::Node& value) {
        shape.entries.push_back({key, scalar(value, key.text)});
      });
      document.shapes.push_back(std::move(shape));
    }
    if (node.size() == 0)
      diagnostics_.add(spot_of(node), "shapes is empty", "give at least one: `- {T: 128, D: 64}`");
  }

  void read_tolerance(const YAML::Node& node, Document& document) {
    document.tolerance_spot = spot_of(node);
    if (!is_map(node, "tolerance", "`tolerance: {snr_db: 45}`")) return;
    for_each(node, [&](const Text& key, const YAML::Node& value) {
      document.tolerance.push_back({key, scalar(value, key.text)});
    });
  }

  void read_reference(const YAML::Node& node, Document& document) {
    if (!is_map(node, "reference", "`reference: {python: file.py}`")) return;
    fields(node, "reference",
           {{"python", [&](auto& value) { document.python_reference = scalar(value, "python"); }},
            {"function", [&](auto& value) { document.python_function = scalar(value, "function"); }},
            {"outputs", [&](auto& value) { read_outputs(value, document); }}});
    if (!document.python_reference)
      diagnostics_.add(spot_of(node), "reference names no file", "write `reference: {python: file.py}`");
  }

  void read_outputs(const YAML::Node& node, Document& document) {
    if (!node.IsSequence())
      return diagnostics_.add(spot_of(node), fmt::format("outputs must be a list, this is {}", kind_of(node)),
                              "write `outputs: [y]`");
    for (const auto& item : node) document.python_outputs.push_back(scalar(item, "the name of an output"));
  }

  void read_cost(const YAML::Node& node, Document& document) {
    if (!is_map(node, "cost", "`cost: {flops: 2*T*D, bytes: 8*T*D}`")) return;
    auto keep = [&](const char* name) {
      return [&document, name, this](const YAML::Node& value) {
        Text text = scalar(value, name);
        document.cost.push_back({{name, text.spot}, text});
      };
    };
    fields(node, "cost", {{"flops", keep("flops")}, {"bytes", keep("bytes")}});
  }

  void read_derive(const YAML::Node& node, Document& document) {
    const std::string_view example = "`derive: {of: rmsnorm, gradients: [x, w]}`";
    if (!is_map(node, "derive", example)) return;
    Document::Derive derive{spot_of(node), {}, {}, {}, {}};
    const auto entries = [&](std::vector<Document::Entry>& into) {
      return [this, &into](const YAML::Node& map) {
        if (!is_map(map, "this", "`{w: f32}`")) return;
        for_each(map, [&](const Text& key, const YAML::Node& value) {
          into.push_back({key, scalar(value, key.text)});
        });
      };
    };
    fields(node, "derive",
           {{"of", [&](auto& value) { derive.of = scalar(value, "of"); }},
            {"gradients", [&](auto& value) { derive.gradients = read_names(value); }},
            {"types", entries(derive.types)},
            {"values", entries(derive.values)}});
    if (derive.of.text.empty())
      diagnostics_.add(derive.spot, "derive does not say of what", fmt::format("write {}", example));
    else if (derive.gradients.empty())
      diagnostics_.add(derive.spot, "derive does not say by which inputs", fmt::format("write {}", example));
    document.derive = std::move(derive);
  }

  std::vector<Text> read_names(const YAML::Node& node) {
    std::vector<Text> result;
    if (node.IsScalar()) return {text_of(node)};
    if (!node.IsSequence())
      diagnostics_.add(spot_of(node), fmt::format("gradients must be a list, this is {}", kind_of(node)),
                       "write `gradients: [x, w]`");
    else
      for (const auto& item : node) result.push_back(scalar(item, "the name of an input"));
    return result;
  }

  /// A derived problem has the dims, tensors, scalars and math of the one it is derived from.
  void only_derived(const YAML::Node& root) {
    for_each(root, [&](const Text& key, const YAML::Node&) {
      for (std::string_view other : {"dims", "tensors", "scalars", "math", "reference"})
        if (key.text == other)
          diagnostics_.add(key.spot, fmt::format("`{}` cannot stand beside `derive`", other),
                           "it comes from the problem that is derived; remove one of the two");
    });
  }

  std::string_view source_;
  std::vector<std::string_view> lines_;
  Diagnostics& diagnostics_;
};

}  // namespace

Document read_document(std::string_view source, Diagnostics& diagnostics) {
  return Reader(source, diagnostics).read();
}

}  // namespace ako

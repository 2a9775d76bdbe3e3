// SPDX-License-Identifier: Apache-2.0
#include "problem/derive.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "problem/gradient.h"

namespace ako {
namespace fs = std::filesystem;
namespace {

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

bool has_word(std::string_view text, std::string_view word) {
  const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !letter(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !letter(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

const Document::Entry* find_entry(const std::vector<Document::Entry>& entries, std::string_view key) {
  auto at =
      std::find_if(entries.begin(), entries.end(), [&](const auto& one) { return one.key.text == key; });
  return at == entries.end() ? nullptr : &*at;
}

/// Writes the derived file section by section.
class DerivedFile {
 public:
  DerivedFile(const Document& document, const Problem& forward, const GradientMath& math)
      : document_(document), forward_(forward), math_(math), problem_(math.problem) {}

  std::string text() {
    for (const Statement& statement : math_.statements)
      math_text_ += "  " + to_text(problem_, statement) + "\n";
    for (std::size_t i = 0; i < problem_.tensors.size(); ++i) tensor(static_cast<TensorId>(i));
    std::string result = fmt::format("problem: {}\nsummary: {}\n", document_.name.text, in_quotes(summary()));
    std::string dims, scalars;
    for (const Dim& dim : problem_.dims)
      if (uses(dim.name)) dims += fmt::format("  {}: {}\n", dim.name, in_quotes(dim.meaning));
    for (const Scalar& scalar : problem_.scalars)
      if (uses(scalar.name))
        scalars +=
            fmt::format("  {}: {{type: {}, value: {}}}\n", scalar.name, name_of(scalar.type), scalar.value);
    if (!dims.empty()) result += "dims:\n" + dims;
    result += "tensors:\n" + tensors_;
    if (!scalars.empty()) result += "scalars:\n" + scalars;
    return result + "math: |\n" + math_text_ + "shapes:\n" + shapes() + tolerance();
  }

 private:
  bool uses(std::string_view name) const { return has_word(tensors_, name) || has_word(math_text_, name); }

  std::string summary() const {
    if (!document_.summary.text.empty()) return document_.summary.text;
    std::string names;
    for (const Text& one : document_.derive->gradients) names += (names.empty() ? "" : ", ") + one.text;
    return fmt::format("Gradients of {} by {}, derived from its math.", forward_.name, names);
  }

  void tensor(TensorId which) {
    const Tensor& tensor = problem_.tensor(which);
    const bool assigned = std::any_of(math_.statements.begin(), math_.statements.end(),
                                      [&](const Statement& one) { return one.target == which; });
    if (tensor.exact || !(assigned || has_word(math_text_, tensor.name))) return;
    std::string shape;
    for (ExprId extent : tensor.shape) shape += (shape.empty() ? "" : ", ") + extent_text(extent);
    tensors_ += fmt::format("  {}: {{type: {}, shape: [{}]", tensor.name, type_of(which), shape);
    if (tensor.role == TensorRole::input)
      tensors_ += fmt::format(", values: {}", in_quotes(values_of(which)));
    else if (!is_gradient(which))
      tensors_ += ", temporary: true";
    tensors_ += "}\n";
  }

  std::string extent_text(ExprId extent) const {
    const std::string text = to_text(problem_, extent);
    return text.find_first_of(",[]{}#:") == std::string::npos ? text : in_quotes(text);
  }

  bool is_gradient(TensorId which) const {
    return std::any_of(math_.gradients.begin(), math_.gradients.end(),
                       [&](const auto& one) { return one.second == which; });
  }

  /// A gradient has its input's type, but of a type too narrow for sums f32; a temporary made by updates is
  /// exact as others are.
  std::string type_of(TensorId which) const {
    for (const auto& [input, gradient] : math_.gradients)
      if (gradient == which) {
        const Tensor& forward = problem_.tensor(input);
        if (const Document::Entry* entry = find_entry(document_.derive->types, forward.name))
          return entry->value.text;
        return std::string(name_of(storage_bits(forward.type) < 16 ? ScalarType::f32 : forward.type));
      }
    return std::string(
        name_of(math_.scattered.contains(which) ? ScalarType::f64 : problem_.tensor(which).type));
  }

  std::string values_of(TensorId which) const {
    for (const auto& [output, cotangent] : math_.cotangents)
      if (cotangent == which) {
        const Document::Entry* entry = find_entry(document_.derive->values, problem_.tensor(output).name);
        return entry ? entry->value.text : "uniform(-1, 1)";
      }
    const Document::Entry* entry = find_entry(document_.derive->values, problem_.tensor(which).name);
    return entry ? entry->value.text : problem_.tensor(which).values->text;
  }

  std::string shapes() const {
    std::string result;
    const auto line = [&](const std::vector<std::pair<std::string, std::string>>& entries) {
      std::string text;
      for (const auto& [key, value] : entries) {
        const bool dim = std::any_of(forward_.dims.begin(), forward_.dims.end(),
                                     [&](const Dim& one) { return one.name == key; });
        if (dim && !uses(key)) continue;
        text +=
            fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, key == "label" ? in_quotes(value) : value);
      }
      result += "  - {" + text + "}\n";
    };
    for (const Document::Shape& shape : document_.shapes) {
      std::vector<std::pair<std::string, std::string>> entries;
      for (const Document::Entry& entry : shape.entries)
        entries.emplace_back(entry.key.text, entry.value.text);
      line(entries);
    }
    if (!document_.shapes.empty()) return result;
    for (const Shape& shape : forward_.shapes) {
      std::vector<std::pair<std::string, std::string>> entries;
      std::string plain;
      for (std::size_t i = 0; i < shape.dims.size(); ++i) {
        entries.emplace_back(forward_.dims[i].name, std::to_string(shape.dims[i]));
        plain += fmt::format("{}{}={}", i ? "," : "", forward_.dims[i].name, shape.dims[i]);
      }
      if (shape.representative) entries.emplace_back("representative", "true");
      if (shape.core) entries.emplace_back("core", "true");
      if (shape.label != plain) entries.emplace_back("label", shape.label);
      line(entries);
    }
    return result;
  }

  std::string tolerance() const {
    std::string entries;
    const auto add = [&](std::string_view key, const std::string& value) {
      entries += fmt::format("{}{}: {}", entries.empty() ? "" : ", ", key, value);
    };
    const Tolerance& own = forward_.tolerance;
    if (!document_.tolerance.empty()) {
      for (const Document::Entry& entry : document_.tolerance) add(entry.key.text, entry.value.text);
    } else {
      if (own.snr_db) add("snr_db", fmt::format("{}", *own.snr_db));
      if (own.rtol) add("rtol", fmt::format("{}", *own.rtol));
      if (own.atol) add("atol", fmt::format("{}", *own.atol));
      if (own.error_ratio) add("error_ratio", fmt::format("{}", *own.error_ratio));
    }
    return entries.empty() ? "" : "tolerance: {" + entries + "}\n";
  }

  const Document& document_;
  const Problem& forward_;
  const GradientMath& math_;
  const Problem& problem_;
  std::string tensors_, math_text_;
};

std::vector<std::string> differentiable_inputs(const Problem& forward) {
  std::vector<std::string> names;
  for (const Tensor& tensor : forward.tensors)
    if (tensor.role == TensorRole::input && tensor.number == NumberClass::real) names.push_back(tensor.name);
  return names;
}

/// The inputs asked for; empty after a mistake.
std::vector<TensorId> wanted_inputs(const Document::Derive& derive, const Problem& forward,
                                    Diagnostics& here) {
  std::vector<TensorId> wanted;
  const std::vector<std::string> inputs = differentiable_inputs(forward);
  const std::string known = fmt::format("its real inputs are {}", fmt::join(inputs, ", "));
  bool good = true;
  for (const Text& name : derive.gradients) {
    const std::optional<TensorId> which = forward.find_tensor(name.text);
    const bool real_input = std::find(inputs.begin(), inputs.end(), name.text) != inputs.end();
    std::string what;
    if (!which || forward.tensor(*which).exact)
      what = fmt::format("{} has no input `{}`", forward.name, name.text);
    else if (!real_input)
      what = fmt::format("{} of {} is no input of real numbers", name.text, forward.name);
    else if (std::find(wanted.begin(), wanted.end(), *which) != wanted.end())
      what = fmt::format("the gradient of {} is asked for twice", name.text);
    good = good && what.empty();
    if (what.empty())
      wanted.push_back(*which);
    else
      here.add(name.spot, std::move(what), did_you_mean(name.text, inputs, known));
  }
  for (const Document::Entry& entry : derive.types) {
    const bool asked = std::any_of(derive.gradients.begin(), derive.gradients.end(),
                                   [&](const Text& one) { return one.text == entry.key.text; });
    if (!asked)
      here.add(entry.key.spot, fmt::format("no gradient of {} is asked for", entry.key.text), known);
    const auto type = scalar_type_from(entry.value.text);
    if (!type || class_of(*type) != NumberClass::real)
      here.add(entry.value.spot, fmt::format("`{}` is no type of real numbers", entry.value.text),
               "for example `f32`");
    good = good && asked && type && class_of(*type) == NumberClass::real;
  }
  for (const Document::Entry& entry : derive.values) {
    const std::optional<TensorId> which = forward.find_tensor(entry.key.text);
    const auto is = [&](TensorRole role) { return which && forward.tensor(*which).role == role; };
    if (is(TensorRole::output) || is(TensorRole::input)) continue;
    here.add(entry.key.spot, fmt::format("{} has no input or output `{}`", forward.name, entry.key.text),
             "values are those of inputs, or of an output's cotangent: `values: {y: \"normal(0, 1)\"}`");
    good = false;
  }
  return good ? wanted : std::vector<TensorId>{};
}

}  // namespace

Result<fs::path> derived_from(const Document::Derive& derive, const fs::path& deriving) {
  const fs::path named = derive.of.text;
  const fs::path folder = deriving.parent_path();
  std::error_code code;
  if (named.has_parent_path() || named.extension() == ".yaml") {
    const fs::path file = named.is_absolute() ? named : folder / named;
    if (fs::is_regular_file(file, code)) return file;
    return fail(ErrorKind::not_found, fmt::format("there is no file {}", file.string()),
                "`of` is a path relative to this file, or the name of a problem: `of: rmsnorm`");
  }
  const std::string file = derive.of.text + ".yaml";
  if (fs::is_regular_file(folder / file, code)) return folder / file;
  if (auto shipped = find_resource(fs::path("problems") / file)) return *shipped;
  return fail(
      ErrorKind::not_found,
      fmt::format("there is no problem {} beside this file or among the shipped ones", derive.of.text),
      "`ako list problems` shows the shipped ones; another is named by its path: `of: ./mine.yaml`");
}

std::optional<std::string> derived_text(const Document& document, const Problem& forward, Diagnostics& here,
                                        Diagnostics& in_forward) {
  const Document::Derive& derive = *document.derive;
  if (forward.python_reference) {
    here.add(derive.of.spot, fmt::format("{} is defined by a Python file", forward.name),
             "gradients are derived from `math:` only");
    return std::nullopt;
  }
  const std::vector<TensorId> wanted = wanted_inputs(derive, forward, here);
  if (wanted.empty()) return std::nullopt;
  const std::optional<GradientMath> math = differentiate(forward, wanted, in_forward);
  if (!math) return std::nullopt;
  return DerivedFile(document, forward, *math).text();
}

}  // namespace ako

// SPDX-License-Identifier: Apache-2.0
#include "kernel/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace ako {
namespace {

constexpr std::size_t longest_symbol = 128;
constexpr std::string_view keywords[] = {"alignas",      "alignof",      "and",           "and_eq",
                                         "asm",          "auto",         "bitand",        "bitor",
                                         "bool",         "break",        "case",          "catch",
                                         "char",         "char16_t",     "char32_t",      "char8_t",
                                         "class",        "co_await",     "co_return",     "co_yield",
                                         "compl",        "concept",      "const",         "const_cast",
                                         "consteval",    "constexpr",    "constinit",     "continue",
                                         "decltype",     "default",      "delete",        "do",
                                         "double",       "dynamic_cast", "else",          "enum",
                                         "explicit",     "export",       "extern",        "false",
                                         "float",        "for",          "friend",        "goto",
                                         "if",           "inline",       "int",           "long",
                                         "main",         "mutable",      "namespace",     "new",
                                         "noexcept",     "not",          "not_eq",        "nullptr",
                                         "operator",     "or",           "or_eq",         "private",
                                         "protected",    "public",       "register",      "reinterpret_cast",
                                         "requires",     "return",       "short",         "signed",
                                         "sizeof",       "static",       "static_assert", "static_cast",
                                         "struct",       "switch",       "template",      "this",
                                         "thread_local", "throw",        "true",          "try",
                                         "typedef",      "typeid",       "typename",      "union",
                                         "unsigned",     "using",        "virtual",       "void",
                                         "volatile",     "wchar_t",      "while",         "xor",
                                         "xor_eq"};

/// A tensor, workspace buffer or scalar of this name; nothing when it must be an integer expression.
std::optional<Argument> named_argument(const std::string& name, const LaunchPlan& plan,
                                       const Problem& problem) {
  for (TensorId id : kernel_tensors(problem))
    if (problem.tensor(id).name == name) return Argument{Argument::Kind::tensor, id};
  for (std::size_t i = 0; i < plan.workspace.size(); ++i)
    if (plan.workspace[i].name == name)
      return Argument{Argument::Kind::workspace, static_cast<std::int32_t>(i)};
  for (std::size_t i = 0; i < problem.scalars.size(); ++i)
    if (problem.scalars[i].name == name)
      return Argument{Argument::Kind::scalar, static_cast<std::int32_t>(i)};
  return std::nullopt;
}

Bindings bind(const LaunchPlan& plan, const Problem& problem, const Shape& shape, const Bindings& chosen) {
  Bindings bindings = tunables_in_force(plan, chosen);
  for (std::size_t i = 0; i < problem.dims.size() && i < shape.dims.size(); ++i)
    bindings[problem.dims[i].name] = shape.dims[i];
  return bindings;
}

/// Adds what can be used as an argument to an error about a name that is not there.
Error with_all_names(Error error, const LaunchPlan& plan, const Problem& problem, const std::string& word) {
  std::vector<std::string> names;
  for (TensorId id : kernel_tensors(problem)) names.push_back(problem.tensor(id).name);
  for (const WorkspaceBuffer& buffer : plan.workspace) names.push_back(buffer.name);
  for (const Scalar& scalar : problem.scalars) names.push_back(scalar.name);
  for (const Dim& dim : problem.dims) names.push_back(dim.name);
  for (const auto& [tunable, values] : plan.tunables) names.push_back(tunable);
  if (!is_symbol(word) || std::find(names.begin(), names.end(), word) != names.end()) return error;
  std::string_view near = closest(word, names);
  error.what = fmt::format("there is no tensor, scalar, workspace buffer, dim or tunable '{}'", word);
  error.excerpt.clear();
  error.advice =
      near.empty() ? fmt::format("an argument is one of {}, or an integer expression", fmt::join(names, ", "))
                   : fmt::format("did you mean '{}'?", near);
  return error;
}

/// Arguments of one launch; `integer` gives the value of an expression that names no buffer or scalar.
template <class Integer>
Result<std::vector<Argument>> arguments_of(const Launch& launch, const LaunchPlan& plan,
                                           const Problem& problem, const Integer& integer) {
  std::vector<Argument> arguments;
  for (const std::string& text : launch.args) {
    if (auto named = named_argument(text, plan, problem)) {
      arguments.push_back(*named);
      continue;
    }
    Result<std::int64_t> value = integer(IntegerExpression{text});
    if (!value) {
      Error error = with_all_names(value.error(), plan, problem, text);
      error.what =
          fmt::format("argument {} of '{}': {}", arguments.size() + 1, printable(launch.kernel), error.what);
      return std::unexpected(std::move(error));
    }
    arguments.push_back({Argument::Kind::integer, -1, *value});
  }
  return arguments;
}

template <class Integer>
Result<std::vector<std::vector<Argument>>> arguments_of_all(const LaunchPlan& plan, const Problem& problem,
                                                            const Integer& integer) {
  std::vector<std::vector<Argument>> all;
  for (const Launch& launch : plan.launches) {
    AKO_TRY(std::vector<Argument> arguments, arguments_of(launch, plan, problem, integer));
    all.push_back(std::move(arguments));
  }
  return all;
}

class Checker {
 public:
  Checker(const LaunchPlan& plan, const Problem& problem, const Bindings& chosen)
      : plan_(plan), problem_(problem), chosen_(chosen) {}

  std::vector<Error> run() {
    check_names();
    check_chosen();
    if (plan_.launches.empty()) complain("the plan has no launches", "list at least one under 'launches:'");
    for (const Launch& launch : plan_.launches) check_launch(launch);
    check_outputs_given();
    // On a plan whose names are wrong, every shape would only repeat the same complaints.
    if (errors_.empty())
      for (const Shape& shape : problem_.shapes) check_on(shape);
    return std::move(errors_);
  }

 private:
  void complain(std::string what, std::string advice = {}) {
    errors_.push_back({ErrorKind::invalid_input, std::move(what), std::move(advice)});
  }
  void complain(std::string_view about, Error error) {
    error.what = fmt::format("{}: {}", about, error.what);
    errors_.push_back(std::move(error));
  }

  void check_names() {
    std::map<std::string, std::string_view> taken;
    // A temporary of the math is not given to kernels: a workspace buffer that holds it may well carry its
    // name.
    for (TensorId id : kernel_tensors(problem_)) taken.emplace(problem_.tensor(id).name, "a tensor");
    for (const Scalar& scalar : problem_.scalars) taken.emplace(scalar.name, "a scalar");
    for (const Dim& dim : problem_.dims) taken.emplace(dim.name, "a dim");
    auto claim = [&](const std::string& name, std::string_view as) {
      if (!is_symbol(name))
        complain(fmt::format("'{}' cannot name {}", printable(name), as),
                 "letters, digits and '_', not a keyword of C++");
      auto [old, is_new] = taken.emplace(name, as);
      if (!is_new)
        complain(fmt::format("'{}' names {} and {}", name, old->second, as), "choose another name");
    };
    for (const WorkspaceBuffer& buffer : plan_.workspace) claim(buffer.name, "a workspace buffer");
    for (const auto& [name, values] : plan_.tunables) {
      claim(name, "a tunable");
      if (values.empty())
        complain(fmt::format("tunable '{}' has no values", name), "list them: NAME: [128, 256]");
    }
  }

  void check_chosen() {
    for (const auto& [name, value] : chosen_) {
      auto tunable = plan_.tunables.find(name);
      if (tunable == plan_.tunables.end()) {
        complain(fmt::format("a value is chosen for '{}', which is no tunable of the plan", printable(name)),
                 "list its allowed values under 'tunables:'");
        continue;
      }
      const auto& allowed = tunable->second;
      if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
        complain(fmt::format("tunable '{}' cannot be {}", name, value),
                 fmt::format("the plan allows {}", fmt::join(allowed, ", ")));
    }
  }

  void check_launch(const Launch& launch) {
    if (!is_symbol(launch.kernel) || launch.kernel.starts_with("ako_call_"))
      complain(
          fmt::format("'{}' cannot name a kernel", printable(launch.kernel)),
          "the name of an extern \"C\" function: letters, digits and '_', not a keyword, not 'ako_call_…'");
    if (launch.args.empty())
      complain(fmt::format("the launch of '{}' has no arguments", printable(launch.kernel)),
               "list what the kernel is given under 'args:', in the order of its parameters");
    auto names_are_known = arguments_of(launch, plan_, problem_, [&](const IntegerExpression& expression) {
      return evaluate(expression, problem_.shapes.empty()
                                      ? Bindings{}
                                      : bind(plan_, problem_, problem_.shapes[0], chosen_));
    });
    if (!names_are_known) errors_.push_back(names_are_known.error());
  }

  void check_outputs_given() {
    for (TensorId id : kernel_tensors(problem_)) {
      const Tensor& tensor = problem_.tensor(id);
      if (tensor.role == TensorRole::input || plan_.launches.empty()) continue;
      bool given = std::any_of(plan_.launches.begin(), plan_.launches.end(), [&](const Launch& launch) {
        return std::find(launch.args.begin(), launch.args.end(), tensor.name) != launch.args.end();
      });
      if (!given)
        complain(fmt::format("no launch is given '{}', which is an output", tensor.name),
                 fmt::format("add {} to the 'args:' of the kernel that writes it", tensor.name));
    }
  }

  /// Complains once for each expression, however many shapes it fails on.
  void check_on(const Shape& shape) {
    if (!errors_.empty()) return;
    Bindings bindings = bind(plan_, problem_, shape, chosen_);
    auto on_shape = [&](std::string_view what) { return fmt::format("{} (on {})", what, shape.label); };
    auto at_least = [&](const IntegerExpression& expression, std::int64_t least, const std::string& about) {
      auto value = evaluate(expression, bindings);
      if (!value) return complain(on_shape(about), value.error());
      if (*value < least)
        complain(fmt::format("{}: '{}' is {}, which is less than {}", on_shape(about), expression.text,
                             *value, least));
    };
    for (const WorkspaceBuffer& buffer : plan_.workspace) check_size(buffer, bindings, on_shape(buffer.name));
    for (const Launch& launch : plan_.launches) {
      for (const auto& extent : launch.grid) at_least(extent, 1, launch.kernel + ": grid");
      for (const auto& extent : launch.block) at_least(extent, 1, launch.kernel + ": block");
      at_least(launch.shared, 0, launch.kernel + ": shared");
    }
    auto bound = bind_arguments(plan_, problem_, shape, chosen_);
    if (!bound) complain(on_shape("args"), bound.error());
  }

  void check_size(const WorkspaceBuffer& buffer, const Bindings& bindings, const std::string& about) {
    std::int64_t elements = 1;
    for (const IntegerExpression& extent : buffer.shape) {
      auto value = evaluate(extent, bindings);
      if (!value) return complain(fmt::format("workspace {}", about), value.error());
      if (*value < 0)
        return complain(fmt::format("workspace {}: extent '{}' is {}", about, extent.text, *value));
      // Bits too: storage_bytes multiplies once more.
      std::int64_t bits = 0;
      if (__builtin_mul_overflow(elements, *value, &elements) || __builtin_mul_overflow(elements, 64, &bits))
        return complain(fmt::format("workspace {}: the size exceeds 64 bits", about));
    }
  }

  const LaunchPlan& plan_;
  const Problem& problem_;
  const Bindings& chosen_;
  std::vector<Error> errors_;
};

}  // namespace

bool is_symbol(std::string_view name) {
  if (name.empty() || name.size() > longest_symbol) return false;
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto fine = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return letter(name[0]) && std::all_of(name.begin(), name.end(), fine) &&
         std::find(std::begin(keywords), std::end(keywords), name) == std::end(keywords);
}

LaunchPlan default_plan(const Problem& problem) {
  Launch launch;
  launch.kernel = problem.name;
  for (TensorId id : kernel_tensors(problem)) launch.args.push_back(problem.tensor(id).name);
  for (const Scalar& scalar : problem.scalars) launch.args.push_back(scalar.name);
  for (const Dim& dim : problem.dims) launch.args.push_back(dim.name);
  return {{}, {}, {std::move(launch)}};
}

Bindings tunables_in_force(const LaunchPlan& plan, const Bindings& chosen) {
  Bindings bindings = chosen;
  for (const auto& [name, values] : plan.tunables)
    if (!values.empty()) bindings.emplace(name, values.front());
  return bindings;
}

Parsed<void> check_plan(const LaunchPlan& plan, const Problem& problem, const Bindings& tunables) {
  std::vector<Error> errors = Checker(plan, problem, tunables).run();
  if (!errors.empty()) return std::unexpected(std::move(errors));
  return {};
}

Result<std::vector<std::vector<Argument>>> bind_arguments(const LaunchPlan& plan, const Problem& problem,
                                                          const Shape& shape, const Bindings& tunables) {
  Bindings bindings = bind(plan, problem, shape, tunables);
  return arguments_of_all(plan, problem,
                          [&](const IntegerExpression& text) { return evaluate(text, bindings); });
}

Result<std::vector<std::vector<Argument>>> argument_kinds(const LaunchPlan& plan, const Problem& problem) {
  return arguments_of_all(plan, problem, [](const IntegerExpression& text) -> Result<std::int64_t> {
    AKO_CHECK(names_in(text));
    return 0;
  });
}

}  // namespace ako

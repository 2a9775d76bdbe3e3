// SPDX-License-Identifier: Apache-2.0
// manifest.yaml: Primus-Turbo's keys in Primus-Turbo's order, then ako's own.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "campaign/campaign.h"

namespace ako {
namespace {

struct Gpu {
  std::string_view product, target;
};
// Product names as people write them, and the architecture that compilers know them by (vendors' product
// pages).
constexpr Gpu products[] = {{"mi300x", "gfx942"}, {"mi300a", "gfx942"}, {"mi325x", "gfx942"},
                            {"mi350x", "gfx950"}, {"mi355x", "gfx950"}, {"h100", "sm_90"},
                            {"h200", "sm_90"},    {"h800", "sm_90"},    {"gh200", "sm_90"},
                            {"cpu", "host"},      {"x86-64", "host"},   {"x86_64", "host"}};

constexpr std::string_view backends[] = {"TRITON",   "CK",  "FLYDSL", "HIPBLASLT", "TURBO",
                                         "TILELANG", "HIP", "CUDA",   "CPP"};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}
std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

struct Reader {
  std::string file;
  std::vector<Error> errors;

  void complain(const YAML::Node& node, std::string what, std::string advice = {}) {
    YAML::Mark mark = node.Mark();
    errors.push_back(
        {ErrorKind::invalid_input, std::move(what), std::move(advice),
         Place{file, mark.line >= 0 ? mark.line + 1 : 0, mark.column >= 0 ? mark.column + 1 : 0}});
  }

  /// A scalar, or a list of scalars joined by "; " (shapes are lists in manifests written by other tools).
  std::string text(const YAML::Node& node, const std::string& key) {
    if (node.IsNull()) return {};
    if (node.IsScalar())
      return node.Scalar() == "null" || node.Scalar() == "~" ? std::string() : node.Scalar();
    if (!node.IsSequence())
      return complain(node, fmt::format("'{}' must be a text, not a map", key)), std::string();
    std::string joined;
    for (const YAML::Node& item : node) {
      if (!item.IsScalar())
        return complain(item, fmt::format("'{}' must be a list of texts", key)), std::string();
      joined += (joined.empty() ? "" : "; ") + item.Scalar();
    }
    return joined;
  }

  double number(const YAML::Node& node, const std::string& key, double low, double high) {
    std::string written = text(node, key);
    if (written.empty()) return 0;
    double value = 0;
    auto [end, code] = std::from_chars(written.data(), written.data() + written.size(), value);
    if (code != std::errc() || end != written.data() + written.size() || !std::isfinite(value))
      return complain(node, fmt::format("'{}' must be a number, not '{}'", key, printable(written))), 0;
    if (value < low || value > high)
      return complain(node, fmt::format("'{}' must be between {} and {}, not {}", key, low, high, value)), 0;
    return value;
  }

  bool truth(const YAML::Node& node, const std::string& key) {
    std::string written = lower(text(node, key));
    if (written != "true" && written != "false" && !written.empty())
      complain(node, fmt::format("'{}' must be true or false", key));
    return written == "true";
  }
};

struct Key {
  std::string_view name;
  void (*read)(Manifest&, const YAML::Node&, Reader&);
};

template <std::string Manifest::* member>
void read_text(Manifest& manifest, const YAML::Node& node, Reader& reader) {
  manifest.*member = reader.text(node, "value");
}

constexpr Key keys[] = {
    {"target_op", read_text<&Manifest::target_op>},
    {"target_backend", [](Manifest& m, const YAML::Node& n,
                          Reader& r) { m.target_backend = upper(r.text(n, "target_backend")); }},
    {"target_lang",
     [](Manifest& m, const YAML::Node& n, Reader& r) { m.target_lang = upper(r.text(n, "target_lang")); }},
    {"target_gpu", read_text<&Manifest::target_gpu>},
    {"execution_mode", read_text<&Manifest::execution_mode>},
    {"project_skill", read_text<&Manifest::project_skill>},
    {"performance_target", read_text<&Manifest::performance_target>},
    {"primary_metric", read_text<&Manifest::primary_metric>},
    {"target_shapes", read_text<&Manifest::target_shapes>},
    {"kernel_source", read_text<&Manifest::kernel_source>},
    {"test_command", read_text<&Manifest::test_command>},
    {"benchmark_command", read_text<&Manifest::benchmark_command>},
    {"quick_command", read_text<&Manifest::quick_command>},
    {"representative_shapes", read_text<&Manifest::representative_shapes>},
    {"git_commit",
     [](Manifest& m, const YAML::Node& n, Reader& r) { m.git_commit = r.truth(n, "git_commit"); }},
    {"git_branch", read_text<&Manifest::git_branch>},
    {"max_iterations",
     [](Manifest& m, const YAML::Node& n, Reader& r) {
       m.max_iterations = static_cast<int>(r.number(n, "max_iterations", 0, 1e6));
     }},
    {"created", read_text<&Manifest::created>},
    {"problem", read_text<&Manifest::problem>},
    {"agent", read_text<&Manifest::agent>},
    {"budget_seconds", [](Manifest& m, const YAML::Node& n,
                          Reader& r) { m.budget_seconds = r.number(n, "budget_seconds", 0, 1e9); }},
    {"target_efficiency", [](Manifest& m, const YAML::Node& n,
                             Reader& r) { m.target_efficiency = r.number(n, "target_efficiency", 0, 1); }},
    {"seed",
     [](Manifest& m, const YAML::Node& n, Reader& r) {
       // Not through double: seeds use all 64 bits.
       std::string written = r.text(n, "seed");
       auto [end, code] = std::from_chars(written.data(), written.data() + written.size(), m.seed);
       if (code != std::errc() || end != written.data() + written.size())
         r.complain(n, "'seed' must be a whole number from 0 to 2^64-1");
     }},
};

std::string language_of_backend(std::string_view backend) {
  if (backend == "CK" || backend == "HIPBLASLT" || backend == "TURBO") return "HIP";
  return std::string(backend);
}

std::string target_of(const std::string& gpu) {
  std::string name = lower(gpu);
  for (const Gpu& known : products)
    if (name == known.product) return std::string(known.target);
  return name;
}

bool is_target(std::string_view name) {
  return name == "host" || name.starts_with("gfx") || name.starts_with("sm_");
}

void check(Manifest& manifest, const YAML::Node& root, Reader& reader) {
  if (manifest.target_op.empty() && manifest.problem.empty())
    reader.complain(root, "the manifest names neither 'problem' nor 'target_op'",
                    "say what to optimize: problem: softmax.yaml");
  if (std::find(std::begin(backends), std::end(backends), manifest.target_backend) == std::end(backends)) {
    std::string_view near = closest(manifest.target_backend, backends);
    reader.complain(root["target_backend"],
                    fmt::format("unknown backend '{}'", printable(manifest.target_backend)),
                    near.empty() ? "one of TRITON, CK, FLYDSL, HIPBLASLT, TURBO, TILELANG, HIP, CUDA, CPP"
                                 : fmt::format("did you mean {}?", near));
  }
  manifest.target_gpu = target_of(manifest.target_gpu);
  if (!is_target(manifest.target_gpu))
    reader.complain(root["target_gpu"], fmt::format("unknown target '{}'", printable(manifest.target_gpu)),
                    "host, gfx942, gfx950, sm_90, or a product such as MI300X, MI355X, H100");
  if (manifest.execution_mode != "repo" && manifest.execution_mode != "workspace")
    reader.complain(root["execution_mode"], "'execution_mode' must be repo or workspace");
}

std::string quoted(std::string_view text) {
  YAML::Emitter emitter;
  emitter.SetStringFormat(YAML::DoubleQuoted);
  emitter << std::string(text);  // control characters come out escaped
  return emitter.c_str();
}

/// Plain where YAML reads it back as the same text; quoted otherwise.
std::string scalar(std::string_view text) {
  if (text.empty()) return "null";
  bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./-+ ").find(c) != std::string_view::npos;
  });
  bool edges = text.front() == ' ' || text.front() == '-' || text.back() == ' ';
  return plain && !edges && text != "null" ? std::string(text) : quoted(text);
}

std::string number(double value) { return value > 0 ? fmt::format("{}", value) : "null"; }

}  // namespace

Parsed<Manifest> parse_manifest(std::string_view yaml, const std::string& file) {
  Reader reader{file, {}};
  Manifest manifest;
  YAML::Node root;
  try {
    root = YAML::Load(std::string(yaml));
  } catch (const YAML::Exception& error) {
    return std::unexpected(
        std::vector<Error>{{ErrorKind::invalid_input, fmt::format("not YAML: {}", error.msg), "",
                            Place{file, error.mark.line + 1, error.mark.column + 1}}});
  }
  if (!root.IsMap()) {
    reader.complain(root, "a manifest is a map of keys to values", "docs/campaigns.md shows one");
    return std::unexpected(reader.errors);
  }
  try {
    bool has_language = false;
    for (const auto& pair : root) {
      if (!pair.first.IsScalar()) {
        reader.complain(pair.first, "a key must be a text");
        continue;
      }
      std::string name = pair.first.Scalar();
      auto key =
          std::find_if(std::begin(keys), std::end(keys), [&](const Key& one) { return one.name == name; });
      if (key == std::end(keys)) {
        manifest.unknown[name] = YAML::Dump(pair.second);
        continue;
      }
      // A null leaves the default in place.
      if (!pair.second.IsNull()) key->read(manifest, pair.second, reader);
      has_language = has_language || name == "target_lang";
    }
    if (!has_language || manifest.target_lang.empty())
      manifest.target_lang = language_of_backend(manifest.target_backend);
    check(manifest, root, reader);
  } catch (const YAML::Exception& error) {
    reader.errors.push_back({ErrorKind::invalid_input, fmt::format("not a manifest: {}", error.msg), "",
                             Place{file, error.mark.line + 1, error.mark.column + 1}});
  }
  if (!reader.errors.empty()) return std::unexpected(reader.errors);
  return manifest;
}

std::string to_yaml(const Manifest& m) {
  std::string out;
  auto line = [&](std::string_view key, const std::string& value) {
    out += fmt::format("{}: {}\n", key, value);
  };
  line("target_op", scalar(m.target_op));
  line("target_backend", scalar(m.target_backend));
  line("target_lang", scalar(m.target_lang));
  line("target_gpu", scalar(m.target_gpu));
  line("execution_mode", scalar(m.execution_mode));
  line("project_skill", scalar(m.project_skill));
  line("performance_target", scalar(m.performance_target));
  line("primary_metric", scalar(m.primary_metric));
  line("target_shapes", scalar(m.target_shapes));
  line("kernel_source", scalar(m.kernel_source));
  line("test_command", scalar(m.test_command));
  line("benchmark_command", scalar(m.benchmark_command));
  line("quick_command", scalar(m.quick_command));
  line("representative_shapes", scalar(m.representative_shapes));
  line("git_commit", m.git_commit ? "true" : "false");
  line("git_branch", scalar(m.git_branch));
  line("max_iterations", m.max_iterations > 0 ? std::to_string(m.max_iterations) : "null");
  line("created", scalar(m.created));
  out += "# ako's own\n";
  line("problem", scalar(m.problem));
  line("agent", scalar(m.agent));
  line("budget_seconds", number(m.budget_seconds));
  line("target_efficiency", number(m.target_efficiency));
  line("seed", std::to_string(m.seed));
  for (const auto& [key, value] : m.unknown) {
    bool block = value.find('\n') != std::string::npos;
    std::string indented;
    for (char c : value) indented += c == '\n' ? "\n  " : std::string(1, c);
    out += fmt::format("{}:{}{}\n", key.empty() ? quoted(std::string_view()) : scalar(key),
                       block ? "\n  " : " ", block ? indented : value);
  }
  return out;
}

}  // namespace ako

// SPDX-License-Identifier: Apache-2.0
#include "sandbox/view.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

namespace ako {
namespace fs = std::filesystem;
namespace {

std::string below_root(const fs::path& path) { return path.lexically_normal().relative_path().string(); }

bool contains(const fs::path& folder, const fs::path& path) {
  fs::path relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

class View {
 public:
  std::vector<ViewStep> steps;

  void folder(const fs::path& path) {
    std::string target = below_root(path);
    if (target.empty() || target == "." || made_.contains(target)) return;
    folder(path.parent_path());
    made_.insert(target);
    steps.push_back({ViewStep::Kind::folder, {}, target});
  }
  void add(ViewStep::Kind kind, const std::string& source, const fs::path& target) {
    std::string name = below_root(target);
    if (!shown_.insert(name).second) return;
    folder(target.parent_path());
    steps.push_back({kind, source, name});
  }
  /// Merged-/usr systems: /lib and the like are links to below /usr. The dynamic loader's own path goes
  /// through one.
  void top_level_links() {
    for (const char* name : {"/bin", "/lib", "/lib32", "/lib64", "/sbin"}) {
      std::error_code code;
      if (!fs::is_symlink(name, code)) continue;
      fs::path to = fs::read_symlink(name, code);
      if (code) continue;
      fs::path relative = to.is_absolute() ? to.relative_path() : to;
      folder("/" / relative);
      add(ViewStep::Kind::link, relative.string(), name);
    }
  }

 private:
  std::set<std::string> made_, shown_;
};

/// Binds `path`, or repeats it as a link when what it points at is bound anyway.
Result<void> show(View& view, const fs::path& path, const std::vector<fs::path>& readable) {
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  if (code)
    return fail(ErrorKind::not_found,
                fmt::format("cannot show {} to a confined process: {}", path.string(), code.message()));
  for (const fs::path& other : readable)
    if (fs::is_symlink(path, code) && other != path && contains(other, real)) {
      fs::path to = real.lexically_relative(fs::canonical(path.parent_path(), code));
      view.add(ViewStep::Kind::link, to.string(), path);
      return {};
    }
  bool folder = fs::is_directory(real, code);
  view.add(folder ? ViewStep::Kind::bind_folder : ViewStep::Kind::bind_file, real.string(), path);
  return {};
}

/// "/lib/x" as "/usr/lib/x" where /lib is a link: in the new root it will be one too.
fs::path past_top_link(const fs::path& path) {
  std::error_code code;
  fs::path relative = path.lexically_normal().relative_path();
  if (relative.empty()) return path;
  fs::path top = "/" / *relative.begin();
  if (!fs::is_symlink(top, code)) return path;
  fs::path real = fs::canonical(top, code);
  return code ? path : (real / relative.lexically_relative(*relative.begin())).lexically_normal();
}

/// Outer folders only: what is inside a bound folder is there already.
std::vector<fs::path> outermost(const Policy& policy, const fs::path& program) {
  std::set<fs::path> all{past_top_link(program)};
  for (const fs::path& path : policy.readable) all.insert(past_top_link(path));
  std::vector<fs::path> paths;
  for (const fs::path& path : all) {
    bool covered = false;
    for (const fs::path& outer : paths) covered |= contains(outer, path);
    if (!covered) paths.push_back(path);
  }
  return paths;
}

}  // namespace

Result<std::vector<ViewStep>> view_of(const Policy& policy, const fs::path& program) {
  View view;
  view.top_level_links();
  if (policy.filter == Filter::compile)
    view.add(ViewStep::Kind::temporary, fmt::format("{}", 2 * policy.file_size.count), "/tmp");
  view.add(ViewStep::Kind::bind_writable, "/dev/null", "/dev/null");
  std::vector<fs::path> readable = outermost(policy, program);
  for (const fs::path& path : readable) AKO_CHECK(show(view, path, readable));
  if (!policy.scratch.empty())
    view.add(ViewStep::Kind::bind_writable, policy.scratch.string(), policy.scratch);
  return std::move(view.steps);
}

bool readable_by_anyone(const std::vector<ViewStep>& steps) {
  for (const ViewStep& step : steps) {
    if (step.kind != ViewStep::Kind::bind_file && step.kind != ViewStep::Kind::bind_folder) continue;
    struct stat state{};
    if (::stat(step.source.c_str(), &state) != 0) return false;
    mode_t needed = S_ISDIR(state.st_mode) || (state.st_mode & S_IXUSR) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((state.st_mode & needed) != needed) return false;
  }
  return true;
}

}  // namespace ako

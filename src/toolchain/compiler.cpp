#include "toolchain/compiler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/hash.h"
#include "os/process.h"

namespace ksearch::toolchain {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kVersionLimit{20};

bool is_wrapper(const fs::path& path) {
  std::error_code code;
  const std::string file = fs::canonical(path, code).filename().string();
  return file.starts_with("ccache") || file.starts_with("distcc") || file.starts_with("sccache");
}

/// An absolute path to the program `name`, or empty.
fs::path on_path(const std::string& name, const os::Environment& environment) {
  const auto usable = [](const fs::path& path) {
    return ::access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path) && !is_wrapper(path);
  };
  if (name.find('/') != std::string::npos) return usable(name) ? fs::absolute(name) : fs::path();
  const auto path = environment.find("PATH");
  std::istringstream folders(path == environment.end() ? "/usr/bin:/bin" : path->second);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && folder.front() == '/' && usable(fs::path(folder) / name))
      return fs::path(folder) / name;
  return {};
}

/// What it says of itself: asked once, then known until the file changes. Empty where it does not
/// work.
std::string version_of(const fs::path& path, const os::Environment& environment) {
  std::error_code code;
  const fs::path real = fs::canonical(path, code);
  const std::string key = fmt::format("{}\n{}\n{}", path.string(), fs::file_size(real, code),
                                      fs::last_write_time(real, code).time_since_epoch().count());
  const fs::path known =
      os::cache_folder(environment) / "compilers" / base::short_hash(key + "\n" + real.string());
  if (const auto text = os::read_file(known); text && !text->empty()) return *text;
  const auto asked = os::run({.argv = {path.string(), "--version"},
                              .environment = {{"LC_ALL", "C"}, {"PATH", "/usr/bin:/bin"}}},
                             kVersionLimit);
  if (!asked || asked->timed_out || asked->status.code != 0) return {};
  static_cast<void>(os::write_file(known, asked->output));  // else it is asked again
  return asked->output;
}

/// Compilers of a toolset (/opt/gcc-13/bin/g++) need the folder above bin.
std::vector<fs::path> roots_of(const fs::path& program) {
  std::vector<fs::path> roots;
  std::error_code code;
  for (const fs::path& path : {program, fs::canonical(program, code)}) {
    const std::string text = path.string();
    if (path.empty() || text.starts_with("/usr/") || text.starts_with("/bin/")) continue;
    const fs::path root = path.parent_path().parent_path();
    if (root != "/" && std::find(roots.begin(), roots.end(), root) == roots.end())
      roots.push_back(root);
  }
  return roots;
}

}  // namespace

base::Result<Compiler> find_compiler(const os::Environment& environment) {
  std::vector<std::string> names;
  for (const char* variable : {"KSEARCH_CXX", "CXX"})
    if (const auto found = environment.find(variable);
        found != environment.end() && !found->second.empty())
      names.push_back(found->second);
  names.insert(names.end(), {"c++", "g++", "clang++"});
  std::string tried;
  for (const std::string& name : names) {
    tried += (tried.empty() ? "" : ", ") + name;
    const fs::path path = on_path(name, environment);
    if (path.empty()) continue;
    const std::string version = version_of(path, environment);
    if (version.empty()) continue;
    return Compiler{.path = path,
                    .version = version.substr(0, version.find('\n')),
                    .clang = version.find("clang") != std::string::npos,
                    .roots = roots_of(path)};
  }
  return base::environment_error("C++ compiler", fmt::format("none of {} works", tried),
                                 "install g++ (Debian: apt install g++), or name one in CXX");
}

std::string machine_key() {
  std::string key;
  if (const auto info = os::read_file("/proc/cpuinfo")) {
    std::istringstream lines(*info);
    for (std::string line; std::getline(lines, line) && !line.empty();)  // the first CPU's
      for (const char* field : {"model name", "cpu family", "model\t", "stepping", "flags",
                                "Features", "CPU implementer", "CPU part", "CPU variant"})
        if (line.starts_with(field)) key += line + "\n";
  }
  return base::short_hash(key);
}

}  // namespace ksearch::toolchain

#include "driver_lab.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/mlx_export.h"
#include "os/process.h"
#include "toolchain/compiler.h"

namespace ksearch::formats {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Ran {
  int code = -1;
  std::string output;
};

Ran run(std::vector<std::string> argv, const os::Environment& more = {}) {
  os::Command command;
  command.argv = std::move(argv);
  command.environment = os::current_environment();
  for (const auto& [name, value] : more) command.environment[name] = value;
  const auto done = os::run(command, 10min);
  if (!done) return {-1, done.error().text()};
  return {done->status.code, done->output};
}

std::string failed(const Ran& ran) {
  return ran.code == 0 ? "" : fmt::format("exit code {}: {}", ran.code, ran.output);
}

}  // namespace

std::string DriverLab::add(const fs::path& program, const std::string& name, const fs::path& task) {
  std::vector<std::string> command = {KSEARCH_PROGRAM,
                                      "export",
                                      program.string(),
                                      "--as",
                                      "mlx-cpp",
                                      "--name",
                                      name,
                                      "--out",
                                      folder_.path().string()};
  if (!task.empty()) command.insert(command.end(), {"--task", task.string()});
  const Ran ran = run(command);
  if (ran.code != 0) return failed(ran);
  headers_.push_back(name + ".h");
  const std::string text = os::read_file(folder_.path() / headers_.back()).value_or("");
  for (const char* function : {"", ".reference"})
    if (!*function || text.find(" reference(") != std::string::npos)
      functions_[name + function] =
          fmt::format("[](const driver::Inputs& in) {{ return driver::listed({}_mlx::{}({})); }}",
                      name, *function ? "reference" : name, arguments());
  return "";
}

/// What the export and its reference take, out of `in`.
std::string DriverLab::arguments() const {
  std::vector<std::string> list;
  for (const kernel::TensorSpec& t : definition_.inputs)
    if (!t.optional) list.push_back(fmt::format("in.at(\"{}\")", t.name));
  for (const std::string& axis : asked_axes(definition_))
    list.push_back(fmt::format("driver::number<int64_t>(in, \"{}\")", axis));
  for (const kernel::Param& p : definition_.params)
    list.push_back(fmt::format("driver::number<{}>(in, \"{}\")",
                               p.kind == kernel::ParamKind::integer   ? "int64_t"
                               : p.kind == kernel::ParamKind::boolean ? "bool"
                                                                      : "float",
                               p.name));
  for (const kernel::TensorSpec& t : definition_.inputs)
    if (t.optional) list.push_back(fmt::format("driver::given(in, \"{}\")", t.name));
  return fmt::format("{}", fmt::join(list, ", "));
}

std::string DriverLab::build(bool twice) {
  std::string includes =
      "#include \"driver.h\"\n#include \"metal_kernel_in_engine.h\"\n"
      "#define metal_kernel metal_kernel_in_engine\n";
  for (const std::string& header : headers_) includes += fmt::format("#include \"{}\"\n", header);
  std::string table;
  for (const auto& [name, code] : functions_)
    table += fmt::format("    {{\"{}\", {}}},\n", name, code);
  const std::string main = fmt::format(
      "{}int main(int argc, char** argv) {{\n  return driver::main({{\n{}  }}, argc, argv);\n}}\n",
      includes, table);
  const fs::path folder = folder_.path(), root = KSEARCH_MLX_ROOT, library = root / "lib";
  const auto compiler = toolchain::find_compiler(os::current_environment());
  if (!compiler) return compiler.error().text();
  std::vector<std::string> argv = {compiler->path.string(), "-std=c++20", "-Wall",     "-Wextra",
                                   "-Wconversion",          "-Wshadow",   "-pedantic", "-Werror"};
  argv.insert(argv.end(), {"-isystem", (root / "include").string(), "-I",
                           KSEARCH_SOURCE_DIR "/tests/conformance/mlx_cpp"});
  for (const auto& [file, text] : {std::pair("main.cpp", main), std::pair("again.cpp", includes)}) {
    if (file == std::string("again.cpp") && !twice) continue;
    if (const auto wrote = os::write_file(folder / file, text); !wrote) return wrote.error().text();
    argv.push_back((folder / file).string());
  }
  argv.insert(argv.end(), {KSEARCH_MLX_DRIVER, "-L", library.string(), "-lmlx",
                           "-Wl,-rpath," + library.string(), "-o", (folder / "driver").string()});
  return failed(run(argv));
}

DriverLab::Result DriverLab::call(const std::string& function,
                                  const std::vector<NamedArray>& inputs, bool engine) const {
  const fs::path folder = folder_.path(), in = folder / "in.safetensors",
                 out = folder / "out.safetensors";
  std::error_code ignored;
  fs::remove_all(folder / "cases", ignored);
  fs::remove(out, ignored);
  if (!os::write_file(in, safetensors(inputs))) return {};
  os::Environment more = {{"KSEARCH_CASES", (folder / "cases").string()}};
  if (engine) more["KSEARCH"] = KSEARCH_PROGRAM;
  const Ran ran = run({(folder / "driver").string(), function, in.string(), out.string()}, more);
  Result result{ran.code, ran.output, {}};
  if (ran.code == 0) result.arrays = read_safetensors(os::read_file(out).value_or(""));
  return result;
}

std::vector<base::Json> DriverLab::cases() const {
  std::vector<base::Json> all;
  for (int i = 0;; ++i) {
    const fs::path file = folder_.path() / "cases" / std::to_string(i) / "case.json";
    const auto text = os::read_file(file);
    if (!text) return all;
    all.push_back(base::parse_json(*text, file.string()).value_or(base::Json()));
  }
}

}  // namespace ksearch::formats

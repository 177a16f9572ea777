#include "simt/locate.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "os/process.h"
#include "simt/tools.h"

namespace ksearch::simt {
namespace {

constexpr std::chrono::seconds kLineLimit{20};

}  // namespace

std::map<std::uint64_t, SourceLine> parse_addr2line(std::string_view output) {
  std::map<std::uint64_t, SourceLine> lines;
  std::istringstream stream{std::string(output)};
  std::uint64_t address = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("0x")) {
      std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
      continue;
    }
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || lines.contains(address)) continue;
    const std::string file =
        line.substr(line.rfind('/', colon) + 1, 0 + colon - (line.rfind('/', colon) + 1));
    // Ours are all named so; "??" is unknown.
    if (file.starts_with("ks_") || file.starts_with("??")) continue;
    int number = 0;
    std::from_chars(line.data() + colon + 1, line.data() + line.size(), number);
    if (number > 0) lines[address] = {file, number};
  }
  return lines;
}

base::Result<std::map<std::uint64_t, SourceLine>> locate(const os::Sandbox& sandbox,
                                                         const std::filesystem::path& object,
                                                         const std::vector<std::uint64_t>& places) {
  std::map<std::uint64_t, SourceLine> lines;
  if (places.empty()) return lines;
  os::Command command;
  command.argv = {tool("addr2line"), "-a", "-i", "-e", object.string()};
  command.environment = {{"LC_ALL", "C"}};
  // A place is the instruction after a call.
  for (const std::uint64_t place : places) command.argv.push_back(fmt::format("{:#x}", place - 1));
  KS_TRY(const os::Command confined,
         sandbox.confine(command, {.read = {object}, .programs = true}));
  KS_TRY(const os::Finished finished, os::run(confined, kLineLimit, 4 << 20));
  if (finished.status.code != 0 || finished.timed_out)
    return base::environment_error("addr2line", finished.output.substr(0, 200), "install binutils");
  for (auto& [address, line] : parse_addr2line(finished.output)) lines[address + 1] = line;
  return lines;
}

}  // namespace ksearch::simt

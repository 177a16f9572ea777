#include "cli/check_case.h"

#include <algorithm>

#include "simt/headers.h"

namespace ksearch::cli {
namespace {
namespace fs = std::filesystem;

std::array<std::uint32_t, 3> triple(const std::vector<std::uint32_t>& numbers) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  std::copy_n(numbers.begin(), std::min<std::size_t>(numbers.size(), 3), result.begin());
  return result;
}

/// --constant 3=true
base::Result<std::map<int, std::string>> parse_constants(const std::vector<std::string>& texts) {
  std::map<int, std::string> constants;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool number =
        equals != std::string::npos && equals > 0 && text.find_first_not_of("0123456789") == equals;
    const std::string value = number ? text.substr(equals + 1) : "";
    if (value.empty() || (value != "true" && value != "false" &&
                          value.find_first_not_of("0123456789.+-eE") != std::string::npos))
      return base::usage_error("--constant " + text, "it is no INDEX=VALUE",
                               "--constant 3=true, --constant 0=64");
    constants[std::stoi(text.substr(0, equals))] = value;
  }
  return constants;
}

/// Buffers with start contents are its inputs, the others its outputs.
base::Result<simt::Body> body_of(const simt::Case& all, const CheckOptions& options) {
  simt::Body body;
  body.atomic_outputs = options.atomic_outputs;
  for (const simt::Buffer& buffer : all.buffers)
    (buffer.role == simt::Role::in ? body.inputs : body.outputs).push_back(buffer.name);
  if (body.outputs.empty()) return base::usage_error("--buffer", "a body has an output at least");
  for (const std::string& text : options.arguments) {
    const std::size_t equals = text.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : simt::template_argument(text.substr(equals + 1));
    if (!value || equals == 0)
      return base::usage_error("--template " + text, "it is no NAME=VALUE",
                               "--template T=float32, --template N=64, --template FAST=true");
    body.arguments.emplace_back(text.substr(0, equals), *value);
  }
  return body;
}

base::Result<std::vector<std::pair<std::string, std::string>>> headers_of(
    const CheckOptions& options) {
  const fs::path beside = fs::path(options.file).parent_path();
  KS_TRY(auto headers, simt::read_headers(beside.empty() ? "." : beside, false));
  for (const std::string& folder : options.include) {
    KS_TRY(const auto more, simt::read_headers(folder, true));
    // One of this name beside the source, or in a folder named before, comes first.
    for (const auto& header : more)
      if (std::none_of(headers.begin(), headers.end(),
                       [&](const auto& known) { return known.first == header.first; }))
        headers.push_back(header);
  }
  return headers;
}

/// An option that describes a launch, where one was given.
const char* launch_option(const CheckOptions& o) {
  const std::vector<std::uint32_t> one{1};
  const std::pair<const char*, bool> given[] = {{"--kernel", !o.kernel.empty()},
                                                {"--groups", o.groups != one},
                                                {"--group-size", o.group_size != one},
                                                {"--threads", !o.threads.empty()},
                                                {"--group-memory", !o.group_memory.empty()},
                                                {"--buffer", !o.buffers.empty()},
                                                {"--constant", !o.constants.empty()},
                                                {"--param", !o.params.empty()},
                                                {"--symbol", !o.symbols.empty()},
                                                {"--define", !o.defines.empty()},
                                                {"--template", !o.arguments.empty()},
                                                {"--body", o.body},
                                                {"--atomic-outputs", o.atomic_outputs}};
  for (const auto& [name, is] : given)
    if (is) return name;
  return nullptr;
}

}  // namespace

base::Result<simt::Case> case_of(const CheckOptions& options) {
  simt::Case all;
  if (fs::path(options.file).extension() == ".json") {
    if (const char* option = launch_option(options))
      return base::usage_error(option, "a case file says this itself", "change it there");
    KS_TRY(all, simt::load_case(options.file));
    KS_TRY(all.headers, headers_of(options));
    return all;
  }
  all.file = fs::path(options.file).filename();
  all.dialect = simt::dialect_of(options.file);
  KS_TRY(all.source, os::read_file(options.file));
  if (options.kernel.empty() && !options.body)
    return base::usage_error("--kernel", "which kernel of the file is meant?",
                             "--kernel NAME --groups N --group-size N --buffer ...");
  simt::Launch launch;
  launch.kernel = options.kernel;
  launch.group_size = triple(options.group_size);
  launch.groups = triple(options.groups);
  if (!options.threads.empty()) launch.threads = triple(options.threads);
  launch.group_memory = options.group_memory;
  KS_TRY(launch.constants, parse_constants(options.constants));
  for (const std::string& text : options.params) {
    KS_TRY(launch.values.emplace_back(), simt::parse_value(text));
  }
  all.launches.push_back(std::move(launch));
  for (const std::string& text : options.buffers) {
    KS_TRY(simt::Buffer buffer, simt::parse_buffer(text));
    buffer.index = static_cast<int>(all.buffers.size());
    all.buffers.push_back(std::move(buffer));
  }
  for (const std::string& text : options.symbols) {
    KS_TRY(simt::Buffer buffer, simt::parse_buffer(text));
    buffer.symbol = true;
    all.buffers.push_back(std::move(buffer));
  }
  for (const std::string& text : options.defines) {
    const std::size_t equals = text.find('=');
    all.defines.emplace_back(text.substr(0, equals),
                             equals == std::string::npos ? "1" : text.substr(equals + 1));
  }
  if (options.body) {
    KS_TRY(all.body, body_of(all, options));
  }
  KS_TRY(all.headers, headers_of(options));
  return all;
}

}  // namespace ksearch::cli

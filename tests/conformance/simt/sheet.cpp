#include "conformance/simt/sheet.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "simt/headers.h"

namespace ksearch::tests {
namespace {
using kernel::DType;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, by);) parts.push_back(part);
  return parts;
}

std::array<std::uint32_t, 3> triple(const std::string& text) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  const auto parts = split(text, ',');
  for (std::size_t d = 0; d < parts.size() && d < 3; ++d)
    result[d] = static_cast<std::uint32_t>(std::stoul(parts[d]));
  return result;
}

class Reader {
 public:
  Sheet run(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error(path.string() + " cannot be read");
    sheet_.all.file = path.filename();
    const auto headers = simt::read_headers(path.parent_path(), false);
    if (!headers) throw std::runtime_error(headers.error().text());
    for (const auto& header : *headers)
      if (header.first.ends_with(".h")) sheet_.all.headers.push_back(header);
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      sheet_.all.source += line + "\n";
      const std::size_t mark = line.find("//! ");
      if (mark != std::string::npos) sheet_.marked[line.substr(mark + 4)].insert(number);
      if (!line.starts_with("//# ")) continue;
      try {
        directive(line.substr(4));
      } catch (const std::exception& error) {
        throw std::runtime_error(sheet_.all.file + ":" + std::to_string(number) + ": " +
                                 error.what());
      }
    }
    return std::move(sheet_);
  }

 private:
  void directive(const std::string& line) {
    std::istringstream stream(line);
    std::string word, rest;
    stream >> word;
    std::getline(stream >> std::ws, rest);
    if (word == "launch") return launch(rest);
    if (word == "body") return body(rest);
    if (sheet_.launches.empty()) throw std::runtime_error("no launch stands before it");
    if (word.starts_with("buffer") || word.starts_with("inout") || word == "scalar")
      return buffer(word, rest);
    if (word == "bind") return bind(rest);
    if (word == "expect") return expect(rest);
    if (word == "finds") {
      std::istringstream(rest) >> sheet_.launches.back().finds >>
          sheet_.launches.back().finds_buffer;
      return;
    }
    throw std::runtime_error("unknown directive " + word);
  }

  void launch(const std::string& text) {
    std::istringstream stream(text);
    simt::Launch launch;
    stream >> launch.kernel;
    LaunchSheet sheet{launch.kernel, {}, {}, {}, {}};
    for (std::string word; stream >> word;) {
      const std::string key = word.substr(0, word.find('='));
      const std::string value = word.substr(key.size() + 1);
      if (key == "name")
        sheet.label = value;
      else if (key == "groups")
        launch.groups = triple(value);
      else if (key == "size")
        launch.group_size = triple(value);
      else if (key == "threads")
        launch.threads = triple(value);
      else if (key == "memory")
        for (const std::string& bytes : split(value, ','))
          launch.group_memory.push_back(static_cast<std::uint32_t>(std::stoul(bytes)));
      else if (key == "const")
        for (const std::string& one : split(value, ','))
          launch.constants[std::stoi(one)] = one.substr(one.find(':') + 1);
      else
        throw std::runtime_error("unknown key " + key);
    }
    sheet_.all.launches.push_back(std::move(launch));
    sheet_.launches.push_back(std::move(sheet));
  }

  void body(const std::string& text) {
    std::istringstream stream(text);
    simt::Body body;
    for (std::string word; stream >> word;) {
      const std::string key = word.substr(0, word.find('='));
      const std::string value = word.size() > key.size() ? word.substr(key.size() + 1) : "";
      if (key == "inputs") body.inputs = split(value, ',');
      if (key == "outputs") body.outputs = split(value, ',');
      if (key == "atomic") body.atomic_outputs = true;
      if (key == "header")
        for (const std::string& one : split(value, '~')) body.header += one + " ";
      if (key == "template")
        for (const std::string& one : split(value, ',')) {
          const std::size_t colon = one.find(':');
          body.arguments.emplace_back(one.substr(0, colon),
                                      simt::template_argument(one.substr(colon + 1)).value());
        }
    }
    sheet_.all.body = std::move(body);
  }

  void buffer(const std::string& word, const std::string& text) {
    auto parsed = simt::parse_buffer(text);
    if (!parsed) throw std::runtime_error(parsed.error().text());
    LaunchSheet& sheet = sheet_.launches.back();
    simt::Launch& launch = sheet_.all.launches.back();
    const std::size_t at = word.find('@');
    const int index = at == std::string::npos
                          ? (launch.bind.empty() ? 0 : launch.bind.rbegin()->first + 1)
                          : std::stoi(word.substr(at + 1));
    // A body's buffers keep their names: its text holds them.
    const std::string name = sheet_.all.body ? parsed->name : sheet.label + "." + parsed->name;
    sheet.names[parsed->name] = name;
    parsed->name = name;
    parsed->init.seed = sheet_.all.buffers.size() + 1;
    if (word.starts_with("inout")) parsed->role = simt::Role::inout;
    if (word == "scalar") parsed->shape.clear();
    sheet_.all.buffers.push_back(*parsed);
    launch.bind[index] = name;
  }

  void bind(const std::string& text) {
    std::istringstream stream(text);
    int index = 0;
    std::string name;
    stream >> index >> name;
    sheet_.all.launches.back().bind[index] = name;
    sheet_.launches.back().names[name.substr(name.find('.') + 1)] = name;
  }

  void expect(std::string text) {
    LaunchSheet& sheet = sheet_.launches.back();
    Expectation expectation;
    const std::size_t within = text.rfind(" within ");
    if (within != std::string::npos) {
      expectation.within = std::stold(text.substr(within + 8));
      text.resize(within);
    }
    const std::size_t equals = text.find(" = ");
    std::string name = text.substr(0, equals);
    const std::string value = text.substr(equals + 3);
    if (name.ends_with("[i]")) {
      name.resize(name.size() - 3);
      expectation.each.emplace(value);
    } else {
      for (const std::string& one : split(value, ','))
        expectation.values.push_back(Formula(one).at(0, {}));
    }
    if (!sheet.names.contains(name)) throw std::runtime_error("no buffer is named " + name);
    expectation.buffer = sheet.names[name];
    sheet.expectations.push_back(std::move(expectation));
  }

  Sheet sheet_;
};

template <class T>
std::vector<long double> decode_as(std::string_view bytes) {
  std::vector<long double> all(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < all.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    all[i] = static_cast<long double>(value);
  }
  return all;
}

}  // namespace

Sheet read_sheet(const std::filesystem::path& path) { return Reader().run(path); }

std::vector<long double> decode(DType type, std::string_view bytes) {
  switch (type) {
    case DType::float32:
      return decode_as<float>(bytes);
    case DType::int64:
      return decode_as<std::int64_t>(bytes);
    case DType::uint64:
      return decode_as<std::uint64_t>(bytes);
    case DType::int32:
      return decode_as<std::int32_t>(bytes);
    case DType::uint32:
      return decode_as<std::uint32_t>(bytes);
    case DType::int16:
      return decode_as<std::int16_t>(bytes);
    case DType::uint16:
      return decode_as<std::uint16_t>(bytes);
    case DType::int8:
      return decode_as<std::int8_t>(bytes);
    case DType::uint8:
    case DType::boolean:
      return decode_as<std::uint8_t>(bytes);
    case DType::float16:
    case DType::bfloat16: {
      std::vector<long double> all = decode_as<std::uint16_t>(bytes);
      for (long double& x : all) {
        const auto bits = static_cast<std::uint16_t>(x);
        x = type == DType::float16 ? kernel::float_from_half(bits)
                                   : kernel::float_from_bfloat16(bits);
      }
      return all;
    }
    default:
      throw std::runtime_error("no such type in Metal");
  }
}

long double rounded(DType type, long double value) {
  switch (type) {
    case DType::float32:
      return static_cast<float>(value);
    case DType::float16:
      return kernel::float_from_half(kernel::half_from_float(static_cast<float>(value)));
    case DType::bfloat16:
      return kernel::float_from_bfloat16(kernel::bfloat16_from_float(static_cast<float>(value)));
    default:
      return value;
  }
}

}  // namespace ksearch::tests

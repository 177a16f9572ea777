#include "simt/ir/module.h"

#include <charconv>

namespace ksearch::simt::ir {
namespace {

constexpr std::size_t kMostFrames = 64;

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_space(text.back()) || text.back() == '\n')) text.remove_suffix(1);
  return text;
}

int number_at(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// N of "key!N" where the last such key stands, or -1.
int reference(std::string_view text, std::string_view key) {
  const std::size_t at = text.rfind(key);
  return at == std::string_view::npos ? -1 : number_at(text.substr(at + key.size()));
}

std::string_view quoted(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t start = at + key.size(), end = text.find('"', start);
  return end == std::string_view::npos ? std::string_view() : text.substr(start, end - start);
}

/// The label of "12:   ; preds = ..." or "name:", or nothing.
std::string_view label_of(std::string_view line) {
  if (line.empty() || is_space(line.front()) || line.front() == ';') return {};
  const std::size_t quote = line.front() == '"' ? line.find('"', 1) : 0;
  if (quote == std::string_view::npos) return {};
  const std::size_t colon = line.find(':', quote);
  if (colon == std::string_view::npos || line.substr(0, colon).find(' ') < quote) return {};
  return line.substr(0, colon);
}

Instruction instruction(std::string_view text) {
  Instruction result;
  result.text = text;
  std::string_view rest = text;
  if (text.front() == '%') {
    const std::size_t equals = text.find(" = ");
    if (equals != std::string_view::npos) {
      result.result = text.substr(0, equals);
      rest = text.substr(equals + 3);
    }
  }
  for (;;) {
    const std::size_t end = rest.find_first_of(" \n");
    result.opcode = rest.substr(0, end);
    if (result.opcode != "tail" && result.opcode != "musttail" && result.opcode != "notail") break;
    rest = trimmed(rest.substr(end));
  }
  result.location = reference(text, "!dbg !");
  const auto after = static_cast<std::size_t>(result.opcode.end() - text.begin());
  result.words = words(text.substr(after, text.find(", !", after) - after));
  return result;
}

std::string_view function_name(std::string_view header) {
  const std::size_t at = header.find('@');
  if (at == std::string_view::npos) return {};
  const std::size_t quote =
      at + 1 < header.size() && header[at + 1] == '"' ? header.find('"', at + 2) : at;
  return header.substr(at, header.find('(', quote) - at);
}

}  // namespace

Module::Module(std::string_view text) : text_(text) {
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!inside) {
      if (line.starts_with("define ")) {
        functions_.push_back({function_name(line), line, reference(line, "!dbg !"), {}});
        inside = true;
      } else if (line.starts_with("!")) {
        read_metadata(line);
      } else if (const std::size_t type = line.find(" = type ");
                 line.starts_with("%") && type != std::string_view::npos) {
        types_[line.substr(0, type)] = line.substr(type + 8);
      }
      continue;
    }
    Function& function = functions_.back();
    if (line.starts_with("}")) {
      find_locations(function);
      inside = false;
      continue;
    }
    if (const std::string_view label = label_of(line); !label.empty()) {
      function.blocks.push_back({label, at, at, {}});
      continue;
    }
    std::string_view code = trimmed(line);
    if (code.empty() || code.front() == ';' || code.front() == '#') continue;
    if (code.starts_with("switch ") && code.ends_with('[')) {
      end = std::min(text.find("\n  ]", start), text.size() - 1) + 1;
      end = std::min(text.find('\n', end), text.size());
      code = trimmed(text.substr(start, end - start));
      at = end + 1;
    }
    if (function.blocks.empty()) function.blocks.push_back({{}, start, start, {}});
    Block& block = function.blocks.back();
    block.instructions.push_back(instruction(code));
    if (block.instructions.back().opcode == "phi") block.body = at;
  }
}

void Module::find_locations(Function& function) {
  std::unordered_map<std::string_view, Instruction*> lost;
  for (Block& block : function.blocks)
    for (Instruction& instruction : block.instructions)
      if (instruction.location < 0 && !instruction.result.empty())
        lost[instruction.result] = &instruction;
  if (lost.empty()) return;
  const auto give = [&](std::string_view word, int location) {
    const auto found = lost.find(word);
    if (found == lost.end()) return;
    found->second->location = location;
    lost.erase(found);
  };
  // From the end: what uses a value comes before it.
  for (auto block = function.blocks.rbegin(); block != function.blocks.rend(); ++block)
    for (auto user = block->instructions.rbegin(); user != block->instructions.rend(); ++user)
      if (user->location >= 0)
        for (const std::string_view word : user->words) give(word, user->location);
}

void Module::read_metadata(std::string_view line) {
  const int number = number_at(line.substr(1));
  const std::size_t equals = line.find(" = ");
  if (number < 0 || equals == std::string_view::npos) return;
  metadata_[number] = line.substr(equals + 3);
  free_number_ = std::max(free_number_, number + 1);
}

std::string_view Module::named_type(std::string_view name) const {
  const auto found = types_.find(name);
  return found == types_.end() ? std::string_view() : found->second;
}

Frame Module::frame(int scope) const {
  Frame result;
  for (std::size_t steps = 0; steps < kMostFrames; ++steps) {
    const auto found = metadata_.find(scope);
    if (found == metadata_.end()) break;
    const std::string_view text = found->second;
    // A block of another file (#line, #include within a function) names it first.
    if (result.file.empty())
      if (const auto file = metadata_.find(reference(text, "file: !")); file != metadata_.end()) {
        const std::string_view path = quoted(file->second, "filename: \"");
        result.file = path.substr(path.rfind('/') + 1);
      }
    if (text.find("!DISubprogram(") != std::string_view::npos) {
      result.function = quoted(text, "name: \"");
      break;
    }
    scope = reference(text, "scope: !");
  }
  return result;
}

const std::vector<Frame>& Module::frames(int location) const {
  const auto [entry, fresh] = frames_.try_emplace(location);
  if (!fresh) return entry->second;
  std::vector<Frame> frames;
  while (frames.size() < kMostFrames) {
    const auto found = metadata_.find(location);
    if (found == metadata_.end() || found->second.find("!DILocation(") == std::string_view::npos)
      break;
    const std::string_view text = found->second;
    Frame one = frame(reference(text, "scope: !"));
    const std::size_t line = text.find("line: ");
    one.line = line == std::string_view::npos ? 0 : number_at(text.substr(line + 6));
    frames.push_back(one);
    location = reference(text, "inlinedAt: !");
    if (location < 0) break;
  }
  return frames_[entry->first] = std::move(frames);
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_space(c) || c == '\n' || c == ',') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (c == '<' || c == '[' || c == '{') {
      int depth = 0;
      for (end = at; end < text.size(); ++end) {
        const char d = text[end];
        depth += d == '<' || d == '[' || d == '{';
        depth -= d == '>' || d == ']' || d == '}';
        if (depth == 0) break;
      }
      ++end;
    } else if (c != '(' && c != ')') {
      bool in_quotes = c == '"';
      for (; end < text.size(); ++end) {
        const char d = text[end];
        if (d == '"') in_quotes = !in_quotes;
        if (!in_quotes && (is_space(d) || d == ',' || d == '(' || d == ')' || d == '\n')) break;
      }
    }
    end = std::min(end, text.size());
    result.push_back(text.substr(at, end - at));
    at = end;
  }
  return result;
}

}  // namespace ksearch::simt::ir

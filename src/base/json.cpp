#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace ksearch::base {
namespace {

const Json kNull = nullptr;
const Json kEmptyObject = Json::object();
const Json kEmptyArray = Json::array();

/// nlohmann's message without its own prefix: "[json.exception.parse_error.101] parse error at
/// ...".
std::string plain(std::string_view message) {
  const auto end = message.find("] ");
  return std::string(end == std::string_view::npos ? message : message.substr(end + 2));
}

/// Passes events on to nlohmann's builder and refuses a key that an object has already.
class DuplicateKeys {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    const auto level = static_cast<std::size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      if (keys_.size() <= level) keys_.resize(level + 1);
      keys_[level].clear();
    } else if (event == Json::parse_event_t::key && level > 0) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_[level - 1].insert(key).second && repeated_.empty()) repeated_ = key;
    }
    return true;
  }
  const std::string& repeated() const { return repeated_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::string repeated_;
};

/// A hostile file must not overflow the stack of a recursive reader.
bool too_deep(std::string_view text) {
  constexpr int kMaxDepth = 256;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view where) {
  if (too_deep(text)) return usage_error(std::string(where), "nested more than 256 levels deep");
  try {
    DuplicateKeys duplicates;
    Json json = Json::parse(text.begin(), text.end(),
                            [&](int depth, Json::parse_event_t event, Json& parsed) {
                              return duplicates(depth, event, parsed);
                            });
    if (!duplicates.repeated().empty())
      return usage_error(
          std::string(where),
          fmt::format("the key \"{}\" stands twice in one object", duplicates.repeated()));
    return json;
  } catch (const nlohmann::json::exception& e) {
    return usage_error(std::string(where), plain(e.what()));
  }
}

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ObjectReader::ObjectReader(const Json& object, std::string where)
    : object_(object.is_object() ? object : kEmptyObject), where_(std::move(where)) {
  if (!object.is_object())
    fault_ = Error{ErrorKind::usage,
                   where_,
                   fmt::format("is {}, an object is wanted", object.type_name()),
                   {}};
}

std::string ObjectReader::place(std::string_view key) const {
  const bool path_began = where_.find(": ") != std::string::npos;
  return fmt::format("{}{}{}", where_, path_began ? "." : ": ", key);
}

void ObjectReader::fault(std::string_view key, std::string what, std::string todo) {
  if (!fault_) fault_ = Error{ErrorKind::usage, place(key), std::move(what), std::move(todo)};
}

const Json* ObjectReader::find(std::string_view key, bool required) {
  known_.emplace(key);
  const auto it = object_.find(key);
  if (it != object_.end()) return &*it;
  if (required) fault(key, "is missing");
  return nullptr;
}

const Json* ObjectReader::of_kind(std::string_view key, bool required,
                                  bool (Json::*kind)() const noexcept, const char* name) {
  const Json* value = find(key, required);
  if (!value || ((*value).*kind)()) return value;
  fault(key, fmt::format("is {}, {} is wanted", value->type_name(), name));
  return nullptr;
}

bool ObjectReader::has(std::string_view key) { return find(key, false) != nullptr; }

std::string ObjectReader::text(std::string_view key) {
  const Json* value = of_kind(key, true, &Json::is_string, "a string");
  return value ? value->get<std::string>() : std::string();
}

std::string ObjectReader::text_or(std::string_view key, std::string_view otherwise) {
  const Json* value = of_kind(key, false, &Json::is_string, "a string");
  return value ? value->get<std::string>() : std::string(otherwise);
}

std::int64_t ObjectReader::integer(std::string_view key) {
  const Json* value = of_kind(key, true, &Json::is_number_integer, "an integer");
  return value ? value->get<std::int64_t>() : 0;
}

std::int64_t ObjectReader::integer_or(std::string_view key, std::int64_t otherwise) {
  const Json* value = of_kind(key, false, &Json::is_number_integer, "an integer");
  return value ? value->get<std::int64_t>() : otherwise;
}

double ObjectReader::number(std::string_view key) {
  const Json* value = of_kind(key, true, &Json::is_number, "a number");
  return value ? value->get<double>() : 0.0;
}

double ObjectReader::number_or(std::string_view key, double otherwise) {
  const Json* value = of_kind(key, false, &Json::is_number, "a number");
  return value ? value->get<double>() : otherwise;
}

bool ObjectReader::boolean_or(std::string_view key, bool otherwise) {
  const Json* value = of_kind(key, false, &Json::is_boolean, "true or false");
  return value ? value->get<bool>() : otherwise;
}

const Json& ObjectReader::any(std::string_view key) {
  const Json* value = find(key, true);
  return value ? *value : kNull;
}

const Json& ObjectReader::object(std::string_view key) {
  const Json* value = of_kind(key, true, &Json::is_object, "an object");
  return value ? *value : kEmptyObject;
}

const Json& ObjectReader::array(std::string_view key) {
  const Json* value = of_kind(key, true, &Json::is_array, "a list");
  return value ? *value : kEmptyArray;
}

const Json* ObjectReader::optional_object(std::string_view key) {
  return of_kind(key, false, &Json::is_object, "an object");
}

const Json* ObjectReader::optional_array(std::string_view key) {
  return of_kind(key, false, &Json::is_array, "a list");
}

std::vector<std::string> ObjectReader::texts_or_empty(std::string_view key) {
  std::vector<std::string> texts;
  const Json* list = optional_array(key);
  if (!list) return texts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i].is_string())
      texts.push_back((*list)[i].get<std::string>());
    else
      fault(fmt::format("{}[{}]", key, i),
            fmt::format("is {}, a string is wanted", (*list)[i].type_name()));
  }
  return texts;
}

void ObjectReader::ignore(std::string_view key) { known_.emplace(key); }

void ObjectReader::keep(ObjectReader& part) {
  if (auto done = part.finish(); !done) fault_at(done.error());
}

Result<void> ObjectReader::finish() {
  if (fault_) return std::unexpected(*fault_);
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    std::string known;
    for (const auto& k : known_) known += (known.empty() ? "" : ", ") + k;
    return std::unexpected(
        Error{ErrorKind::usage, place(key), "is not a key of this object", "known here: " + known});
  }
  return {};
}

void add_members(Json& to, const Json& more) {
  if (more.is_object()) to.update(more);
}

}  // namespace ksearch::base

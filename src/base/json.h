// JSON values with keys in the order written, and a strict reader: an unknown key, a missing one or
// one of the wrong kind is an error that names the place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ksearch::base {

using Json = nlohmann::ordered_json;

/// Parses one JSON value. The error names `where`, line and column. Duplicate keys are refused.
Result<Json> parse_json(std::string_view text, std::string_view where);

/// JSON on one line, for journals and protocols; bytes that are no UTF-8 are replaced, never thrown
/// on.
std::string to_line(const Json& json);

/// JSON indented by two, ended by a line feed, for files that people read.
std::string to_text(const Json& json);

/// Adds the members of `more`, where it is an object, to `to`.
void add_members(Json& to, const Json& more);

/// Reads the members of one object. Each getter notes its key; `finish` refuses what nobody asked
/// for. The first fault is kept and later getters return defaults, so that a reader is one straight
/// list of getters and one `finish`.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where);

  bool has(std::string_view key);
  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view otherwise);
  std::int64_t integer(std::string_view key);
  std::int64_t integer_or(std::string_view key, std::int64_t otherwise);
  double number(std::string_view key);
  double number_or(std::string_view key, double otherwise);
  bool boolean_or(std::string_view key, bool otherwise);
  /// Any member as it is; null where it is missing.
  const Json& any(std::string_view key);
  const Json& object(std::string_view key);
  const Json& array(std::string_view key);
  /// Null where the key is missing; a fault where it is of another kind.
  const Json* optional_object(std::string_view key);
  const Json* optional_array(std::string_view key);
  std::vector<std::string> texts_or_empty(std::string_view key);

  /// Marks a key as known and not read.
  void ignore(std::string_view key);
  /// Notes a fault of the caller's at member `key` (the first one counts).
  void fault(std::string_view key, std::string what, std::string todo = {});
  /// Keeps a fault that has its place already, from a reader of a part.
  void fault_at(Error fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  /// Finishes the reader of a part; its fault becomes this one's.
  void keep(ObjectReader& part);
  bool ok() const { return !fault_; }
  /// The place of member `key`: "program.json: launches[0].args".
  std::string place(std::string_view key) const;
  const std::string& where() const { return where_; }

  /// The first fault, or an unknown key, or nothing.
  Result<void> finish();

 private:
  const Json* find(std::string_view key, bool required);
  const Json* of_kind(std::string_view key, bool required, bool (Json::*kind)() const noexcept,
                      const char* name);

  const Json& object_;
  std::string where_;
  std::set<std::string, std::less<>> known_;
  std::optional<Error> fault_;
};

}  // namespace ksearch::base

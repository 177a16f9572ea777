#include "store/sealed_line.h"

#include "base/hash.h"

namespace ksearch::store {

using base::Json;

namespace {
constexpr std::size_t kSumDigits = 8;
}  // namespace

std::string sealed_line(const Json& json) {
  std::string line = base::to_line(json);
  const std::string sum = base::sha256(line).substr(0, kSumDigits);
  line.pop_back();
  return line + R"(,"sum":")" + sum + "\"}\n";
}

base::Result<Json> open_line(std::string_view line, const std::string& where) {
  constexpr std::string_view kOpen = R"(,"sum":")";
  constexpr std::string_view kClose = "\"}";
  const std::size_t tail = kOpen.size() + kSumDigits + kClose.size();
  const auto damaged = [&](std::string why) {
    return base::environment_error(where, "damaged: " + std::move(why),
                                   "restore the file from a copy; earlier lines are good");
  };
  if (line.size() < tail + 2 || !line.ends_with(kClose) ||
      line.substr(line.size() - tail, kOpen.size()) != kOpen) {
    return damaged("the line does not end with its sum");
  }
  std::string whole(line.substr(0, line.size() - tail));
  whole += '}';
  const std::string_view sum = line.substr(line.size() - kClose.size() - kSumDigits, kSumDigits);
  if (base::sha256(whole).substr(0, kSumDigits) != sum) {
    return damaged("the sum of the line is wrong");
  }
  auto json = base::parse_json(whole, where);
  if (!json) return damaged(json.error().what);
  return json;
}

}  // namespace ksearch::store

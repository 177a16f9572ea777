#include "task/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <numeric>

#include "base/check.h"
#include "base/random.h"
#include "task/elements.h"

namespace ksearch::task {
namespace {

using base::Json;
using kernel::DType;

constexpr std::size_t kPool = std::size_t{1} << 20;
constexpr std::size_t kBlock = 4096;

enum class Kind {
  normal,
  uniform,
  log_uniform,
  integers,
  softplus_negative,
  constant,
  causal_lengths,
  page_table
};

constexpr std::array<std::pair<std::string_view, Kind>, 10> kKinds{{
    {"normal", Kind::normal},
    {"uniform", Kind::uniform},
    {"log_uniform", Kind::log_uniform},
    {"integers", Kind::integers},
    {"softplus_negative", Kind::softplus_negative},
    {"constant", Kind::constant},
    {"zeros", Kind::constant},
    {"ones", Kind::constant},
    {"causal_lengths", Kind::causal_lengths},
    {"page_table", Kind::page_table},
}};

/// The two numbers a kind needs: mean and std, low and high, value, ...
struct Settings {
  double a = 0;
  double b = 1;
};

/// Numbers of one rule: the names of `a` and `b` in the file.
std::pair<const char*, const char*> setting_names(Kind kind) {
  switch (kind) {
    case Kind::normal:
    case Kind::softplus_negative:
      return {"mean", "std"};
    case Kind::uniform:
    case Kind::log_uniform:
    case Kind::integers:
      return {"low", "high"};
    case Kind::constant:
      return {"value", nullptr};
    case Kind::causal_lengths:
      return {"max", nullptr};
    case Kind::page_table:
      return {"pages", "page_size"};
  }
  return {nullptr, nullptr};
}

base::Result<double> number(const Json& json, const kernel::Scope& scope,
                            const std::string& where) {
  if (json.is_number()) return json.get<double>();
  if (!json.is_string())
    return base::usage_error(where, "a number or an expression in text is wanted");
  KS_TRY(const kernel::Expr expr, kernel::Expr::parse(json.get<std::string>(), where));
  return expr.eval_number(scope);
}

base::Result<Settings> read_settings(Kind kind, const Json& json, Settings settings,
                                     const kernel::Scope& scope, const std::string& where) {
  const auto [a, b] = setting_names(kind);
  for (const auto& [key, value] : json.items()) {
    const std::string place = where + "." + key;
    if (key == "stress") continue;
    if (a && key == a) {
      KS_TRY(settings.a, number(value, scope, place));
    } else if (b && key == b) {
      KS_TRY(settings.b, number(value, scope, place));
    } else {
      return base::usage_error(
          place, "unknown key",
          b ? fmt::format("{} and {} are known", a, b) : fmt::format("{} is known", a));
    }
  }
  const bool needs_order =
      kind == Kind::uniform || kind == Kind::log_uniform || kind == Kind::integers;
  if (needs_order && !(settings.a < settings.b))
    return base::usage_error(where,
                             fmt::format("low {} is not below high {}", settings.a, settings.b));
  if (kind == Kind::log_uniform && settings.a <= 0)
    return base::usage_error(where, "low of log_uniform must be above zero");
  if (!std::isfinite(settings.a) || !std::isfinite(settings.b))
    return base::usage_error(where, "a setting is not finite");
  return settings;
}

/// Every part of the content's identity decides the stream, so no two tensors or sets share one.
base::Random stream(std::uint64_t seed, std::string_view tensor, const Content& content) {
  base::Random named = base::Random(seed).fork(tensor);
  base::Random numbered(named.next() ^ (content.set * 0x9e3779b97f4a7c15ull));
  return base::Random(numbered.next() +
                      static_cast<std::uint64_t>(content.variant) * 0xd1342543de82ef95ull);
}

double draw_normal(base::Random& random) {
  const double r = std::sqrt(-2.0 * std::log(1.0 - random.unit()));
  return r * std::cos(2.0 * std::numbers::pi * random.unit());
}

void fill_normal(const NoisePool& pool, base::Random& random, Settings s, DType dtype,
                 std::span<std::byte> out) {
  const float scale = static_cast<float>(s.b * std::numbers::sqrt2 / 2),
              mean = static_cast<float>(s.a);
  in_blocks<kBlock>(dtype, out, [&](std::span<float> block) {
    const float* x = pool.normal.data() + random.below(kPool);
    const float* y = pool.normal.data() + random.below(kPool);
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = (x[i] + y[i]) * scale + mean;
  });
}

void fill_uniform(const NoisePool& pool, base::Random& random, Settings s, DType dtype,
                  std::span<std::byte> out) {
  const float low = static_cast<float>(s.a), width = static_cast<float>(s.b - s.a) * 0x1p-23f;
  in_blocks<kBlock>(dtype, out, [&](std::span<float> block) {
    const std::uint32_t* x = pool.bits.data() + random.below(kPool);
    const std::uint32_t* y = pool.bits.data() + random.below(kPool);
    // 23 bits: signed integers convert to float in every vector instruction set.
    for (std::size_t i = 0; i < block.size(); ++i)
      block[i] = low + width * static_cast<float>(static_cast<std::int32_t>((x[i] + y[i]) >> 9));
  });
}

/// For small tensors and integers: one draw an element.
template <class Draw>
void fill_each(DType dtype, std::span<std::byte> out, Draw draw) {
  const std::size_t n = out.size() / kernel::size_bytes(dtype);
  for (std::size_t i = 0; i < n; ++i) store(dtype, out, i, draw());
}

void fill_lengths(base::Random& random, double max, DType dtype, std::span<std::byte> out) {
  fill_each(dtype, out, [&] {
    return 1.0 + static_cast<double>(random.below(static_cast<std::uint64_t>(max)));
  });
  const std::size_t n = out.size() / kernel::size_bytes(dtype);
  store(dtype, out, random.below(n), max);
}

/// Starts of each sequence's pages: 0, ascending, the last one `total`; every sequence has a page
/// where there are enough.
std::vector<std::int64_t> make_indptr(base::Random& random, std::size_t sequences,
                                      std::int64_t total) {
  std::vector<std::int64_t> at(sequences + 1, 0);
  const auto free = std::max<std::int64_t>(0, total - static_cast<std::int64_t>(sequences));
  for (std::size_t i = 1; i < sequences; ++i)
    at[i] = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(free) + 1));
  at[sequences] = free;
  std::sort(at.begin(), at.end());
  for (std::size_t i = 1; i <= sequences; ++i)
    at[i] += std::min(static_cast<std::int64_t>(i), total - free);
  return at;
}

/// Distinct pages in a random order (a partial Fisher-Yates shuffle).
std::vector<std::int64_t> make_pages(base::Random& random, std::size_t count, std::size_t pages) {
  std::vector<std::int64_t> all(pages);
  std::iota(all.begin(), all.end(), 0);
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random.below(pages - i)]);
  all.resize(count);
  return all;
}

}  // namespace

/// One rule, bound to a workload.
struct InputMaker::Recipe {
  Kind kind = Kind::normal;
  std::vector<std::string> tensors;
  std::vector<Settings> settings;      // by variant; the last one holds for the variants beyond
  std::vector<std::int64_t> elements;  // of its tensors

  const Settings& of(int variant) const {
    return settings[std::min(static_cast<std::size_t>(variant), settings.size() - 1)];
  }
};

std::shared_ptr<const NoisePool> NoisePool::make(std::uint64_t seed) {
  auto pool = std::make_shared<NoisePool>();
  base::Random random = base::Random(seed).fork("noise pool");
  pool->bits.resize(kPool + kBlock);
  for (std::uint32_t& b : pool->bits) b = static_cast<std::uint32_t>(random.next() >> 32);
  pool->normal.resize(kPool + kBlock);
  for (float& n : pool->normal) n = static_cast<float>(draw_normal(random));
  return pool;
}

base::Result<InputMaker> InputMaker::make(const kernel::Definition& definition,
                                          const kernel::Workload& workload, std::uint64_t seed,
                                          std::shared_ptr<const NoisePool> pool) {
  InputMaker maker;
  KS_TRY(maker.tensors_, kernel::shapes_of(definition, workload));
  maker.pool_ = std::move(pool);
  maker.seed_ = base::Random(seed).fork(workload.name).next();
  const kernel::Scope scope = kernel::scope_of(definition, workload);
  std::map<std::string, std::shared_ptr<const Recipe>> by_tensor;
  for (std::size_t i = 0; i < definition.generate.size(); ++i) {
    const kernel::GenerateRule& rule = definition.generate[i];
    const std::string where = fmt::format("{}: generate[{}]", definition.name, i);
    const auto known =
        std::ranges::find(kKinds, rule.kind, &std::pair<std::string_view, Kind>::first);
    if (known == kKinds.end())
      return base::usage_error(where + ".kind",
                               fmt::format("no inputs of kind \"{}\" are made yet", rule.kind));
    auto recipe = std::make_shared<Recipe>();
    recipe->kind = known->second;
    recipe->tensors = rule.tensors;
    KS_TRY(Settings base, read_settings(recipe->kind, rule.settings, {}, scope, where));
    if (rule.kind == "ones") base.a = 1;
    recipe->settings.push_back(base);
    if (rule.settings.contains("stress")) {
      const Json& stress = rule.settings["stress"];
      if (!stress.is_array()) return base::usage_error(where + ".stress", "a list is wanted");
      for (std::size_t v = 0; v < stress.size(); ++v) {
        KS_TRY(const Settings s, read_settings(recipe->kind, stress[v], base, scope,
                                               fmt::format("{}.stress[{}]", where, v)));
        recipe->settings.push_back(s);
      }
    }
    maker.variants_ = std::max(maker.variants_, static_cast<int>(recipe->settings.size()));
    for (const std::string& t : rule.tensors) {
      const auto shape = std::ranges::find(maker.tensors_, t, &kernel::TensorShape::name);
      recipe->elements.push_back(shape == maker.tensors_.end() ? 0 : shape->elements());
    }
    if (recipe->kind == Kind::page_table &&
        (rule.tensors.size() < 2 || rule.tensors.size() > 3 ||
         recipe->elements[1] > static_cast<std::int64_t>(base.a)))
      return base::usage_error(where,
                               "page_table makes [indptr, indices] or [indptr, indices, "
                               "last_page_len], of no more indices than pages");
    for (const std::string& t : rule.tensors) by_tensor[t] = recipe;
  }
  for (const kernel::TensorShape& t : maker.tensors_) {
    if (t.dtype == DType::float8_e4m3fn || t.dtype == DType::float8_e5m2)
      return base::usage_error(fmt::format("{}: {}", definition.name, t.name),
                               fmt::format("nothing computes with {} yet", kernel::name(t.dtype)));
    auto recipe = by_tensor[t.name];
    if (!recipe && t.access != kernel::Access::out) {
      auto standard = std::make_shared<Recipe>();
      standard->tensors = {t.name};
      standard->settings = {Settings{0, 1}};
      if (t.dtype == DType::boolean) {
        standard->kind = Kind::integers;
        standard->settings = {Settings{0, 2}};
      } else if (!kernel::is_float(t.dtype)) {
        return base::usage_error(fmt::format("{}: inputs.{}", definition.name, t.name),
                                 "an integer input needs a rule in `generate`");
      }
      recipe = std::move(standard);
    }
    maker.recipes_.push_back(std::move(recipe));
  }
  return maker;
}

void InputMaker::fill(const Content& content, std::string_view tensor,
                      std::span<std::byte> out) const {
  const auto shape = std::ranges::find(tensors_, tensor, &kernel::TensorShape::name);
  KS_CHECK(shape != tensors_.end() && shape->access != kernel::Access::out,
           "only inputs are filled");
  KS_CHECK(out.size() == shape->bytes(), "the whole tensor is filled");
  const Recipe& recipe = *recipes_[static_cast<std::size_t>(shape - tensors_.begin())];
  const Settings& s = recipe.of(content.variant);
  const DType dtype = shape->dtype;
  // Tensors that are made together share the stream of the first.
  const bool together = recipe.kind == Kind::page_table;
  base::Random random = stream(seed_, together ? recipe.tensors.front() : tensor, content);
  switch (recipe.kind) {
    case Kind::normal:
      return fill_normal(*pool_, random, s, dtype, out);
    case Kind::uniform:
      return fill_uniform(*pool_, random, s, dtype, out);
    case Kind::log_uniform: {
      const double low = std::log(s.a), width = std::log(s.b) - low;
      return fill_each(dtype, out, [&] { return std::exp(low + width * random.unit()); });
    }
    case Kind::softplus_negative:
      return fill_each(dtype, out, [&] {
        const double n = s.a + s.b * draw_normal(random);
        return -(std::max(n, 0.0) + std::log1p(std::exp(-std::abs(n))));
      });
    case Kind::integers: {
      const auto width = static_cast<std::uint64_t>(s.b - s.a);
      return fill_each(dtype, out, [&] { return s.a + static_cast<double>(random.below(width)); });
    }
    case Kind::constant:
      return fill_each(dtype, out, [&] { return s.a; });
    case Kind::causal_lengths:
      return fill_lengths(random, s.a, dtype, out);
    case Kind::page_table: {
      const auto sequences = static_cast<std::size_t>(recipe.elements[0] - 1);
      const auto indptr = make_indptr(random, sequences, recipe.elements[1]);
      const auto pages = make_pages(random, static_cast<std::size_t>(recipe.elements[1]),
                                    static_cast<std::size_t>(s.a));
      if (tensor == recipe.tensors[0]) {
        for (std::size_t i = 0; i < indptr.size(); ++i)
          store(dtype, out, i, static_cast<double>(indptr[i]));
      } else if (tensor == recipe.tensors[1]) {
        for (std::size_t i = 0; i < pages.size(); ++i)
          store(dtype, out, i, static_cast<double>(pages[i]));
      } else {
        fill_each(dtype, out, [&] {
          return 1.0 + static_cast<double>(random.below(static_cast<std::uint64_t>(s.b)));
        });
      }
      return;
    }
  }
}

void to_doubles(DType dtype, std::span<const std::byte> bytes, std::span<double> out) {
  KS_CHECK(bytes.size() == out.size() * kernel::size_bytes(dtype), "one value an element");
  with_elements(dtype, [&]<class E>(E) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = E::load(bytes.data() + i * sizeof(typename E::Raw));
  });
}

}  // namespace ksearch::task

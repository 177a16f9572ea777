#include "target/cpu/manifest.h"

#include <fmt/format.h>

#include "os/files.h"

namespace ksearch::target {
namespace {
using base::Json;

constexpr std::string_view kFormat = "ksearch.cpu_executable/1";
constexpr std::string_view kFile = "manifest.json";

}  // namespace

Json to_json(const Manifest& manifest) {
  Json objects = Json::array();
  for (const Manifest::Object& object : manifest.objects) {
    Json defines = Json::object(), kernels = Json::array();
    for (const auto& [name, value] : object.plan.defines) defines[name] = value;
    for (const Signature& s : object.plan.kernels)
      kernels.push_back({{"kernel", s.kernel}, {"types", s.types}, {"names", s.names}});
    objects.push_back(
        {{"file", object.file}, {"defines", std::move(defines)}, {"kernels", std::move(kernels)}});
  }
  return {{"format", kFormat}, {"objects", std::move(objects)}};
}

base::Result<Manifest> parse_manifest(const Json& json, std::string_view where) {
  base::ObjectReader r(json, std::string(where));
  if (r.text("format") != kFormat) r.fault("format", fmt::format("\"{}\" is wanted", kFormat));
  Manifest manifest;
  const Json& objects = r.array("objects");
  for (std::size_t i = 0; i < objects.size(); ++i) {
    base::ObjectReader o(objects[i], r.place(fmt::format("objects[{}]", i)));
    Manifest::Object object;
    object.file = o.text("file");
    for (const auto& [name, value] : o.object("defines").items())
      object.plan.defines.emplace_back(name, value.is_string() ? value.get<std::string>() : "");
    const Json& kernels = o.array("kernels");
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      base::ObjectReader kr(kernels[k], o.place(fmt::format("kernels[{}]", k)));
      Signature s{kr.text("kernel"), kr.texts_or_empty("types"), kr.texts_or_empty("names")};
      KS_RETURN_IF_ERROR(kr.finish());
      object.plan.kernels.push_back(std::move(s));
    }
    KS_RETURN_IF_ERROR(o.finish());
    manifest.objects.push_back(std::move(object));
  }
  KS_RETURN_IF_ERROR(r.finish());
  return manifest;
}

base::Result<void> write_manifest(const std::filesystem::path& folder, const Manifest& manifest) {
  return os::write_file(folder / kFile, base::to_text(to_json(manifest)));
}

base::Result<Manifest> read_manifest(const std::filesystem::path& folder) {
  KS_TRY(const std::string text, os::read_file(folder / kFile));
  KS_TRY(const Json json, base::parse_json(text, (folder / kFile).string()));
  return parse_manifest(json, (folder / kFile).string());
}

}  // namespace ksearch::target

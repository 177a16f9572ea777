#include "simt/job_text.h"

namespace ksearch::simt {
namespace {
using base::Json;

Json bind_json(const Case& all, const Launch& launch) {
  Json bind = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i) {
    if (launch.bind.empty() && !all.buffers[i].symbol) bind.push_back({all.buffers[i].index, i});
    for (const auto& [index, name] : launch.bind)
      if (name == all.buffers[i].name) bind.push_back({index, i});
  }
  return bind;
}

Json fields_json(const Case& all, const Value& value) {
  Json fields = Json::array();
  for (const Value::Field& field : value.fields) {
    for (std::size_t i = 0; i < all.buffers.size(); ++i)
      if (!field.buffer.empty() && all.buffers[i].name == field.buffer)
        fields.push_back({{"buffer", i}});
    if (field.buffer.empty())
      fields.push_back({{"align", field.bytes.size()},
                        {"bytes", std::vector<int>(field.bytes.begin(), field.bytes.end())}});
  }
  return fields;
}

Json values_json(const Case& all, const Launch& launch) {
  Json values = Json::array();
  for (const Value& value : launch.values) {
    if (value.integer)
      values.push_back({{"integer", *value.integer}});
    else if (value.number)
      values.push_back({{"number", *value.number}});
    else
      values.push_back({{"fields", fields_json(all, value)}});
  }
  return values;
}

Json launch_json(const Case& all, const Launch& launch, std::size_t number) {
  std::array<std::uint32_t, 3> groups = launch.groups;
  if (launch.threads)
    for (std::size_t d = 0; d < 3; ++d)
      groups[d] = ((*launch.threads)[d] + launch.group_size[d] - 1) / launch.group_size[d];
  Json json{{"kernel", launch.kernel},
            {"number", number},
            {"groups", groups},
            {"group_size", launch.group_size},
            {"group_memory", launch.group_memory},
            {"values", values_json(all, launch)},
            {"bind", bind_json(all, launch)}};
  if (launch.threads) json["threads"] = *launch.threads;
  return json;
}

Json buffer_json(const Buffer& buffer, std::size_t i, const SharedBuffers& shared) {
  Json json{{"name", buffer.name},     {"role", name(buffer.role)}, {"bytes", buffer.bytes()},
            {"symbol", buffer.symbol}, {"null", buffer.null},       {"at", shared.at(i)}};
  if (const auto written = shared.written_at(i)) json["written_at"] = *written;
  if (!buffer.written.empty()) json["continues"] = true;  // as a case before left it
  return json;
}

}  // namespace

Json job_json(const Case& all, const std::filesystem::path& object, const SharedBuffers& shared,
              const CheckOptions& options, const JobExtras& extras) {
  Json buffers = Json::array(), launches = Json::array();
  for (std::size_t i = 0; i < all.buffers.size(); ++i)
    buffers.push_back(buffer_json(all.buffers[i], i, shared));
  for (const Launch& launch : all.launches)
    launches.push_back(launch_json(all, launch, launches.size()));
  Json job{{"object", object.string()},
           {"buffers", std::move(buffers)},
           {"watch", options.watch},
           {"jobs", options.jobs},
           {"memory_bytes", options.memory_bytes},
           {"locked", extras.locked},
           {"patience", options.patience.count()},
           {"schedule", options.schedule.name},
           {"seed", options.schedule.seed},
           {"dialect", all.dialect == Dialect::cuda ? "cuda" : "metal"},
           {"launches", std::move(launches)}};
  if (options.limits.group_memory_bytes > 0)
    job["group_memory_limit"] = options.limits.group_memory_bytes;
  if (!extras.trace.is_null()) job["trace"] = extras.trace;
  return job;
}

}  // namespace ksearch::simt

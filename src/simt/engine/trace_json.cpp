#include "simt/engine/trace_json.h"

namespace ksearch::simt {
namespace {
using base::Json;

Json array(const AccessCounts& c) {
  return Json::array({c.accesses, c.bytes, c.requests, c.lines, c.turns, c.extra});
}

}  // namespace

base::Json to_json(const Trace& trace) {
  Json blocks = Json::array(), sites = Json::array(), buffers = Json::array();
  for (const BlockCounts& block : trace.blocks())
    blocks.push_back(Json::array({block.threads, block.simdgroups}));
  for (std::size_t i = 0; i < trace.sites().size(); ++i) {
    Json site = array(trace.sites()[i]);
    site.push_back(trace.site_buffers()[i]);
    sites.push_back(std::move(site));
  }
  for (const BufferCounts& buffer : trace.buffers())
    buffers.push_back({{"load", array(buffer.load)},
                       {"store", array(buffer.store)},
                       {"constant", array(buffer.constant)},
                       {"atomics", buffer.atomics},
                       {"group_lines", buffer.group_lines},
                       {"distinct_lines", buffer.distinct_lines},
                       {"reuse", buffer.reuse}});
  Json groups = Json::array();
  if (trace.group_runs().size() <= Trace::kMostApart)
    for (const GroupRuns& group : trace.group_runs())
      groups.push_back({{"number", group.number}, {"blocks", group.blocks}});
  return {{"blocks", std::move(blocks)},
          {"groups", std::move(groups)},
          {"sites", std::move(sites)},
          {"buffers", std::move(buffers)},
          {"group",
           {{"load", array(trace.group_load())},
            {"store", array(trace.group_store())},
            {"atomics", trace.group_atomics()}}},
          {"longest_chain", trace.longest_chain()}};
}

}  // namespace ksearch::simt

#include "cli/engineers.h"

#include <algorithm>

#include "engineer/recorded_agent.h"
#include "engineer/seeded.h"
#include "engineer/written.h"

namespace ksearch::cli {
namespace {

search::CertifyReply certified(evaluate::OpenedSession& session,
                               const search::CertifyRequest& request,
                               const evaluate::Progress& progress) {
  auto certificate = session.certify(request.code, request.select, progress);
  if (!certificate) return kernel::Lost{certificate.error().text()};
  return std::move(*certificate);
}

}  // namespace

base::Result<std::optional<Writing>> open_writing(const Context& context, const task::Task& task,
                                                  const kernel::HardwareProfile& device,
                                                  const EngineerChoice& choice,
                                                  const engineer::Catalog& catalog,
                                                  kernel::Dialect dialect, Reach reach) {
  if (choice.writer == EngineerChoice::Writer::none) return std::nullopt;
  KS_TRY(engineer::Prompts prompts,
         load_prompts(context.home, task, device, choice, catalog, dialect));
  Writing writing{choice, std::move(prompts), std::move(reach), context.environment};
  if (choice.writer == EngineerChoice::Writer::model) {
    KS_TRY(auto endpoints, endpoints_of(context, choice, writing.reach));
    writing.planner = std::move(endpoints.first);
    writing.coder = std::move(endpoints.second);
  }
  return writing;
}

base::Result<std::pair<llm::Endpoint, llm::Endpoint>> endpoints_of(const Context& context,
                                                                   const EngineerChoice& choice,
                                                                   const Reach& reach) {
  const ModelOptions& model = reach.model;
  KS_TRY(const ModelFiles files, load_model_files(context, model));
  const auto endpoint = [&](const std::string& named) {
    return endpoint_of(context, files, model, named.empty() ? choice.value : named);
  };
  KS_TRY(llm::Endpoint planner, endpoint(model.planner));
  KS_TRY(llm::Endpoint coder, endpoint(model.coder));
  for (const llm::Endpoint* one : {&planner, &coder})
    if (reach.cost_limit && !one->price)
      return base::usage_error("--cost", "nobody knows what " + one->model + " costs",
                               "give its prices with --prices FILE, or limit --tokens");
  return std::pair(std::move(planner), std::move(coder));
}

Engineers::Engineers(const Cast& cast, engineer::Patience patience, engineer::CallLog* calls) {
  const task::Task& task = *cast.task;
  engineer::CatalogContext context;
  context.catalog = cast.catalog;
  context.definition = &task.definition;
  context.workloads = task.with_role(kernel::Role::feedback);
  context.device = *cast.device;
  if (const auto naive = task.naive.find(cast.dialect); naive != task.naive.end())
    context.naive = naive->second;
  catalog_planner_ = std::make_unique<engineer::CatalogPlanner>(std::move(context));
  catalog_coder_ = std::make_unique<engineer::CatalogCoder>(cast.catalog);
  planner_ = catalog_planner_.get();
  coder_ = catalog_coder_.get();
  if (cast.writing) write(cast, std::move(patience), calls);
}

void Engineers::call_models(const Cast& cast, engineer::Patience patience,
                            engineer::CallLog* calls) {
  const Writing& writing = *cast.writing;
  transport_ = llm::make_curl_transport();
  const ModelOptions& model = writing.reach.model;
  llm::ClientOptions options;
  options.limits.whole = writing.reach.answer_time;
  options.limits.silence = std::min(options.limits.silence, options.limits.whole);
  options.max_output = model.max_output;
  options.stream = model.stream;
  options.first_wait = model.retry_wait;
  options.seed = cast.seed;
  options.cancelled = patience.give_up;
  options.say = patience.say;
  planner_client_ = std::make_unique<llm::Client>(*writing.planner, transport_.get(), options);
  correspondent_ = engineer::make_model_correspondent(planner_client_.get(), calls);
  if (writing.coder->is_same(*writing.planner)) return;
  coder_client_ = std::make_unique<llm::Client>(*writing.coder, transport_.get(), options);
  coder_correspondent_ = engineer::make_model_correspondent(coder_client_.get(), calls);
}

/// Makes the correspondents.
void Engineers::correspond(const Cast& cast, engineer::Patience patience,
                           engineer::CallLog* calls) {
  const Writing& writing = *cast.writing;
  const EngineerChoice& choice = writing.choice;
  if (writing.recorded) {
    correspondent_ = engineer::make_recorded_correspondent(calls);
    return;
  }
  if (choice.writer == EngineerChoice::Writer::model)
    return call_models(cast, std::move(patience), calls);
  const auto given_up = patience.give_up;
  correspondent_ = choice.writer == EngineerChoice::Writer::folder
                       ? engineer::make_folder_correspondent(choice.value, std::move(patience))
                       : engineer::make_exec_correspondent(
                             {choice.value, writing.reach.answer_time, writing.environment},
                             std::move(patience));
  correspondent_ = engineer::make_logged_correspondent(std::move(correspondent_), calls, given_up);
}

void Engineers::write(const Cast& cast, engineer::Patience patience, engineer::CallLog* calls) {
  const Writing& writing = *cast.writing;
  const EngineerChoice& choice = writing.choice;
  if (choice.writer == EngineerChoice::Writer::agent) {
    written_planner_ =
        std::make_unique<engineer::RecordedAgent>(&writing.prompts, &cast.task->definition, calls);
    written_coder_ =
        std::make_unique<engineer::RecordedAgent>(&writing.prompts, &cast.task->definition, calls);
  } else {
    correspond(cast, std::move(patience), calls);
    written_planner_ =
        std::make_unique<engineer::WrittenPlanner>(&writing.prompts, correspondent_.get());
    written_coder_ = std::make_unique<engineer::WrittenCoder>(
        &writing.prompts, &cast.task->definition,
        coder_correspondent_ ? coder_correspondent_.get() : correspondent_.get());
  }
  planner_ = written_planner_.get();
  coder_ = written_coder_.get();
  if (!choice.catalog) return;
  seeded_planner_ = std::make_unique<engineer::SeededPlanner>(cast.catalog, catalog_planner_.get(),
                                                              written_planner_.get());
  seeded_coder_ = std::make_unique<engineer::SeededCoder>(cast.catalog, catalog_coder_.get(),
                                                          written_coder_.get());
  planner_ = seeded_planner_.get();
  coder_ = seeded_coder_.get();
}

search::Hands Engineers::hands(evaluate::OpenedSession& session) const {
  search::Hands hands;
  hands.planner = planner_;
  hands.coder = coder_;
  hands.evaluate = [&session](const evaluate::EvaluateRequest& request,
                              const evaluate::Progress& progress) {
    return session.evaluate(request, progress);
  };
  hands.certify = [&session](const search::CertifyRequest& request,
                             const evaluate::Progress& progress) {
    return certified(session, request, progress);
  };
  return hands;
}

search::Started start_of(const evaluate::OpenedSession& session) {
  search::Started start;
  const auto& naive = session.task().naive;
  if (const auto found = naive.find(session.dialect()); found != naive.end()) {
    start.root_program = found->second;
    start.root_outcome = session.session().naive_outcome();
  }
  return start;
}

}  // namespace ksearch::cli

// SPDX-License-Identifier: Apache-2.0
// `ako reference`: expected values in fp64 on a device, for a judge that started it. A process and a device
// context of its own: no kernel under judgement can address what stands here. One JSON line asks, one
// answers; the values go into host memory that the judge shares.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/cli.h"
#include "judge/device_judge.h"
#include "judge/json_fields.h"
#include "synth/gpu/gpu.h"

namespace ako {
namespace {

struct ReferenceOptions {
  std::string target;
  int device = 0;
};

struct ReferenceQuestion {
  Problem problem;
  Shape shape;
  InputsWanted inputs;
  std::string memory;
  Bytes size;
};

Result<ReferenceQuestion> read_question(const std::string& line) {
  auto value = nlohmann::json::parse(line, nullptr, false);
  auto problem = parse_problem(json_fields::text(value, "problem"), json_fields::text(value, "path"));
  if (!problem) return std::unexpected(problem.error().front());
  ReferenceQuestion question{std::move(*problem), {}, {}, json_fields::text(value, "memory"), {}};
  for (const auto& dim : json_fields::field(value, "dims"))
    question.shape.dims.push_back(dim.get<std::int64_t>());
  if (question.shape.dims.size() != question.problem.dims.size())
    return fail(ErrorKind::invalid_input, "a question for a reference does not name every dim");
  question.inputs = {static_cast<InputStyle>(json_fields::integer(value, "style")),
                     json_fields::natural(value, "seed"), json_fields::natural(value, "stream")};
  question.size = {json_fields::integer(value, "bytes")};
  return question;
}

class ReferenceService {
 public:
  static Result<ReferenceService> start(const gpu::Found::One& chosen) {
    ReferenceService service;
    AKO_RESULT(service.device_, gpu::Device::open(*chosen.driver, chosen.info));
    service.facts_ = gpu::look_up(chosen.info);
    service.toolchains_ = find_toolchains(chosen.info.target);
    AKO_TRY(auto kernels, DeviceKernels::load(*service.device_, service.toolchains_, service.facts_));
    service.kernels_.emplace(std::move(kernels));
    return service;
  }

  Result<void> answer(const ReferenceQuestion& question) {
    AKO_TRY(auto reference, gpu_reference_source(question.problem, question.shape));
    AKO_TRY(auto* module, module_of(question.problem, reference));
    AKO_TRY(auto buffers, allocate(reference));
    AKO_CHECK(make_inputs(question, reference, buffers));
    for (const auto& step : reference.steps) AKO_CHECK(run(step, *module, buffers));
    AKO_TRY(auto memory, memory_of(question));
    std::size_t at = 0;
    for (std::size_t i = 0; i < reference.buffers.size(); ++i) {
      if (reference.buffers[i].role != GpuBuffer::Role::expected) continue;
      auto size = static_cast<std::size_t>(8 * reference.buffers[i].elements);
      if (at + size > memory.size()) return fail(ErrorKind::internal, "the judge's memory is too small");
      AKO_CHECK_RESULT(device_->download(memory.subspan(at, size), buffers[i].address()));
      at += size;
    }
    AKO_CHECK_RESULT(device_->wait(Seconds(60)));
    return {};
  }

 private:
  /// The judge's memory, mapped and made known to the device once for all questions that name it.
  Result<std::span<std::byte>> memory_of(const ReferenceQuestion& question) {
    std::string name = question.memory + " " + std::to_string(question.size.count);
    if (name == shared_name_) return shared_->bytes();
    pinned_ = {};
    shared_.reset();
    AKO_TRY(shared_, SharedValues::open(question.memory, question.size));
    shared_name_ = name;
    if (auto pinned = device_->pin(shared_->bytes())) pinned_ = std::move(*pinned);  // slower without
    return shared_->bytes();
  }

  Result<gpu::Module*> module_of(const Problem& problem, const GpuReference& reference) {
    auto& module = modules_[hash_text(reference.source.text)];
    if (module) return &*module;
    Candidate candidate;
    candidate.language = device_language(facts_.id);
    candidate.sources = {reference.source};
    AKO_TRY(auto* toolchain, choose_toolchain(toolchains_, candidate.language, facts_.id));
    AKO_TRY(auto built, toolchain->build(candidate, problem, facts_));
    if (auto* failure = std::get_if<CompileFailure>(&built))
      return fail(ErrorKind::unsupported, "the reference's kernels do not compile: " + failure->log);
    AKO_TRY(auto image, read_file(std::get<Artifact>(built).code));
    AKO_RESULT(module, device_->load(std::as_bytes(std::span(image))));
    return &*module;
  }

  /// The latest question's buffers serve the next one of the same sizes.
  Result<std::span<gpu::Memory>> allocate(const GpuReference& reference) {
    std::vector<std::int64_t> sizes;
    for (const auto& buffer : reference.buffers)
      sizes.push_back(storage_bytes(buffer.type, buffer.elements).count + 8);
    if (sizes == sizes_) return std::span(memory_);
    memory_.clear();
    sizes_.clear();
    for (auto size : sizes) {
      AKO_RESULT(auto memory, device_->allocate({size}));
      memory_.push_back(std::move(memory));
    }
    sizes_ = sizes;
    return std::span(memory_);
  }

  Result<void> make_inputs(const ReferenceQuestion& question, const GpuReference& reference,
                           std::span<gpu::Memory> memory) {
    std::vector<std::vector<std::byte>> uploads;
    for (std::size_t i = 0; i < reference.buffers.size(); ++i) {
      const auto& buffer = reference.buffers[i];
      if (buffer.role != GpuBuffer::Role::input) continue;
      const auto& inputs = question.inputs;
      if (inputs.style == InputStyle::declared && DeviceKernels::makes(question.problem, buffer.tensor)) {
        AKO_CHECK_RESULT(kernels_->generate(question.problem, buffer.tensor, question.shape, inputs.seed,
                                            inputs.stream, memory[i].address()));
        continue;
      }
      auto& bytes =
          uploads.emplace_back(static_cast<std::size_t>(storage_bytes(buffer.type, buffer.elements).count));
      generate_input(question.problem, buffer.tensor, question.shape, inputs.style, inputs.seed,
                     inputs.stream, bytes);
      AKO_CHECK_RESULT(device_->upload(memory[i].address(), bytes));
    }
    if (!uploads.empty()) AKO_CHECK_RESULT(device_->wait(Seconds(60)));
    return {};
  }

  Result<void> run(const GpuStep& step, const gpu::Module& module, std::span<gpu::Memory> memory) {
    AKO_RESULT(auto kernel, module.kernel(step.kernel));
    gpu::Arguments arguments;
    for (const auto& one : step.arguments)
      if (one.kind == GpuArgument::Kind::buffer)
        arguments.add(memory[one.buffer].address());
      else if (one.kind == GpuArgument::Kind::integer)
        arguments.add(one.integer);
      else
        arguments.add(one.real);
    AKO_CHECK_RESULT(device_->launch(kernel, {step.grid, step.block, step.shared}, arguments));
    return {};
  }

  std::unique_ptr<gpu::Device> device_;
  TargetFacts facts_;
  std::vector<std::unique_ptr<Toolchain>> toolchains_;
  std::optional<DeviceKernels> kernels_;
  std::map<Hash, std::optional<gpu::Module>> modules_;
  std::optional<SharedValues> shared_;
  std::string shared_name_;
  gpu::Pinned pinned_;
  std::vector<gpu::Memory> memory_;
  std::vector<std::int64_t> sizes_;
};

void say_answer(const Result<void>& done) {
  nlohmann::json answer = {{"ok", done.has_value()}};
  if (!done) answer["error"] = done.error().what;
  std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

int reference(const ReferenceOptions& options, const Context& context) {
  auto found = gpu::find_devices();
  auto devices = gpu::devices_of(found, options.target);
  std::erase_if(devices, [&](const auto& one) { return one.info.ordinal != options.device; });
  if (devices.empty())
    return complain(context,
                    Error{ErrorKind::unavailable, "no device of target " + options.target + " is here",
                          "'ako doctor' says what GPU pieces exist"});
  auto service = ReferenceService::start(devices.front());
  std::string line;
  while (std::getline(std::cin, line)) {
    if (!service) {
      say_answer(std::unexpected(service.error()));
      continue;
    }
    auto question = read_question(line);
    say_answer(question ? service->answer(*question) : Result<void>(std::unexpected(question.error())));
  }
  return exit_code::fine;
}

}  // namespace

void add_reference(CLI::App& app, Context& context) {
  auto options = std::make_shared<ReferenceOptions>();
  CLI::App* command =
      app.add_subcommand("reference", "Expected values in fp64 on a device; a judge starts it.");
  command->group("");  // a part of `ako judge`, not for people
  command->add_option("--target", options->target, "Device to compute on")->required();
  command->add_option("--device", options->device, "Its number");
  command->callback([options, &context] { context.exit_code = reference(*options, context); });
}

}  // namespace ako

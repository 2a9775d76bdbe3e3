// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/cli.h"
#include "judge/device_server.h"
#include "judge/server.h"

namespace ako {

void add_judge(CLI::App& app, Context& context) {
  auto options = std::make_shared<JudgeOptions>();
  auto device = std::make_shared<DeviceJudgeOptions>();
  CLI::App* command =
      app.add_subcommand("judge", "Judge candidates asked for by JSON lines on stdin (docs/protocol.md).");
  command->add_option("--target", options->target, "Device to judge on")->capture_default_str();
  command->add_option("--threads", options->threads, "Threads of a host kernel (default: all cores)")
      ->check(CLI::Range(0, 4096));
  command->add_flag("--end-with-input", options->end_with_input,
                    "End at once when the input ends, also in the middle of a judgement");
  command->add_option("--device", device->device, "Number of the GPU (default: the first of the target that is free)");
  command->add_flag("--worker", device->worker, "Judge in this process")->group("");
  command->footer("Examples:\n  echo '{\"id\":1,\"method\":\"facts\"}' | ako judge\n"
                  "  echo '{\"id\":1,\"method\":\"facts\"}' | ako judge --target sm_90");
  command->callback([options, device, &context] {
    // The reference's OpenMP threads, too, must not lose time slices to spinning (see
    // target/host/run_guest.cpp). libgomp reads this when it is loaded, with the first reference; nothing
    // runs beside us yet.
    ::setenv("GOMP_SPINCOUNT", "1000", 0);
    if (!is_device_target(options->target)) {
      context.exit_code = serve_judge(*options);
      return;
    }
    device->target = options->target;
    device->end_with_input = options->end_with_input;
    context.exit_code = serve_device_judge(*device);
  });
}

}  // namespace ako

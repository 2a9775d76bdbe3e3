// SPDX-License-Identifier: Apache-2.0
// Runs the built program, as a user would.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/subprocess.h"

namespace ako::testing_program {

inline Exit ako(std::vector<std::string> arguments, const std::filesystem::path& folder = {},
                Seconds limit = Seconds(120)) {
  Command command;
  command.argv = {AKO_BINARY_DIR "/bin/ako"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.folder = folder;
  command.wall_limit = limit;
  auto exit = run(command);
  EXPECT_TRUE(exit) << to_text(exit.error());
  return exit ? *exit : Exit{};
}

/// The one JSON document on its stdout.
inline nlohmann::json json_of(const Exit& exit) {
  nlohmann::json json = nlohmann::json::parse(exit.output, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << exit.output << exit.errors;
  return json;
}

}  // namespace ako::testing_program

// SPDX-License-Identifier: Apache-2.0
// `ako judge`: JSON lines on standard input and output, docs/protocol.md.
#pragma once

#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <stop_token>

#include "judge/client.h"

namespace ako {

inline constexpr int kJudgeProtocol = 1;
inline constexpr std::size_t kLongestLine = 64 << 20;  // bytes of a request

/// What a server needs of a judge: a fake stands in for it in tests.
class JudgeService {
 public:
  virtual ~JudgeService() = default;
  /// After a stop it returns soon, with whatever it has: nobody looks at it.
  virtual Result<Verdict> judge(const JudgeRequest&, const JudgeClient::Progress&, std::stop_token) = 0;
  virtual const TargetFacts& facts() const = 0;
  virtual Trust trust() const = 0;
};

/// Greets, then answers one request per line until end of input or "shutdown". Never throws; a line that
/// cannot be understood gets an error reply and the next is read. Judges on the calling thread; another one
/// reads, so that "cancel" is heard while a judgement runs. `end_with_input`: as in JudgeOptions.
void serve(JudgeService&, std::istream& in, std::ostream& out, bool end_with_input = false);

/// Runs a Judge for this target on stdin and stdout; the exit status of `ako judge`.
int serve_judge(const JudgeOptions&);

}  // namespace ako

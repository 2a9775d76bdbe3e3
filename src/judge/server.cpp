// SPDX-License-Identifier: Apache-2.0
#include "judge/server.h"

#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "judge/json_fields.h"
#include "judge/judge.h"
#include "judge/request_json.h"

namespace ako {
namespace {

using nlohmann::json;

json error_json(const Error& error) {
  json value = {{"kind", to_text(error.kind)}, {"what", error.what}, {"advice", error.advice}};
  if (error.place)
    value["place"] = {
        {"file", error.place->file}, {"line", error.place->line}, {"column", error.place->column}};
  if (!error.excerpt.empty()) value["excerpt"] = error.excerpt;
  return value;
}

void say(std::ostream& out, const json& message) {
  out << message.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
}

enum class LineState { read, too_long, end };

/// Reads to the newline; what is beyond the limit is thrown away.
LineState read_line(std::istream& in, std::string& line) {
  line.clear();
  bool too_long = false;
  for (int c; (c = in.get()) != std::istream::traits_type::eof();) {
    if (c == '\n') return too_long ? LineState::too_long : LineState::read;
    if (line.size() < kLongestLine)
      line += static_cast<char>(c);
    else
      too_long = true;
  }
  if (too_long) return LineState::too_long;
  return line.empty() ? LineState::end : LineState::read;
}

class Server {
 public:
  Server(JudgeService& judge, std::istream& in, std::ostream& out) : judge_(judge), in_(in), out_(out) {}

  void run() {
    say(out_, {{"ako", "judge"},
               {"protocol", kJudgeProtocol},
               {"target", judge_.facts().id},
               {"facts", to_json(judge_.facts())},
               {"trust", name_of(judge_.trust())}});
    std::string line;
    while (!finished_) {
      auto state = read_line(in_, line);
      if (state == LineState::end) return;
      if (state == LineState::too_long)
        refuse(nullptr, {ErrorKind::limit, fmt::format("a line is longer than {} bytes", kLongestLine),
                         "send sources, not binaries; split the work into several requests"});
      else
        answer(line);
    }
  }

 private:
  void refuse(const json& id, const Error& error) { say(out_, {{"id", id}, {"error", error_json(error)}}); }
  void reply(const json& id, json result) { say(out_, {{"id", id}, {"result", std::move(result)}}); }

  void answer(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    json request = json::parse(line, nullptr, false);
    if (request.is_discarded() || !request.is_object())
      return refuse(nullptr, {ErrorKind::invalid_input, "a line is not a JSON object",
                              "each line is one request: {\"id\":1,\"method\":\"ping\"}"});
    const json& id = json_fields::field(request, "id");
    if (!id.is_number_integer() && !id.is_string())
      return refuse(nullptr, {ErrorKind::invalid_input, "a request has no id",
                              "give it an integer or a string as \"id\""});
    if (auto protocol = json_fields::integer(request, "protocol", kJudgeProtocol); protocol != kJudgeProtocol)
      return refuse(
          id, {ErrorKind::unsupported, fmt::format("protocol version {} is not known here", protocol),
               fmt::format("this judge speaks version {}: use an ako of the same release", kJudgeProtocol)});
    dispatch(id, json_fields::text(request, "method"), json_fields::field(request, "params"));
  }

  void dispatch(const json& id, const std::string& method, const json& params) {
    if (method == "ping") return reply(id, "pong");
    if (method == "facts")
      return reply(id, {{"facts", to_json(judge_.facts())}, {"trust", name_of(judge_.trust())}});
    if (method == "judge") return judge(id, params);
    if (method == "shutdown") {
      finished_ = true;
      return reply(id, "bye");
    }
    refuse(id, {ErrorKind::invalid_input, "there is no method \"" + method + "\"",
                "methods are judge, facts, ping and shutdown"});
  }

  void judge(const json& id, const json& params) {
    auto request = judge_request_from_json(params);
    if (!request) return refuse(id, request.error());
    auto verdict =
        judge_.judge(*request, [&](std::string_view stage) { say(out_, {{"id", id}, {"progress", stage}}); });
    if (!verdict) return refuse(id, verdict.error());
    reply(id, to_json(*verdict));
  }

  JudgeService& judge_;
  std::istream& in_;
  std::ostream& out_;
  bool finished_ = false;
};

class RealJudge : public JudgeService {
 public:
  explicit RealJudge(std::unique_ptr<Judge> judge) : judge_(std::move(judge)) {}
  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress) override {
    return judge_->judge(request, progress);
  }
  const TargetFacts& facts() const override { return judge_->facts(); }
  Trust trust() const override { return judge_->trust(); }

 private:
  std::unique_ptr<Judge> judge_;
};

}  // namespace

void serve(JudgeService& judge, std::istream& in, std::ostream& out) { Server(judge, in, out).run(); }

int serve_judge(const JudgeOptions& options) {
  std::ios::sync_with_stdio(false);
  auto judge = Judge::create(options.target, options.threads);
  if (!judge) {
    // Whoever started us reads JSON: the greeting's place is taken by the reason that there is none.
    say(std::cout, {{"ako", "judge"}, {"protocol", kJudgeProtocol}, {"error", error_json(judge.error())}});
    return 4;
  }
  RealJudge service(std::move(*judge));
  serve(service, std::cin, std::cout);
  return 0;
}

}  // namespace ako

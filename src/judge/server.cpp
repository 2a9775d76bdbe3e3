// SPDX-License-Identifier: Apache-2.0
#include "judge/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

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

/// What a line asked for, or why it cannot be answered.
struct Asked {
  json id;
  std::string method;
  json params;
  std::optional<Error> refusal;
};

Asked understand(const std::string& line) {
  json request = json::parse(line, nullptr, false);
  if (request.is_discarded() || !request.is_object())
    return {nullptr,
            "",
            {},
            Error{ErrorKind::invalid_input, "a line is not a JSON object",
                  "each line is one request: {\"id\":1,\"method\":\"ping\"}"}};
  const json& id = json_fields::field(request, "id");
  if (!id.is_number_integer() && !id.is_string())
    return {
        nullptr,
        "",
        {},
        Error{ErrorKind::invalid_input, "a request has no id", "give it an integer or a string as \"id\""}};
  if (auto protocol = json_fields::integer(request, "protocol", kJudgeProtocol); protocol != kJudgeProtocol)
    return {
        id,
        "",
        {},
        Error{ErrorKind::unsupported, fmt::format("protocol version {} is not known here", protocol),
              fmt::format("this judge speaks version {}: use an ako of the same release", kJudgeProtocol)}};
  return {id, json_fields::text(request, "method"), json_fields::field(request, "params"), {}};
}

/// Requests are answered in order on the thread that calls run(): guests die with the thread that started
/// them, and the incumbent's stays warm from one judgement to the next. A second thread reads.
class Server {
 public:
  Server(JudgeService& judge, std::istream& in, std::ostream& out, bool end_with_input)
      : judge_(judge), in_(in), out_(out), end_with_input_(end_with_input) {}

  void run() {
    write({{"ako", "judge"},
           {"protocol", kJudgeProtocol},
           {"target", judge_.facts().id},
           {"facts", to_json(judge_.facts())},
           {"trust", name_of(judge_.trust())}});
    std::jthread reader([this] { read_all(); });
    while (auto asked = next()) {
      if (asked->refusal)
        refuse(asked->id, *asked->refusal);
      else
        answer(*asked);
    }
  }

 private:
  // ---- the reader's side ----

  void read_all() {
    std::string line;
    while (true) {
      auto state = read_line(in_, line);
      if (state == LineState::end) break;
      if (state == LineState::read && line.find_first_not_of(" \t\r") == std::string::npos) continue;
      Asked asked;
      if (state == LineState::too_long)
        asked.refusal = {ErrorKind::limit, fmt::format("a line is longer than {} bytes", kLongestLine),
                         "send sources, not binaries; split the work into several requests"};
      else
        asked = understand(line);
      if (!asked.refusal && asked.method == "cancel") {
        cancel(asked);
        continue;
      }
      bool last = !asked.refusal && asked.method == "shutdown";
      if (!enqueue(std::move(asked)) || last) return;
    }
    // Guests are told by the kernel that their parent is gone.
    if (end_with_input_) std::_Exit(0);
    std::lock_guard lock(mutex_);
    input_ended_ = true;
    changed_.notify_all();
  }

  bool enqueue(Asked asked) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.size() < kLongestQueue || finished_; });
    if (finished_) return false;
    waiting_.push_back(std::move(asked));
    changed_.notify_all();
    return true;
  }

  /// Of a request that runs or waits; without an id the one that runs.
  void cancel(const Asked& asked) {
    const json& wanted = json_fields::field(asked.params, "id");
    std::unique_lock lock(mutex_);
    if (running_ && (wanted.is_null() || *running_ == wanted)) {
      json id = *running_;
      stop_.request_stop();
      auto serial = serial_;
      bool ended = changed_.wait_for(lock, kStopPatience, [&] { return !running_ || serial_ != serial; });
      if (!ended) {
        // Still in arithmetic of its own, a large reference say. The client need not wait for that.
        told_ = true;
        write({{"id", id}, {"cancelled", true}});
      }
      return write({{"id", asked.id}, {"result", "cancelled"}});
    }
    auto found = std::find_if(waiting_.begin(), waiting_.end(),
                              [&](const Asked& one) { return !wanted.is_null() && one.id == wanted; });
    if (found == waiting_.end()) return write({{"id", asked.id}, {"result", "nothing to cancel"}});
    waiting_.erase(found);
    changed_.notify_all();
    write({{"id", wanted}, {"cancelled", true}});
    write({{"id", asked.id}, {"result", "cancelled"}});
  }

  // ---- the answering side ----

  std::optional<Asked> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !waiting_.empty() || input_ended_ || finished_; });
    if (finished_ || waiting_.empty()) return std::nullopt;
    Asked asked = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    return asked;
  }

  void answer(const Asked& asked) {
    if (asked.method == "ping") return reply(asked.id, "pong");
    if (asked.method == "facts")
      return reply(asked.id, {{"facts", to_json(judge_.facts())}, {"trust", name_of(judge_.trust())}});
    if (asked.method == "judge") return judge(asked);
    if (asked.method == "shutdown") {
      {
        std::lock_guard lock(mutex_);
        finished_ = true;
        changed_.notify_all();
      }
      return reply(asked.id, "bye");
    }
    refuse(asked.id, {ErrorKind::invalid_input, "there is no method \"" + asked.method + "\"",
                      "methods are judge, cancel, facts, ping and shutdown"});
  }

  void judge(const Asked& asked) {
    auto request = judge_request_from_json(asked.params);
    if (!request) return refuse(asked.id, request.error());
    std::stop_token stop = begin(asked.id);
    auto verdict = judge_.judge(
        *request,
        [&](std::string_view stage) {
          if (!stop.stop_requested()) write({{"id", asked.id}, {"progress", stage}});
        },
        stop);
    // In one step with forgetting the request: a cancel that comes now must find nothing to cancel.
    std::lock_guard lock(mutex_);
    running_.reset();
    if (told_)
      ;  // the reader has answered
    else if (stop.stop_requested())
      write({{"id", asked.id}, {"cancelled", true}});
    else if (!verdict)
      refuse(asked.id, verdict.error());
    else
      reply(asked.id, to_json(*verdict));
    changed_.notify_all();
  }

  std::stop_token begin(const json& id) {
    std::lock_guard lock(mutex_);
    running_ = id;
    ++serial_;
    told_ = false;
    stop_ = std::stop_source();
    return stop_.get_token();
  }

  void refuse(const json& id, const Error& error) { write({{"id", id}, {"error", error_json(error)}}); }
  void reply(const json& id, json result) { write({{"id", id}, {"result", std::move(result)}}); }
  void write(const json& message) {
    std::lock_guard lock(writing_);
    say(out_, message);
  }

  static constexpr std::size_t kLongestQueue = 64;
  static constexpr std::chrono::milliseconds kStopPatience{800};

  JudgeService& judge_;
  std::istream& in_;
  std::ostream& out_;
  bool end_with_input_;

  std::mutex writing_;  // after mutex_, when both are held
  std::mutex mutex_;    // guards what follows
  std::condition_variable changed_;
  std::deque<Asked> waiting_;
  std::optional<json> running_;
  std::uint64_t serial_ = 0;  // of the judgement that runs
  std::stop_source stop_;
  bool told_ = false;  // the client has its "cancelled" already
  bool input_ended_ = false, finished_ = false;
};

class RealJudge : public JudgeService {
 public:
  explicit RealJudge(std::unique_ptr<Judge> judge) : judge_(std::move(judge)) {}
  Result<Verdict> judge(const JudgeRequest& request, const JudgeClient::Progress& progress,
                        std::stop_token stop) override {
    return judge_->judge(request, progress, std::move(stop));
  }
  const TargetFacts& facts() const override { return judge_->facts(); }
  Trust trust() const override { return judge_->trust(); }

 private:
  std::unique_ptr<Judge> judge_;
};

}  // namespace

void serve(JudgeService& judge, std::istream& in, std::ostream& out, bool end_with_input) {
  Server(judge, in, out, end_with_input).run();
}

int serve_judge(const JudgeOptions& options) {
  std::ios::sync_with_stdio(false);
  auto judge = Judge::create(options.target, options.threads);
  if (!judge) {
    // Whoever started us reads JSON: the greeting's place is taken by the reason that there is none.
    say(std::cout, {{"ako", "judge"}, {"protocol", kJudgeProtocol}, {"error", error_json(judge.error())}});
    return 4;
  }
  RealJudge service(std::move(*judge));
  serve(service, std::cin, std::cout, options.end_with_input);
  return 0;
}

}  // namespace ako

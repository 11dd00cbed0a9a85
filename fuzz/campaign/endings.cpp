// How workers end, in words and as signatures; and work in one worker alone.

#include "base/formatted.h"
#include "base/processes.h"
#include "fuzz/campaign/case_runs.h"
#include "fuzz/campaign/workers.h"

namespace graphgate::fuzz {

std::string describe(const CaseLost& lost, double timeout_seconds) {
  std::string text;
  if (lost.is_timeout) {
    text = formatted("did not end within %g s", timeout_seconds);
  } else if (lost.is_memory) {
    text = "ran out of memory";
  } else if (lost.signal != 0) {
    text = "ended its process by " + signal_words(lost.signal);
  } else {
    text = "ended its process by an exit of its own";
  }
  return lost.last_words.empty() ? text : text + ": " + lost.last_words;
}

std::string ending_signature(const CaseLost& lost) {
  const auto signature = [](const char* detector, const std::string& rule) {
    return print_signature(Signature{detector, rule, "", ""});
  };
  if (lost.is_timeout) return signature("timeout", "no-end");
  if (lost.is_memory) return signature("memory", "out-of-memory");
  return signature("crash", crash_rule(lost.signal));
}

Result<PoolNews> run_apart(const PoolOptions& options, const JudgeDrawn& judge,
                           const Batch& batch) {
  GRAPHGATE_TRY(Journal journal, Journal::in_memory(1));
  PoolOptions alone = options;
  alone.jobs = 1;
  alone.batch_seconds = 0;
  WorkerPool pool(alone, journal, judge);
  GRAPHGATE_TRY_VOID(pool.assign(batch));
  PoolNews news;
  while (news.done.empty() && news.lost.empty()) {
    GRAPHGATE_TRY(news, pool.wait(20));
  }
  return news;
}

}  // namespace graphgate::fuzz

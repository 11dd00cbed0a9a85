/* Extensions that do everything wrong, for tests: FAULT says what. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graphgate_extension.h"

enum fault {
  kCrashes,
  kExits,
  kHangs,
  kSaysNo,
  kWritesNonsense,
  kDropsAnOutput,
  kComputesAnother, /* 2.0 becomes 3.0 */
  kOfAnotherAbi,
  kHasNoName,
  kHasNothing,
  kCrashesAtLoading,
  kLeavesANodeOut,
  kPrints
};

static void write_text(const graphgate_answer* answer, const char* text) {
  answer->write(answer->to, text, strlen(text));
}

static void crash(void) {
  signal(SIGSEGV, SIG_DFL);  // sanitizers take it themselves
  raise(SIGSEGV);
}

static int fail(const graphgate_answer* answer) {
  switch (FAULT) {
    case kCrashes:
      crash();
      return 0;
    case kExits:
      exit(0);
    case kHangs:
      for (;;) pause();
    case kSaysNo:
      write_text(answer, "no such rewrite today");
      return 7;
    default:
      write_text(answer, "nonsense");
      return 0;
  }
}

static int pass(const char* program, const graphgate_answer* answer) {
  if (FAULT == kPrints) return write(STDOUT_FILENO, "printed by a pass\n", 18) == 18 ? 0 : 1;
  if (FAULT != kComputesAnother && FAULT != kDropsAnOutput) return fail(answer);
  for (; *program != '\0'; ++program) {
    if (FAULT == kComputesAnother && strncmp(program, ", 2.0)", 6) == 0) {
      write_text(answer, ", 3.0)");
      program += 5;
    } else if (FAULT == kDropsAnOutput && strncmp(program, "  output ", 9) == 0) {
      program = strchr(program, '\n');
    } else {
      answer->write(answer->to, program, 1);
    }
  }
  return 0;
}

static int compile(const char* partition, const graphgate_answer* answer) {
  (void)partition;
  if (FAULT != kLeavesANodeOut) return fail(answer);
  write_text(answer, "launch 0\n");
  return 0;
}

const graphgate_extension* graphgate_extension_entry(void) {
  static graphgate_extension extension = {GRAPHGATE_EXTENSION_ABI, "misbehaving", "1", pass,
                                          compile};
  if (FAULT == kOfAnotherAbi) extension.abi = 99;
  if (FAULT == kHasNoName) extension.name = NULL;
  if (FAULT == kHasNothing) {
    extension.pass = NULL;
    extension.compile = NULL;
  }
  if (FAULT == kCrashesAtLoading) crash();
  return &extension;
}

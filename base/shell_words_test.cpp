#include "base/shell_words.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "base/result_test.h"

namespace graphgate {
namespace {

// What a shell makes of a line, a word a line.
std::string words_of_sh(const std::string& line) {
  const std::string command = "printf '%s\\n' " + line;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return "";
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe)) text += part.data();
  ::pclose(pipe);
  return text;
}

const std::vector<std::string>& awkward_words() {
  static const std::vector<std::string> kWords = {
      "plain", "",       "two words", "it's", "\"said\"",   "$HOME", "`id`",      "a\\b",
      "*",     "~/file", "#no",       "x;y",  "PATH=a b c", "&",     "tab\there", "sched[0]"};
  return kWords;
}

TEST(ShellWords, AShellReadsWhatWasWritten) {
  std::string expected;
  for (const std::string& word : awkward_words()) expected += word + "\n";
  EXPECT_EQ(words_of_sh(shell_line(awkward_words())), expected);
}

TEST(ShellWords, WhatWasWrittenIsTakenApartAgain) {
  const auto words = split_shell_line(shell_line(awkward_words()));
  ASSERT_TRUE(words.ok()) << words.error().message;
  EXPECT_EQ(words.value(), awkward_words());
}

TEST(ShellWords, ReadsQuotesAsAShellDoes) {
  const auto words = split_shell_line("  a'b c'd \"e \\\" f\" g\\ h ");
  ASSERT_TRUE(words.ok()) << words.error().message;
  EXPECT_EQ(words.value(), (std::vector<std::string>{"ab cd", "e \" f", "g h"}));
}

TEST(ShellWords, RefusesAQuoteWithoutAnEnd) {
  EXPECT_EQ(split_shell_line("a 'b c").error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(split_shell_line("a \"b c").error().kind, ErrorKind::kBadInput);
  EXPECT_EQ(split_shell_line("a b\\").error().kind, ErrorKind::kBadInput);
}

}  // namespace
}  // namespace graphgate

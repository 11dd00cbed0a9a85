#!/usr/bin/env python3
"""Whether the checks of pages find what is wrong: run_transcripts.py and check_english.py, on pages made up here."""

import os
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_english  # noqa: E402
import run_transcripts  # noqa: E402


class Transcripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._page = os.path.join(folder.name, "page.md")
        self._graphgate = os.path.join(folder.name, "graphgate")
        with open(self._graphgate, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho one\necho\necho 'two words more'\nexit $1\n")
        os.chmod(self._graphgate, stat.S_IRWXU)

    def _wrong(self, text):
        with open(self._page, "w", encoding="utf-8") as file:
            file.write(text)
        return run_transcripts.check(self._page, self._graphgate)

    def test_what_is_printed_passes(self):
        shown = "    $ graphgate 1\n    one\n\n    two words more\n\n    $ echo $?\n    1\n\nText.\n"
        self.assertEqual(self._wrong(shown), (2, 0, 0))

    def test_dots_stand_for_lines_and_parts_of_lines(self):
        self.assertEqual(self._wrong("    $ graphgate 0\n    ...\n    two ... more\n"), (1, 0, 0))
        self.assertEqual(self._wrong("    $ graphgate 0\n    one\n    ...\n"), (1, 0, 0))

    def test_what_is_not_printed_is_found(self):
        for shown in ("one", "one\n\n    two words", "...\n    three", "one\n\n    two words more\n    four",
                      "two ... more", "...\n    two w...w more"):
            self.assertEqual(self._wrong(f"    $ graphgate 0\n    {shown}\n")[2], 1, shown)
        self.assertEqual(self._wrong("    $ graphgate 1\n    ...\n\n    $ echo $?\n    0\n")[2], 1)

    def test_wrong_usage_is_found_where_nothing_is_shown(self):
        self.assertEqual(self._wrong("    $ graphgate 2\n")[2], 0)
        self.assertEqual(self._wrong("    $ graphgate 4\n")[2], 1)
        self.assertEqual(self._wrong("    $ graphgate 5\n")[2], 1)


class English(unittest.TestCase):
    @staticmethod
    def _rules(path, text):
        return sorted((line, rule) for line, rule, _ in check_english.findings(path, text))

    def test_a_page_that_can_be_read_passes(self):
        self.assertEqual(self._rules("a.md", "# Head\n\nIt depends on it. Who reads it?\n\n    $ Who is code\n"), [])

    def test_beginnings_are_found_in_the_middle_of_a_paragraph(self):
        self.assertEqual(self._rules("a.md", "One thing\nis said. Whose turn it is says the plan.\n"),
                         [(2, "beginning")])

    def test_words_are_found_over_the_end_of_a_line(self):
        self.assertEqual(self._rules("a.md", "| a | It hangs on b |\n\nIt hangs\non b.\n"),
                         [(1, "word"), (3, "word")])

    def test_long_sentences_are_found_in_pages_in_headers_and_in_python(self):
        most = check_english.MOST_WORDS
        self.assertEqual(self._rules("a.md", "word " * (most + 1) + ".\n"), [(1, "length")])
        self.assertEqual(self._rules("a.md", "word " * most + ".\n"), [])
        comment = "// " + "word " * (most + 1) + ".\n"
        for path in ("a.h", "tools/kit/a.h", "optimized/codegen/text/a.cuh"):
            self.assertEqual(self._rules(path, comment), [(1, "length")], path)
        self.assertEqual(self._rules("a.cpp", comment), [])
        for text in ("# {}.\n", '"""{}."""\n', 'f = 1\n\ndef g():\n    """{}."""\n'):
            said = text.format(("word " * (most + 1)).strip())
            self.assertEqual([rule for _, rule in self._rules("a.py", said)], ["length"], text)
        self.assertEqual(self._rules("a.py", 'f("' + "word " * (most + 1) + '.")\n'), [])
        self.assertEqual(self._rules("a.py", "a = 1  # " + "word " * 20 + "\nb = 2  # " + "word " * 20 + "\n"), [])

    def test_a_comment_behind_code_goes_on_only_below_itself(self):
        half = "word " * (check_english.MOST_WORDS // 2 + 1)
        self.assertEqual(self._rules("a.h", f"int a;  // {half}\n// {half}.\n"), [])
        self.assertEqual(self._rules("a.h", f"int a;  // {half}\nint b;  // {half}.\n"), [])
        self.assertEqual(self._rules("a.h", f"int a;  // {half}\n        // {half}.\n"), [(1, "length")])
        self.assertEqual(self._rules("a.h", f"  // {half}\n  // {half}.\n"), [(1, "length")])

    def test_comments_and_messages_are_read(self):
        self.assertEqual(self._rules("a.cpp", '// Who uses it: b.\nf("it hangs "\n  "on c");\n'),
                         [(1, "beginning"), (2, "word")])
        self.assertEqual(self._rules("a.py", '# Whose is\n# it.\n"""Reads.\n\nIt hangs\non b."""\nx = 1  # which it is\n'),
                         [(1, "beginning"), (5, "word")])


if __name__ == "__main__":
    unittest.main()

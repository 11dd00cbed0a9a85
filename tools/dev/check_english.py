#!/usr/bin/env python3
"""Whether people can read what is written for them: check_english.py [--count] [FILE...]

Reads the pages of docs/ and README.md, the comments of headers, and the texts of the program (help and messages:
string literals of C++; comments and strings of Python). docs/log/ tells what was, and is not read. Finds

  beginning   a sentence that begins with Whose, With what, Of what, Who, ... : it hides its subject
  word        a word for which the house has another: "depends on" for "hangs on"
  length      a sentence with more than 34 words, of a page, of the comments of headers, or of Python's comments and
              docstrings; names in code that follow each other count as one

Prints a line for each, `FILE:LINE: RULE: the sentence`; exit code 1 where there is one. --count prints numbers by rule.
"""

import argparse
import collections
import io
import os
import re
import sys
import tokenize

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MOST_WORDS = 34
# The evidence of profiles is data (optimized/upstream/upstream_data.json), and the page has it word for word.
DATA = {"docs/profiles.md": re.compile(r"(pytorch|vllm)#\d+; ")}

# A question may begin so; what ends in a full stop may not.
BEGINNING = re.compile(r"(Whose|Whom|Who|Whoever|Whosoever|With what|Of what|From what|To what|By what|In what|On what"
                       r"|For what|Of which|With whom|Of whom|From which|By which|To whom|With which|Behind what)\b(?!.*\?$)")
# What is not said, and what is said instead.
WORDS = {
    r"\b(hang|hangs|hung|hanging)\s+(on|upon)\b(?! to\b)": "depend on",
    r"\bin the following\b": "below",
    r"\butili[sz]e[sd]?\b": "use",
    r"\bin order to\b": "to",
    r"\b(thereof|therein|thereby|whereof|wherein|whereby|hereby|herein|thereupon|whereupon)\b": "plain words",
    r"\b(heretofore|albeit|notwithstanding|inasmuch|insofar)\b": "plain words",
    r"\bnought\b": "nothing",
    r"\b(subgraph cut|graph piece)s?\b": "partition",
    r"\bauto-?generated\b": "generated",
    r"\b(obviously|simply|basically|of course)\b": "leave it out",
}


class Piece:
    """A paragraph, an item of a list or a cell of a table, with the line on which each word stands."""

    def __init__(self, is_held_to_length=False):
        self.words = []  # (word, line)
        self.is_held_to_length = is_held_to_length

    def add(self, text, line):
        self.words += [(word, line) for word in text.split()]


def plain(text):
    """Markdown without what is no word: code becomes one word, links their text."""
    text = re.sub(r"``[^`]+``|`[^`]+`", "`code`", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[a-z/!][^>]*>", "", text)
    return text.replace("**", "")


def pieces_of_page(text):
    def new_piece():
        return Piece(is_held_to_length=True)

    piece, fenced, pre_ok = new_piece(), False, True
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield piece
            piece = new_piece()
            continue
        if fenced:
            continue
        if line.startswith("    ") and pre_ok:  # code, behind an empty line or code
            continue
        pre_ok = not line.strip()
        begins = re.match(r"\s*([-*] |\d+\. |#|\||>)", line)
        if not line.strip() or begins:
            yield piece
            piece = new_piece()
        if line.lstrip().startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line):
                cell_piece = new_piece()
                cell_piece.add(plain(cell), number)
                yield cell_piece
            continue
        piece.add(plain(re.sub(r"^\s*([-*] |\d+\. |#+ |> )", "", line)), number)
    yield piece


def pieces_of_comments(text, is_header=False):
    """Comments in a row, as paragraphs. One behind code goes on where the next line's stands below it."""
    piece, column = Piece(is_header), None
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(r"(?:^|\s)(//+ ?(.*))", line)
        is_words = bool(found and found[2].strip())
        if not is_words or found[2].startswith(("  ", "- ", "IWYU")) or found.start(1) != column:
            yield piece
            piece, column = Piece(is_header), None
        elif line[:found.start(1)].strip():  # behind code, as the line before
            yield piece
            piece = Piece(is_header)
        if is_words:
            column = found.start(1)
            piece.add(plain(found[2]), number)
    yield piece


def pieces_of_literals(text):
    """String literals of C++; those that follow each other are one."""
    piece, last = Piece(), None
    code = re.sub(r"//[^\n]*", lambda m: " " * len(m[0]) if '"' not in text[text.rfind("\n", 0, m.start()):m.start()]
                  else m[0], text)
    for found in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', code):
        if last is not None and code[last:found.start()].strip():
            yield piece
            piece = Piece()
        words = re.sub(r"\\n|\\t", " ", found[1]).replace('\\"', '"')
        piece.add(plain(words), code.count("\n", 0, found.start()) + 1)
        last = found.end()
    yield piece


def pieces_of_python(text):
    """Comments, those in a row as one, and strings. A string that a line begins with is a docstring."""
    piece, last = Piece(is_held_to_length=True), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1 or token.line[:token.start[1]].strip():
                yield piece
                piece = Piece(is_held_to_length=True)
            piece.add(plain(token.string.lstrip("#! ")), token.start[0])
            last = token.start[0]
        elif token.type == tokenize.STRING:
            is_docstring = token.string.startswith('"""') and not token.line[:token.start[1]].strip()
            for at, paragraph in enumerate(re.split(r"\n\s*\n", re.sub(r"^[a-zA-Z]*(\"\"\"|[\"'])|(\"\"\"|[\"'])$", "", token.string))):
                string = Piece(is_docstring)
                string.add(plain(paragraph), token.start[0] + 2 * at)
                yield string
    yield piece


_END = re.compile(r"[.?!][)\"'*]*$")
_NO_END = re.compile(r"^(e\.g\.|i\.e\.|etc\.|vs\.|cf\.|[A-Z]\.|\.\.\.)$")


def count_words(sentence):
    words = [word for word, _ in sentence if re.search(r"\w", word)]
    return sum(1 for at, word in enumerate(words)
               if not (at and "`code`" in word and "`code`" in words[at - 1]))


def sentences(piece):
    current = []
    for at, (word, line) in enumerate(piece.words):
        current.append((word, line))
        if _END.search(word) and not _NO_END.match(word):
            yield current
            current = []
    if current:
        yield current


def findings(path, text):
    if path.endswith(".md"):
        pieces = pieces_of_page(text)
    elif path.endswith(".py"):
        pieces = pieces_of_python(text)
    else:
        pieces = [*pieces_of_comments(text, path.endswith((".h", ".cuh"))), *pieces_of_literals(text)]
    for piece in pieces:
        for sentence in sentences(piece):
            said = " ".join(word for word, _ in sentence)
            line = sentence[0][1]
            if BEGINNING.match(said.lstrip("(\"'")):
                yield line, "beginning", said
            for pattern, instead in WORDS.items():
                found = re.search(pattern, said, re.IGNORECASE)
                if found:
                    yield line, "word", f"'{found[0]}', say {instead}: {said}"
            count = count_words(sentence)
            is_data = path in DATA and DATA[path].match(said)
            if piece.is_held_to_length and count > MOST_WORDS and not is_data:
                yield line, "length", f"{count} words: {said}"


def all_paths():
    """Those of the sources, which need not be a clone."""
    for folder, folders, names in os.walk(ROOT):
        is_root = os.path.samefile(folder, ROOT)
        folders[:] = sorted(each for each in folders if not each.startswith((".", "__"))
                            and not (is_root and each in ("build", "dist")))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def files():
    for path in all_paths():
        if path == "README.md" or (path.startswith("docs/") and path.endswith(".md")
                                   and not path.startswith("docs/log/")):
            yield path
        elif path.endswith(".py"):
            if not path.endswith("_test.py") and "/findings/" not in path and path != "tools/dev/check_english.py":
                yield path
        elif re.match(r"(base|conformance|fuzz|interop|optimized|reference|spec|tools)/.*\.(h|cuh|cpp|cu)$", path):
            if not path.endswith("_test.cpp"):
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", action="store_true", help="print numbers by rule and file")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    counts = collections.Counter()
    for path in options.files or files():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        for line, rule, said in findings(path, text):
            counts[rule, path] += 1
            if not options.count:
                print(f"{path}:{line}: {rule}: {said}")
    if options.count:
        for rule in ("beginning", "word", "length"):
            of_rule = {path: n for (each, path), n in counts.items() if each == rule}
            print(f"{rule}: {sum(of_rule.values())} in {len(of_rule)} files")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())

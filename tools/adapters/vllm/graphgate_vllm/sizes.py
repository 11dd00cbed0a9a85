"""Sizes and ranges as flags and options of cases say them. Imports no engine."""


def numbers(text):
    """4,8 as a list. ValueError where one is no number."""
    return [int(each) for each in text.split(",") if each]


def ranges(text):
    """1:5,5:17 as a list of pairs. ValueError where one is not BEGIN:END with BEGIN before END."""
    found = []
    for each in text.split(","):
        if not each:
            continue
        begin, _, end = each.partition(":")
        found.append((int(begin), int(end)))
        if not 0 <= found[-1][0] < found[-1][1]:
            raise ValueError(each)
    return found

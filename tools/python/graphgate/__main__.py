"""python -m graphgate: the program, with the arguments as they are."""

import os
import sys

from graphgate import _program


def main():
    try:
        program = _program.find()
    except _program.Missing as error:
        print(f"graphgate: {error}", file=sys.stderr)
        return 3
    sys.stdout.flush()
    os.execv(program, ["graphgate", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

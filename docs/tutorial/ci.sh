#!/bin/sh
# What CI runs on every change. ENGINE is the command that starts the executor under test; baseline.json is what it came to
# when it was known to be good:
#   graphgate gate --corpus . --only decoder --baseline fixed --candidate "engine=cmd:$ENGINE" --save baseline.json
set -e
graphgate check -q --executor "$ENGINE" --junit check.xml decoder.pt2
graphgate gate --corpus . --only decoder --baseline baseline.json --candidate "engine=cmd:$ENGINE" \
  --junit gate.xml --markdown gate.md 2>progress.ndjson

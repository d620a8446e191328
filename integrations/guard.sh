#!/bin/sh
# A campaign as a guard in CI: it fails over new bugs, and leaves its reports whether it fails or not.
#
#     guard.sh FOLDER [OPTION...]      options are those of `cometfuzz run`
#
# FOLDER gets campaign/ (`cometfuzz resume` and `show` read it), junit.xml, cometfuzz.sarif, summary.md and pages/.
# ENVIRONMENTS: those to build first, with blanks between them; none if cometfuzz.toml names interpreters of your own.
# The exit code is that of `cometfuzz run`: 0 nothing new, 1 new bugs, 2 usage, 3 an environment, 128 and more a signal.
set -u

if [ "$#" -lt 1 ]; then
  echo "expected a folder, as in: guard.sh cometfuzz-reports --minutes 5; received nothing" >&2
  exit 2
fi
folder=$1
shift
mkdir -p "$folder" || exit 2

if [ -n "${ENVIRONMENTS:-}" ]; then
  # shellcheck disable=SC2086  # several names
  cometfuzz env create $ENVIRONMENTS || exit 3
fi

code=0
cometfuzz run --out "$folder/campaign" --fail-on new "$@" || code=$?

# A campaign that was refused has left no folder.
if [ -e "$folder/campaign" ]; then
  cometfuzz report "$folder/campaign" --format junit --out "$folder/junit.xml" || exit 2
  cometfuzz report "$folder/campaign" --format sarif --out "$folder/cometfuzz.sarif" || exit 2
  cometfuzz report "$folder/campaign" --format markdown --out "$folder/summary.md" || exit 2
  cometfuzz report "$folder/campaign" --out "$folder/pages" || exit 2
  if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
  fi
fi
exit "$code"

"""Places to write to that do not take it, devices, readers that are gone, and numbers on the command line."""

from hostile.keras_files import archive
from hostile.rows import ESCAPE, RUN, TINY, Place, Row, both, file, folder, run_to

GENERATE = ("generate", "--cases", "1")
IMPORT = ("import", "model.keras", "-o")
REPORT = ("report", "campaign")
JUNIT = (*REPORT, "--format", "junit", "-o")
EXPORT = ("export", "campaign", "-o")
EXEC = ("exec", "case.json")
REDUCE = ("reduce", "case.json", "--route", "reference")
ONE = run_to("campaign")
CASE = file("case.json", TINY)
LONG = "n" * 1000


def campaign(place: Place) -> None:
    place.campaign()


PLACES = (
    Row("out-generate-proc", (*GENERATE, "--out", "/proc/x"), words=("/proc/x",)),
    Row("out-generate-file", (*GENERATE, "--out", "taken"), file("taken", "x"), words=("taken",)),
    Row("out-generate-beneath-a-file", (*GENERATE, "--out", "taken/x"), file("taken", "x"), words=("taken",)),
    Row("out-generate-device", (*GENERATE, "--out", "/dev/full"), words=("/dev/full",)),
    Row("out-generate-long", (*GENERATE, "--out", LONG), words=("too long",)),
    Row("out-generate-escape", (*GENERATE, "--out", f"/proc/{ESCAPE}")),
    Row("out-plot-exe", (*GENERATE, "--plot", "x.exe"), words=("x.exe",)),
    Row("out-plot-no-folder", (*GENERATE, "--plot", "nowhere/x.png"), words=("nowhere/x.png",)),
    Row("out-plot-proc", (*GENERATE, "--plot", "/proc/x.png"), words=("/proc/x.png",)),
    Row("out-plot-folder", (*GENERATE, "--plot", "x.png"), folder("x.png"), words=("x.png",)),
    Row("out-import-proc", (*IMPORT, "/proc/x"), archive(), words=("/proc/x",)),
    Row("out-import-full", (*IMPORT, "/dev/full"), archive(), words=("/dev/full",)),
    Row("out-import-folder", (*IMPORT, "."), archive()),
    Row("out-import-long", (*IMPORT, LONG), archive(), words=("too long",)),
    Row("out-synthesise-file", ("synthesise", "case.json", "--runs", "1", "--out", "case.json"), CASE),
    Row(
        "out-synthesise-proc", ("synthesise", "case.json", "--runs", "1", "--out", "/proc/x"), CASE, words=("/proc/x",)
    ),
    Row("out-init-proc", ("init", "--out", "/proc/x"), words=("/proc/x",)),
    Row("out-init-taken", ("init", "--out", "taken"), file("taken", "x"), words=("--force",)),
    Row("out-init-folder", ("init", "--force", "--out", "taken"), folder("taken"), words=("a folder",)),
    Row("out-new-file", ("new", "route", "a", "--out", "taken"), file("taken", "x"), words=("taken",)),
    Row("out-new-proc", ("new", "layer", "A", "--out", "/proc/x"), words=("/proc/x",)),
    Row("out-new-name", ("new", "route", f"a{ESCAPE}"), words=("small letters",)),
    Row("out-sarif-folder", (*REPORT, "--format", "sarif", "-o", "."), campaign),
    Row("out-run-proc", run_to("/proc/x"), words=("/proc/x",)),
    Row("out-run-file", run_to("taken"), file("taken", "x"), words=("taken",)),
    Row("out-run-beneath-a-file", run_to("taken/x"), file("taken", "x"), words=("taken",)),
    Row("out-run-device", run_to("/dev/null"), words=("/dev/null",)),
    Row("out-run-long", run_to(LONG), words=("too long",)),
    Row("out-run-taken", run_to("campaign"), campaign, words=("resume",)),
    Row("out-report-proc", (*REPORT, "--out", "/proc/x"), campaign, words=("/proc/x",)),
    Row("out-report-file", (*REPORT, "--out", "fine.toml"), campaign, words=("fine.toml",)),
    Row("out-report-other-folder", (*REPORT, "--out", "{outside}"), campaign),
    Row("out-junit-full", (*JUNIT, "/dev/full"), campaign, words=("/dev/full",)),
    Row("out-junit-folder", (*JUNIT, "."), campaign),
    Row("out-junit-proc", (*JUNIT, "/proc/x"), campaign, words=("/proc/x",)),
    Row("out-export-full", (*EXPORT, "/dev/full"), campaign, words=("/dev/full",)),
    Row("out-export-proc", (*EXPORT, "/proc/x"), campaign, words=("/proc/x",)),
    Row("out-export-folder", (*EXPORT, "."), campaign),
    Row("out-collect-proc", ("collect", "--into", "/proc/x"), words=("/proc/x",)),
    Row("out-collect-device", ("collect", "campaign", "--into", "/dev/null"), campaign, words=("/dev/null",)),
    Row("out-collect-file", ("collect", "campaign", "--into", "taken"), both(campaign, file("taken", "x"))),
)

FULL = (
    Row("full-layers", ("layers",), stdout="/dev/full"),
    Row("full-layers-json", ("layers", "--json"), stdout="/dev/full"),
    Row("full-ledger", ("ledger",), stdout="/dev/full"),
    Row("full-help", ("--help",), stdout="/dev/full"),
    Row("full-environments", ("env", "list"), stdout="/dev/full"),
    Row("full-bugs", ("bugs", "campaign"), campaign, stdout="/dev/full"),
    Row("full-export", ("export", "campaign"), campaign, stdout="/dev/full"),
    Row("full-junit", (*REPORT, "--format", "junit"), campaign, stdout="/dev/full"),
)

GONE = (
    Row("gone-layers", ("layers",), codes=(141,), stdout="nobody"),
    Row("gone-ledger-json", ("ledger", "--json"), codes=(141,), stdout="nobody"),
    Row("gone-help", ("--help",), codes=(141,), stdout="nobody"),
    Row("gone-version", ("--version",), codes=(141,), stdout="nobody"),
    Row("gone-environments", ("env", "list"), codes=(141,), stdout="nobody"),
    Row("gone-generate", (*GENERATE, "--json"), codes=(141,), stdout="nobody"),
    Row("gone-bugs", ("bugs", "campaign"), campaign, codes=(141,), stdout="nobody"),
    Row("gone-show", ("show", "campaign", "{bug}"), campaign, codes=(141,), stdout="nobody"),
    Row("gone-export", ("export", "campaign"), campaign, codes=(141,), stdout="nobody"),
    Row("gone-markdown", (*REPORT, "--format", "markdown"), campaign, codes=(141,), stdout="nobody"),
    Row("gone-report", REPORT, campaign, codes=(141,), stdout="nobody"),
)

NUMBERS = (
    Row("number-run-jobs-0", (*ONE, "--jobs", "0"), absent=("campaign",)),
    Row("number-run-jobs-nan", (*ONE, "--jobs", "nan"), absent=("campaign",)),
    Row("number-run-jobs-huge", (*ONE, "--jobs", "1000000000000"), absent=("campaign",)),
    Row("number-run-minutes-nan", (*RUN, "--minutes", "nan", "--out", "campaign"), absent=("campaign",)),
    Row("number-run-minutes-negative", (*ONE, "--minutes", "-1"), absent=("campaign",)),
    Row("number-run-minutes-infinite", (*ONE, "--minutes", "inf"), codes=(0, 2)),
    Row("number-run-cases-0", (*ONE, "--cases", "0"), absent=("campaign",)),
    Row("number-run-sigma-0", (*ONE, "--sigma", "0"), absent=("campaign",)),
    Row("number-run-seed-a-text", (*ONE, "--seed", ESCAPE), absent=("campaign",)),
    Row("number-run-seed-negative", (*ONE, "--seed", "-1"), codes=(0, 2)),
    Row("number-run-seed-huge", (*ONE, "--seed", "9" * 400), codes=(0, 2)),
    Row("number-run-seed-of-5000-digits", (*ONE, "--seed", "9" * 5000), absent=("campaign",)),
    Row("number-generate-seed-huge", (*GENERATE, "--seed", "9" * 400), codes=(0, 2)),
    Row("number-generate-cases-negative", ("generate", "--cases", "-1")),
    Row("number-check-seed-negative", ("check", "case.json", "--seed", "-1"), CASE),
    Row("number-import-seed-huge", (*IMPORT, "case.json", "--seed", "9" * 40), archive()),
    Row("number-import-open-size-0", (*IMPORT, "case.json", "--open-size", "0"), archive()),
    Row("number-reduce-steps-0", (*REDUCE, "--steps", "0"), CASE),
    Row("number-reduce-seconds-nan", (*REDUCE, "--seconds", "nan"), CASE),
    Row("number-resume-minutes-nan", ("resume", "campaign", "--minutes", "nan", "--config", "fine.toml"), campaign),
    Row("number-triage-minutes-nan", ("triage", "campaign", "--minutes", "nan", "--config", "fine.toml"), campaign),
    Row("number-verify-jobs-0", ("verify", "campaign", "--jobs", "0"), campaign),
    Row("number-verify-date", ("verify", "campaign", "--date", "2026-02-30"), campaign),
    Row("number-bench-seconds-nan", ("bench", "graph", "--graphs", "1", "--seconds", "nan")),
    Row("number-conformance-draws-0", ("conformance", "--draws", "0")),
)

NAMES = (
    Row("name-unknown-command", (ESCAPE,)),
    Row("name-unknown-option", ("bugs", f"--{ESCAPE}")),
    Row("name-unknown-layer", ("layers", f"../{ESCAPE}")),
    Row("name-unknown-environment", ("env", "create", f"../{ESCAPE}"), codes=(2, 3)),
    Row("name-unknown-route", (*EXEC, "--routes", f"reference,{ESCAPE}"), CASE),
    Row("name-empty-routes", (*EXEC, "--routes", ","), CASE),
    Row("name-unknown-strategy", (*ONE, "--strategy", ESCAPE), absent=("campaign",)),
    Row("name-unknown-format", (*REPORT, "--format", ESCAPE), campaign),
    Row("name-unknown-symptom", (*REDUCE, "--beside", "reference", "--symptom", ESCAPE), CASE, codes=(1, 2)),
    Row("name-unknown-model", ("synthesise", f"{ESCAPE}", "--runs", "1")),
)

ROWS = (*PLACES, *FULL, *GONE, *NUMBERS, *NAMES)

"""Configurations and other TOML files."""

from hostile.rows import CONFIG, ESCAPE, Make, Row, fifo, file, folder, link, run_to, sparse

DOCTOR = ("doctor", "--routes", "reference", "--config", "mine.toml")
OTHER = ("doctor", "--routes", "other", "--config", "mine.toml")
GENERATE = ("generate", "--cases", "1", "--config", "mine.toml")
MINE = run_to("campaign", config="mine.toml")
KNOWN = run_to("campaign", "--fail-on", "new", "--known")
NAMED = ("mine.toml",)
WRITTEN = ESCAPE.replace("\x07", "\\u0007").replace("\x1b", "\\u001b").replace("\x9b", "\\u009b")
"""The escape sequence as TOML writes it."""


def toml(text: str | bytes) -> Make:
    return file("mine.toml", text)


def route(base: str = "keras-tf", environment: str = "tf215", more: str = "") -> Make:
    return toml(f'[routes.other]\nbase = "{base}"\nenvironment = "{environment}"\n{more}')


def policy(line: str) -> Make:
    """The fine policy with one line replaced."""
    name = line.split(" ")[0]
    return toml("".join(f"{each}\n" for each in CONFIG.splitlines() if each.split(" ")[0] != name) + line)


NUMBERS = {
    "jobs": ("0", "-5", "1_000_000_000", "9223372036854775808", "nan", "1.5", '"two"', "true"),
    "limits.stage_s": ("nan", "inf", "0", "-1"),
    "limits.case_s": ("nan", "-inf"),
    "limits.start_s": ("0.0", "1e300"),
    "limits.memory_bytes": ("0", "-1"),
    "limits.output_bytes": ("0", "-1"),
    "limits.recycle_after": ("0", "-3"),
    "policy.dear": ("1.5", "nan", "-1"),
    "policy.most": ("2",),
    "policy.switched_one_in": ("0", "-1"),
    "policy.options_one_in": ("0",),
    "policy.manner_one_in": ("0",),
    "policy.largest_cut": ("0", "-1"),
    "graphs.nodes": ("-1", "0"),
    "graphs.elements": ("0", "-4096"),
    "graphs.flops": ("-1",),
    "graphs.bytes": ("0",),
}
"""Numbers out of their range: each is refused when the file is read, by whatever command reads it."""

WRONG = tuple(
    Row(
        f"toml-{key}-{value.strip(chr(34))}",
        MINE if key == "jobs" else (DOCTOR, GENERATE)[place % 2],
        toml(f"{key} = {value}\n" + (CONFIG if key == "jobs" else "")),
        words=(key.rpartition(".")[2],),
        absent=("campaign",),
    )
    for key, values in NUMBERS.items()
    for place, value in enumerate(values)
)

ROWS = (
    *WRONG,
    Row("toml-fine", DOCTOR, toml(CONFIG), codes=(0,)),
    Row("toml-missing", DOCTOR, words=NAMED),
    Row("toml-empty", GENERATE, toml(""), codes=(0,)),
    Row("toml-broken", DOCTOR, toml("jobs = = 2"), words=NAMED),
    Row("toml-broken-in-working-folder", ("doctor", "--routes", "reference"), file("cometfuzz.toml", "jobs ="), (2,)),
    Row("toml-binary", GENERATE, toml(bytes(range(256))), words=NAMED),
    Row("toml-not-utf8", DOCTOR, toml(b'known = ["\xff\xfe\x9b"]'), words=NAMED),
    Row("toml-utf16", GENERATE, toml("jobs = 2".encode("utf-16")), words=NAMED),
    Row("toml-byte-order-mark", DOCTOR, toml(b"\xef\xbb\xbfjobs = 2\n"), codes=(0, 2)),
    Row("toml-deep-nesting", GENERATE, toml(f"jobs = {'[' * 100_000}"), words=NAMED),
    Row("toml-deep-tables", DOCTOR, toml(f"jobs = {'{a=' * 20_000}1{'}' * 20_000}"), words=NAMED),
    Row("toml-deep-keys", DOCTOR, toml(f"{'a.' * 3_000}b = 1"), words=NAMED),
    Row("toml-huge-integer", GENERATE, toml(f"jobs = {'9' * 10_000}"), words=NAMED),
    Row("toml-unknown-key", DOCTOR, toml("job = 2"), words=("job",)),
    Row("toml-unknown-key-in-limits", GENERATE, toml("[limits]\nstages = 2"), words=("stages",)),
    Row("toml-same-key-twice", DOCTOR, toml("jobs = 2\njobs = 3"), words=NAMED),
    Row("toml-limits-a-number", DOCTOR, toml("limits = 5"), words=NAMED),
    Row("toml-date", GENERATE, toml("jobs = 2026-01-01"), words=NAMED),
    Row("toml-escape-in-key", DOCTOR, toml(f'"{WRITTEN}" = 1'), words=NAMED),
    Row("toml-escape-in-table", GENERATE, toml(f'[limits."{WRITTEN}"]\na = 1'), words=NAMED),
    Row("toml-escape-in-route", DOCTOR, toml(f'[routes."{WRITTEN}"]\nbase = "none"\nenvironment = "main"')),
    Row("toml-escape-in-base", DOCTOR, route(base=WRITTEN)),
    Row("toml-escape-in-environment", OTHER, route("reference", WRITTEN), codes=(1, 2, 3)),
    Row("toml-escape-in-speaks", DOCTOR, route(more=f'speaks = "{WRITTEN}"')),
    Row("toml-escape-in-steps", DOCTOR, route(more=f'steps = ["{WRITTEN}"]')),
    Row("toml-escape-in-policy", DOCTOR, policy(f'base = ["{WRITTEN}"]')),
    Row("toml-escape-in-known", MINE, toml(f'known = ["{WRITTEN}"]\n{CONFIG}'), absent=("campaign",)),
    Row("toml-fifo", DOCTOR, fifo("mine.toml"), words=NAMED),
    Row("toml-fifo-in-working-folder", ("generate", "--cases", "1"), fifo("cometfuzz.toml"), codes=(0, 2)),
    Row("toml-folder", GENERATE, folder("mine.toml"), words=NAMED),
    Row("toml-dev-zero", ("generate", "--cases", "1", "--config", "/dev/zero"), words=("/dev/zero",)),
    Row("toml-link-loop", DOCTOR, link("mine.toml", "mine.toml"), words=NAMED),
    Row("toml-terabyte", DOCTOR, sparse("mine.toml", 2**40), words=NAMED),
    Row("toml-unknown-speaks", DOCTOR, route(more='speaks = "klingon"'), words=("klingon",)),
    Row("toml-unknown-step", DOCTOR, route(more='steps = ["none"]'), words=("none",)),
    Row("toml-unknown-base", DOCTOR, route(base="none"), words=("none",)),
    Row("toml-route-its-own-base", DOCTOR, route(base="other"), words=("other",)),
    Row("toml-route-of-a-known-name", DOCTOR, toml('[routes.keras-tf]\nbase = "keras-tf"\nenvironment = "main"')),
    Row("toml-environment-elsewhere", OTHER, route("reference", "../../outside"), codes=(1, 2, 3)),
    Row("toml-policy-unknown-base", DOCTOR, policy('base = ["reference", "ghost"]'), words=("ghost",)),
    Row("toml-policy-unknown-converter", DOCTOR, policy('converters = ["ghost"]'), words=("ghost",)),
    Row("toml-policy-unknown-clear", DOCTOR, policy('clear = ["ghost"]'), words=("ghost",)),
    Row("toml-policy-unknown-sampled", MINE, policy('sampled = ["ghost"]'), words=("ghost",), absent=("campaign",)),
    Row("toml-policy-unknown-only", MINE, policy('only = ["ghost"]'), words=("ghost",), absent=("campaign",)),
    Row("toml-policy-no-base", MINE, policy("base = []"), absent=("campaign",)),
    Row("toml-policy-base-a-text", DOCTOR, policy('base = "reference"'), words=NAMED),
    Row("toml-known-missing", MINE, toml(f"known = ['nowhere']\n{CONFIG}"), words=("nowhere",), absent=("campaign",)),
    Row("toml-known-wrong-types", MINE, toml(f"known = [1, {{}}]\n{CONFIG}"), words=NAMED, absent=("campaign",)),
    Row("known-missing", (*KNOWN, "nowhere.toml"), words=("nowhere.toml",), absent=("campaign",)),
    Row("known-broken", (*KNOWN, "mine.toml"), toml("[[issue]"), words=NAMED, absent=("campaign",)),
    Row("known-no-pattern", (*KNOWN, "mine.toml"), toml("[[issue]]\nlink = 'x'"), words=NAMED, absent=("campaign",)),
    Row("known-not-utf8", (*KNOWN, "mine.toml"), toml(b"[[issue]]\nlink = '\xff'"), words=NAMED, absent=("campaign",)),
    Row(
        "known-deep-nesting", (*KNOWN, "mine.toml"), toml(f"issue = {'[' * 100_000}"), words=NAMED, absent=("campaign",)
    ),
    Row("known-escape-in-key", (*KNOWN, "mine.toml"), toml(f'[[issue]]\n"{WRITTEN}" = 1'), absent=("campaign",)),
    Row("known-fifo", (*KNOWN, "mine.toml"), fifo("mine.toml"), words=NAMED, absent=("campaign",)),
    Row("known-dev-zero", (*KNOWN, "/dev/zero"), words=("/dev/zero",), absent=("campaign",)),
    Row("known-folder-without-bugs", (*KNOWN, "mine"), folder("mine"), words=("mine",), absent=("campaign",)),
    Row("known-link-loop", (*KNOWN, "mine.toml"), link("mine.toml", "mine.toml"), words=NAMED, absent=("campaign",)),
)

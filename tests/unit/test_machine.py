"""The CPU as part of the environment: read, recorded for each session, and told apart in reports."""

import json
from dataclasses import asdict
from pathlib import Path

import campaigning
import pytest

from cometfuzz.campaign.events import Started
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.store import Store
from cometfuzz.execution.machine import Machine, this_machine
from cometfuzz.ledger import cpu
from cometfuzz.reports.facts import gather
from cometfuzz.reports.json_report import json_report
from cometfuzz.reports.markdown import markdown_report
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.switches import with_switches

SAPPHIRE = (
    "processor\t: 0\nmodel name\t: Intel(R)  Xeon(R) Platinum\nflags\t\t: fpu sse4_1 sse4_2 ssse3 cx16 popcnt smep avx "
    "avx2 bmi1 bmi2 f16c fma movbe avx512f avx512bw avx512cd avx512dq avx512vl amx_bf16 amx_tile\n\nprocessor\t: 1\n"
    "model name\t: another\nflags\t\t: fpu\n"
)


def test_the_first_cpu_is_read_with_the_features_that_choose_kernels() -> None:
    found = cpu.cpu_of(SAPPHIRE, "x86_64")
    assert (found.level, found.model) == ("x86-64-v4", "Intel(R) Xeon(R) Platinum")
    assert {"amx_bf16", "amx_tile", "avx512bw", "f16c", "fma"} <= set(found.features)
    assert not {"smep", "fpu", "popcnt"} & set(found.features)
    assert str(found) == "x86-64-v4 (Intel(R) Xeon(R) Platinum)"
    assert cpu.cpu_of("processor: 0\nFeatures : fp asimd sve i8mm\n", "aarch64") == cpu.Cpu(
        "aarch64", "", ("asimd", "i8mm", "sve")
    )
    assert cpu.cpu_of("", "x86_64") == cpu.Cpu("x86-64", "", ())


def test_caps_of_the_user_and_of_switches_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in cpu.CAPS:
        monkeypatch.delenv(name, raising=False)
    routes = with_switches([ROUTES["keras-torch"]])
    assert set(this_machine(routes).caps) == {"keras-torch+old-cpu"}
    plain = str(this_machine(routes))
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    capped = this_machine(routes)
    assert capped.caps["keras-torch"] == {"ATEN_CPU_CAPABILITY": "avx2"}
    assert capped.caps["keras-torch+old-cpu"]["ATEN_CPU_CAPABILITY"] == "default"
    assert str(capped) == f"{plain}; ATEN_CPU_CAPABILITY=avx2"


def test_reports_tell_the_machines_of_a_campaign_apart(tmp_path: Path) -> None:
    intel = Machine("x86-64-v4", "Xeon", ("amx_bf16",), {})
    amd = Machine("x86-64-v3", "EPYC", ("avx2",), {"keras-tf": {"ONEDNN_MAX_CPU_ISA": "AVX2"}})
    odd = [{"cpu": 1}, {"cpu": "a", "model": "b", "features": 3, "caps": {}}, "text", None]
    with Store.create(tmp_path / "c", campaigning.SETTINGS) as store:
        recorded = [asdict(intel), asdict(amd), asdict(intel), *odd]
        for each in recorded:
            store.handle(Started({**campaigning.SETTINGS, "machine": each}, 0, campaigning.covered(0)))
    with Records(tmp_path / "c") as records:
        facts = gather(records)
    assert facts.machines == ("x86-64-v4 (Xeon); amx_bf16", "x86-64-v3 (EPYC); avx2; ONEDNN_MAX_CPU_ISA=AVX2")
    assert json.loads(json_report(facts))["campaign"]["machines"] == list(facts.machines)
    assert "- CPU: x86-64-v4" in markdown_report(facts)

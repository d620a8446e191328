"""`cometfuzz kernels`: what libraries print of their kernels, as names, and what a report makes of it."""

from pathlib import Path

import pytest
from reporting import write_campaign

from cometfuzz.campaign.kernels import FILE, Kernels, Row, as_plain, evenly, read_kernels, write_kernels
from cometfuzz.campaign.records import Records
from cometfuzz.places import Place
from cometfuzz.reports.facts import gather
from cometfuzz.reports.html import Pages
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.telling import read, telling

HOSTILE = "<script>document.title='owned'</script>"
CONVOLUTION = (
    "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx512_core,forward_training,"
    "src:f32:a:blocked:acdb::f0 wei:f32:a:blocked:Acdb16a::f0 bia:f32:a:blocked:a::f0 dst:bf16:a:blocked:acdb::f0,"
    "attr-scratchpad:user,alg:convolution_direct,mb2_ic3oc{}_ih17oh15kh3sh1dh0ph0,0.13"
)
OLDER = "dnnl_verbose,exec,cpu,matmul,brg:avx2,undef,src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0,,,5x{}:7x3:5x3,0.01"
REWRITING = "2026 [I:onnxruntime:, x.cc:15 Apply] GraphTransformer ConvActivationFusion modified: {} with status: OK"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (
            CONVOLUTION.format(32),
            {
                "convolution jit:avx512_core f32-f32-bf16",
                "convolution jit:avx512_core f32-f32-bf16 mb2_ic3oc32b+_ih16+oh8+kh3sh1dh0ph0",
            },
        ),
        (OLDER.format(7), {"matmul brg:avx2 f32-f32", "matmul brg:avx2 f32-f32 4+x4+:4+x3:4+x3"}),
        ("onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation", set()),
        ("onednn_verbose,v1,primitive,exec,cpu", set()),
        (REWRITING.format(1), {"ConvActivationFusion"}),
        (REWRITING.format(0), set()),
        ("openvino_kernel,Convolution,jit_avx512_FP32,f32", {"Convolution jit_avx512_FP32 f32"}),
        ("openvino_kernel,Parameter", {"Parameter"}),
        ("what else it prints", set()),
    ],
)
def test_what_libraries_print_is_read_as_names(line: str, names: set[str]) -> None:
    assert {told.name for told in read(f"noise\n{line}\nnoise")} == names


def test_sizes_are_told_apart_by_class_only() -> None:
    told = [read(CONVOLUTION.format(channels)) for channels in (17, 31, 32, 48, 64)]
    assert told[0] == told[1]
    assert told[2] == told[3]
    assert len({frozenset(each) for each in told}) == 3


def test_a_route_that_tells_has_processes_of_its_own() -> None:
    for name in ("onnxruntime", "direct-openvino", "openvino-saved"):
        plain, told = ROUTES[name], telling(ROUTES[name])
        assert not {step.group.name for step in plain.steps} & {step.group.name for step in told.steps}
        assert told.steps[-1].options == {**plain.steps[-1].options, "tell": "telling"}
        assert told.keys != plain.keys


@pytest.mark.parametrize(
    ("most", "places"), [(1, [0]), (4, [0, 2, 5, 7]), (10, list(range(10))), (99, list(range(10)))]
)
def test_cases_are_taken_evenly(most: int, places: list[int]) -> None:
    assert list(evenly(range(10), most)) == places


@pytest.mark.parametrize(
    ("cases", "first_seen", "lately"), [(300, [1, 200, 201, 300], 2), (10, [1, 5, 6, 10], 2), (1, [1], 0)]
)
def test_what_came_lately(cases: int, first_seen: list[int], lately: int) -> None:
    row = Row("keras-tf", "oneDNN", "geometry", cases, first_seen, ["x"] * len(first_seen))
    assert row.lately == lately


def test_a_report_has_the_table_and_escapes_it(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "monday", 2)
    rows = [
        Row(HOSTILE, "oneDNN", "geometry", 4, [1, 4], ["a", "b"]),
        Row(HOSTILE, "oneDNN", "implementation", 4, [1], [""]),
    ]
    kernels = Kernels("a CPU", 4, rows)
    write_kernels(Place(folder), kernels)
    assert read_kernels(Place(folder)) == kernels
    assert [(row["count"], row["lately"]) for row in as_plain(kernels)["rows"]] == [(2, 1), (1, 0)]
    with Records(folder) as records:
        page = Pages(gather(records)).index().decode()
    assert "Where the libraries went" in page
    assert "2 (+1)" in page
    assert HOSTILE not in page


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"machine": 1, "cases": 2, "rows": []}', b"\xff\xfe"])
def test_a_spoilt_file_is_passed_over(tmp_path: Path, content: bytes) -> None:
    folder = write_campaign(tmp_path / "monday", 1)
    (folder / FILE).write_bytes(content)
    with Records(folder) as records:
        assert "Where the libraries went" not in Pages(gather(records)).index().decode()

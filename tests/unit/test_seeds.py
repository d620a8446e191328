"""The ten seed models have the sizes and the coverage that the paper publishes for them, or the difference is said."""

import pytest

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.catalogue.validate import validate
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import CRITERIA, paper_space
from cometfuzz.errors import UnknownName
from cometfuzz.seeds.counting import as_the_authors_count
from cometfuzz.seeds.published import HEAD, KERNEL, PAPER, SCALED, layer_count, original, slug
from cometfuzz.seeds.small import SMALL

WEIGHTS = {
    "AlexNet": 21_592_330,
    "LSTM (SineWave)": 70_901,
    "LeNet": 61_706,
    "DenseNet121": 8_062_504,
    "InceptionResNetV2": 55_873_736,
    "InceptionV3": 23_851_784,
    "ResNet50": 25_636_712,
    "Xception": 22_910_480,
    "LSTM (StockPrice)": 26_626,
    "MobileNetV2": 3_538_984,
}
"""As Keras counts them: `model.count_params()`."""
DENSE_HEAD = 1000 * 100 + 100
SCALE_LAYERS = 40

each_model = pytest.mark.parametrize("name", PAPER)


def test_the_small_models_are_in_the_table() -> None:
    assert set(SMALL) < set(PAPER)
    assert len(PAPER) == 10


def test_the_rows_of_the_paper_add_up_for_layers_but_not_for_weights() -> None:
    assert sum(paper.layers for paper in PAPER.values()) == 2025
    assert sum(paper.weights_millions for paper in PAPER.values()) == pytest.approx(162.222)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="LeNet"):
        original("VGG16")


@each_model
def test_every_model_is_valid(name: str) -> None:
    assert validate(original(name)) == []


@each_model
def test_layers(name: str) -> None:
    head = HEAD in PAPER[name].differences
    scaled = SCALE_LAYERS if SCALED in PAPER[name].differences else 0
    assert layer_count(original(name)) + head - scaled == PAPER[name].layers


def test_a_scale_layer_is_a_rescaling_and_an_add() -> None:
    graph = original("InceptionResNetV2")
    sums = [node for node in graph.nodes if node.layer == "Add"]
    assert len(sums) == SCALE_LAYERS
    assert {graph.by_id[node.inputs[1].node].layer for node in sums} == {"Rescaling"}
    scales = {graph.by_id[node.inputs[1].node].params.scale for node in sums}
    assert scales == {0.17, 0.1, 0.2, 1.0}


@each_model
def test_weights(name: str) -> None:
    """The paper's last digit is rounded for LeNet and SineWave and cut off elsewhere."""
    total = weights_of(original(name))
    assert total == WEIGHTS[name]
    head = DENSE_HEAD if HEAD in PAPER[name].differences else 0
    assert abs((total + head) / 1e6 - PAPER[name].weights_millions) < 0.001


@each_model
def test_counts(name: str) -> None:
    counts, paper = as_the_authors_count(original(name)), PAPER[name]
    uncounted_kernel = KERNEL in paper.differences
    assert counts == {
        "inputs": paper.inputs,
        "parameters": paper.parameters + uncounted_kernel,
        "sequences": paper.sequences,
    }


def test_all_ten_cover_the_published_number_of_sequences() -> None:
    coverage = Coverage(paper_space())
    for name in PAPER:
        coverage.cover(original(name))
    assert coverage.covered(CRITERIA[2]) == 25


def test_the_uneven_kernels_are_what_only_the_inceptions_have() -> None:
    values = {
        name: {str(node.params.kernel_size) for node in original(name).nodes if "kernel_size" in node.params}
        for name in PAPER
    }
    others = set().union(*(found for name, found in values.items() if "Inception" not in name))
    assert values["InceptionV3"] - others == {"(1, 3)", "(3, 1)", "(1, 7)", "(7, 1)"}
    assert values["InceptionResNetV2"] - others == {"(1, 3)", "(3, 1)", "(1, 7)", "(7, 1)"}


def test_slugs_name_files() -> None:
    assert slug("LSTM (SineWave)") == "LSTM-SineWave"

"""`cometfuzz import`: a user's own model as a case."""

from pathlib import Path
from typing import Annotated

import typer

from cometfuzz.catalogue.cost import weights_of
from cometfuzz.catalogue.files import save
from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.errors import unwritten
from cometfuzz.ir.codec import case_id
from cometfuzz.seeds.importing import import_model
from cometfuzz.seeds.published import layer_count


def import_(
    file: Annotated[Path, typer.Argument(help="A model as `model.save` of Keras 3 or 2 writes it: .keras or .h5.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The case file to write.")],
    weights: Annotated[
        bool, typer.Option("--weights", help="Keep the stored weights; else they are drawn anew from the seed.")
    ] = False,
    open_size: Annotated[
        int | None, typer.Option(min=1, help="The size of axes that the file leaves open, the batch apart (it is 1).")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, callback=at_most(LARGEST_SEED), help="What inputs, and weights not kept, are drawn from."),
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Turn a .keras or .h5 file into a case: a graph in JSON, which `cometfuzz synthesise` can make small.

    No code of the file is run, and Keras never sees it: a Lambda, a class of your own, a layer that the catalogue does
    not have, or one of Keras 2 that means something else in Keras 3, is refused with its name. Nested models are
    unfolded. How the model was compiled is not read. HDF5 is read in a child process, by h5py alone.

    Example: cometfuzz import mine.keras -o mine.json --weights
    """
    case = import_model(file, weights, open_size, seed)
    try:
        save(case, out)
    except OSError as error:
        raise unwritten(out, error) from None
    result = {
        "case": case_id(case),
        "out": str(out),
        "layers": layer_count(case.graph),
        "weights": weights_of(case.graph),
        "kept_tensors": len(case.data),
    }
    if as_json:
        print_json(result)
    else:
        kept = f", {result['kept_tensors']} tensors kept" if weights else ""
        typer.echo(f"{out}: case {result['case']}, {result['layers']} layers, {result['weights']} weights{kept}")

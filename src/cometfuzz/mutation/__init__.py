"""Mutations: each makes one valid Graph out of another, going for what is uncovered. One file each."""

from importlib import import_module

from cometfuzz.mutation.base import MUTATIONS, Mutation

for _name in (
    *("change_dtype", "change_rank", "change_shape", "change_parameters"),
    *("insert_layer", "merge_layers", "copy_layer", "special_input"),
):
    import_module(f"cometfuzz.mutation.{_name}")

__all__ = ["MUTATIONS", "Mutation"]

"""CRADLE: published models as they are, compared between libraries. It generates nothing."""

from dataclasses import replace

from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.search.baselines.baseline import LIFTED, RERUN, Baseline
from cometfuzz.search.metropolis import Record
from cometfuzz.search.strategies import Options


class Cradle(Baseline):
    """The ten originals at full size, once each; then again and again with other weights and inputs, which cover
    nothing new. The tool uses trained weights and data sets; here both are drawn."""

    def __init__(self, options: Options) -> None:
        super().__init__(replace(options, seeds=self.original_seeds(), limits=LIFTED))
        self.models = tuple(self.unseen)

    def make(self, draw: Draw) -> Case:
        record = self.records.setdefault(RERUN, Record())
        record.attempts, record.applied = record.attempts + 1, record.applied + 1
        return self.launch(self.models[(self.index - 1) % len(self.models)], RERUN, draw)


class CradlePublished(Cradle):
    """One model after the other, and nothing kept clear of."""

    published, window = True, 1

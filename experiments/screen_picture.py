"""The picture of README.md: the screen of a real campaign at its end, as an SVG that loads nothing from elsewhere.

.venv/bin/python experiments/screen_picture.py [--minutes 1.5] [--routes ...] [--seed 1] [-o docs/pictures/screen.svg]
"""

import argparse
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from cometfuzz.campaign.events import Ended, Event
from cometfuzz.campaign.session import Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.cli.run import drive
from cometfuzz.config import Config
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.executor import expect_environments
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.reading import overlay
from cometfuzz.reports.console import Screen
from cometfuzz.reports.picture import picture
from cometfuzz.reports.tally import Tally
from cometfuzz.seeds.published import names, synthesised

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 124, 30
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
"""As rich has it, without fonts from elsewhere."""


class LastScreen(Screen):
    """Draws the campaign once, as it is before its last event."""

    def __init__(self, title: str) -> None:
        self.title, self.tally, self.svg = title, Tally(()), ""

    def handle(self, event: Event) -> None:
        if not isinstance(event, Ended):
            self.tally.handle(event)
            return
        console = Console(record=True, width=WIDTH, height=HEIGHT, file=io.StringIO(), force_terminal=True)
        for line in picture(self.tally, event.elapsed_s, WIDTH, HEIGHT):
            console.print(line)
        self.svg = console.export_svg(title=self.title, code_format=FORMAT, unique_id="screen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.5)
    parser.add_argument("--routes", default="keras-tf,keras-torch,onnxruntime,openvino,litert")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "pictures" / "screen.svg")
    arguments = parser.parse_args()
    known, chosen = configured(Config()), tuple(arguments.routes.split(","))
    expect_environments([known[name] for name in chosen])
    seeds = seed_texts([synthesised(name) for name in names()])
    screen = LastScreen(f"cometfuzz run --minutes {arguments.minutes:g} --seed {arguments.seed}")
    with TemporaryDirectory() as folder:
        settings = Settings(
            strategy="directed",
            seed=arguments.seed,
            routes=chosen,
            seeds=seeds,
            minutes=arguments.minutes,
            out="campaigns/monday",
            cpu=cpu_level(),
            ledger=overlay().digest,
        )
        with Store.create(Path(folder, "campaign"), vars(settings)) as store:
            drive(store, settings, Config(), known, screen)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(screen.svg, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Reproducers: from a bug to a script that needs only the libraries, and that was seen to show the bug.

`make_script` writes one; `reproduce` runs it in a clean process and records what came of it. The same thing can be
written in several ways (short or with every parameter named, eager or compiled): the first that shows the bug is taken.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cometfuzz.catalogue.data import Data, draw_data
from cometfuzz.errors import NoScript
from cometfuzz.execution.environments import environ_of
from cometfuzz.execution.executor import Executor, python_of
from cometfuzz.execution.machine import caps_in
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.ledger.cpu import this_cpu
from cometfuzz.oracles.finding import template
from cometfuzz.oracles.refusal import SAYS_OTHERWISE
from cometfuzz.oracles.relations import MISMATCH, RELATIONS, TYPES, UNCHECKED, Relation
from cometfuzz.oracles.symptoms import End, about
from cometfuzz.reference.bound import Expected, expect, expect_digits, expect_strictly, judge
from cometfuzz.routes import Route, Step
from cometfuzz.routes.onnx_text import described
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.running import Ran, ScriptLimits, run_script
from cometfuzz.triage.scripts import ends
from cometfuzz.triage.scripts.dialects import dialect_of
from cometfuzz.triage.scripts.frame import frame
from cometfuzz.triage.scripts.keras_program import FULL, VARIANTS, keras_program
from cometfuzz.triage.scripts.onnx_graph import NUMPY_DTYPES, OnnxModel, OnnxTensor, read
from cometfuzz.triage.scripts.onnx_program import CUT, fed_with, onnx_program
from cometfuzz.triage.scripts.pieces import Program
from cometfuzz.triage.scripts.relating import allowed, related_program
from cometfuzz.triage.scripts.text import comment, without_us
from cometfuzz.triage.shortening import Cut, Question, array_of, shorter

HANG_S = 120
"""How long a script that hangs is watched, imports included."""

MEMORY_GIB = 6
"""What a script may allocate if the bug is that it takes too much."""

ENOUGH = 40
"""A script of so many lines need not be shorter."""

_HEADER = 2
"""How many lines each text gets in the comment at the top."""


def make_script(bug: Bug, routes: Mapping[str, Route] = ROUTES, executor: Executor | None = None) -> str:
    """The shortest script for a bug; NoScript if none can be written. `executor`: see `reproduce`."""
    return next(_scripts(Task(bug, routes, executor)))


def reproduce(
    bug: Bug,
    routes: Mapping[str, Route] = ROUTES,
    executor: Executor | None = None,
    limits: ScriptLimits | None = None,
) -> Script | None:
    """A script that was run by itself, with what it did; None if none can be written.

    If no way of writing it shows the bug, the first one comes back, with `shown` false. For a bug in a reader of ONNX
    files, the file is made on the way by `executor`, or by workers that are started for it.
    """
    first: Script | None = None
    task = Task(bug, routes, executor)
    try:
        for text in _scripts(task):
            ran = run_script(text, python_of(task.step.group), limits)
            script = Script(text, task.step.group.environment, shows(bug, ran), ran.exit_code, ran.output)
            if script.shown:
                return _shorter(task, script, limits) or script
            first = first or script
    except NoScript:
        return first
    return first


def shows(bug: Bug, ran: Ran) -> bool:
    """Whether a script that has run showed its bug: exit code 1, by its own verdict, and the same exception if any."""
    seen = [line for line in ran.printed.splitlines() if line.startswith("seen:")]
    if ran.exit_code != 1 or not seen:
        return False
    kind = exception_of(bug)
    return kind == "" or seen[-1].startswith(f"seen: {kind}")


def exception_of(bug: Bug) -> str:
    """The class of the exception that a crash raises; "" for what is no crash, or is our own way of putting it."""
    if not about(bug.finding.symptom).raises:
        return ""
    kind = bug.finding.failure.partition(":")[0]
    return "" if kind in _OURS else kind


EXPECTING = {"bound": expect, "digits": expect_digits, "formula": expect_strictly}
"""What is expected of values, by what the record of a symptom holds them to."""

_OURS = ("DeclaredOtherwise",)
"""Exceptions of our own routes that stand for a wrong result."""


@dataclass(frozen=True)
class Task:
    """A bug with what has to be known of it to write its script."""

    bug: Bug
    routes: Mapping[str, Route]
    executor: Executor | None = None

    @property
    def end(self) -> End:
        """How its script ends."""
        return about(self.bug.finding.symptom).end

    @cached_property
    def graph(self) -> Graph:
        """The minimal graph; where a layer states a wrong type, with all outputs of the last one to look at."""
        graph, finding = self.bug.minimal.graph, self.bug.finding
        if self.end != "types" or not finding.failure:
            return graph
        last = graph.nodes[-1]
        return Graph(graph.nodes, tuple(Edge(last.id, index) for index in range(len(last.outputs))))

    @cached_property
    def data(self) -> Data:
        return draw_data(self.bug.minimal)

    @cached_property
    def expected(self) -> list[Expected]:
        found = EXPECTING[about(self.bug.finding.symptom).held](self.graph, self.data)
        return [found[edge] for edge in self.graph.outputs]

    @property
    def kinds(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(kind.dtype, tuple(kind.shape)) for kind in map(self.graph.type_of, self.graph.outputs)]

    @cached_property
    def route(self) -> Route:
        """The failing route to write the script for: one with the blamed stage, and the shortest of those."""
        failing = [self.routes[name] for name in self.bug.finding.camps[0].routes if name in self.routes]
        if not failing:
            received = ", ".join(self.bug.finding.camps[0].routes)
            raise NoScript(f"expected a failing route that is known here; received routes={received}")
        blame = self.bug.blame
        exact = [route for route in failing if any(step.has(blame.stage, blame.library) for step in route.steps)]
        near = [route for route in failing if any(stage.library == blame.library for stage in route.stages)]
        return min(exact or near or failing, key=lambda route: len(route.steps))

    @cached_property
    def step(self) -> Step:
        """The blamed step of the route; its last one if the blame names none of it."""
        blame, steps = self.bug.blame, self.route.steps
        exact = [step for step in steps if step.has(blame.stage, blame.library)]
        near = [step for step in steps if any(stage.library == blame.library for stage in step.stages)]
        return [*steps, *near, *exact][-1] if not exact else exact[0]

    @property
    def reads_onnx(self) -> bool:
        """Whether the blamed step takes an ONNX file, so that the script needs nothing of what made it."""
        return bool(self.step.reader)

    @cached_property
    def onnx(self) -> OnnxModel:
        """The ONNX file that the route makes of the minimal case."""
        steps = self.route.steps
        route = described(self.route, steps[steps.index(self.step) - 1])
        with contextlib.ExitStack() as stack:
            executor = self.executor or stack.enter_context(Executor([route]))
            outcome = executor.run_apart(self.bug.minimal, route)
        if outcome.status != "completed":
            raise NoScript(f"expected an ONNX file of the minimal case; received {outcome}")
        return read(json.loads(outcome.outputs[0].data))

    @property
    def resets(self) -> bool:
        """Whether it is the resetting of states that fails, as routes do before each run."""
        return any("reset_state" in str(frame) for frame in self.bug.finding.evidence.get("frames", ()))

    @property
    def relation(self) -> Relation | None:
        """The relation that it contradicts, if that is the bug."""
        named = {**RELATIONS, UNCHECKED.name: UNCHECKED}
        return named.get(self.bug.finding.failure) if self.end == "relation" else None

    @property
    def stage(self) -> str:
        """The stage that fails, if it is one of the route's."""
        names = [stage.name for stage in self.route.stages]
        return next((name for name in (self.bug.finding.stage, self.bug.blame.stage) if name in names), "")

    @property
    def says_otherwise(self) -> bool:
        """Whether the bug is a symbolic shape that is not the computed one."""
        return self.bug.finding.failure.startswith(SAYS_OTHERWISE)

    @property
    def compares(self) -> bool:
        """Whether the bug is an output that is not as it should be."""
        return self.end in ("values", "types")

    def trusts(self, outputs: Sequence[OnnxTensor]) -> bool:
        """Whether outputs of the whole ONNX model are as they should be."""
        if self.end == "values":
            pairs = zip(self.expected, outputs, strict=True)
            return all(judge(expected, array_of(tensor)).ok for expected, tensor in pairs)
        return not self.compares or [(NUMPY_DTYPES[each.dtype], each.shape) for each in outputs] == self.kinds

    def alike(self, tensor: OnnxTensor, whole: OnnxTensor | None) -> bool:
        """Whether a value of a cut ONNX model is the one that the whole has there, as far as that matters."""
        if self.end == "values":
            return repr(tensor) == repr(whole)  # so that NaN is like NaN
        return not self.compares or (whole is not None and (tensor.dtype, tensor.shape) == (whole.dtype, whole.shape))

    @property
    def agreeing(self) -> str:
        """Who gives the expected values, in words."""
        names = [name for camp in self.bug.finding.camps[1:] for name in camp.routes if name in self.routes]
        paths = [self.routes[name].path for name in names if name != "reference"]
        if not paths:
            return "From the documented meaning of the layers, computed in float64."
        others = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        return f"From the documented meaning in float64; {', '.join(paths[:3])}{others} agree{'s' * (len(paths) == 1)}."


def _shorter(task: Task, script: Script, limits: ScriptLimits | None) -> Script | None:
    """A long script on an ONNX file with only those operators that show the bug; None if that is not to be had."""
    long = script.text.count("\n") > ENOUGH and task.reads_onnx
    if not long or task.end in ("hang", "bits", "memory", "taken", "relation"):
        return None
    python = python_of(task.step.group)

    def shown(ran: Ran) -> bool:
        return shows(task.bug, ran) and (task.compares or _told(ran.printed) <= _told(script.output))

    question = Question(
        fed_with(task.onnx, task.data, simple=True),
        task.step.stages[0].library,
        python,
        script.text,
        write=lambda cut: _script(task, _set(onnx_program(cut.fed, task.step), task), 0, cut),
        shows=shown,
        trusts=task.trusts,
        alike=task.alike,
    )
    text = shorter(question)
    if text is None:
        return None
    ran = run_script(text, python, limits)
    return Script(text, script.environment, True, ran.exit_code, ran.output) if shown(ran) else None


def _told(printed: str) -> set[str]:
    """What a script says that it has seen, line by line, without what differs from model to model."""
    lines = [template(line) for line in printed.rpartition("\nseen:")[2].splitlines() if line.strip()]
    return {re.sub(r"[({\[]+\.\.\..*\.\.\.[)}\]]+", "(...)", line) for line in lines}  # of any number of shapes


def _scripts(task: Task) -> Iterator[str]:
    """The ways to write the script, the shortest first, each once."""
    if not task.end:
        raise NoScript(f"expected a symptom that a script can show; received symptom={task.bug.finding.symptom!r}")
    told: set[str] = set()
    for variant, program in enumerate(_programs(task)):
        text = _script(task, _set(program, task), variant)
        if text not in told:
            told.add(text)
            yield text


def _programs(task: Task) -> Iterator[Program]:
    if task.relation is not None:
        for variant in range(VARIANTS):
            yield related_program(task.relation, task.bug.minimal, task.route, variant)
    elif task.reads_onnx:
        for simple in (True, False):
            manner = task.bug.minimal.manner
            yield onnx_program(fed_with(task.onnx, task.data, simple), task.step, manner)
    else:
        for variant in range(VARIANTS):
            program = keras_program(task.graph, task.data, task.route, variant, task.bug.minimal.manner)
            yield _resetting(program) if task.resets else program


def _set(program: Program, task: Task) -> Program:
    """The program with what is set by variables of the whole process: by a switch, or by a user's environment."""
    switch = task.route.switch
    values = {**environ_of(task.step.group.environment), **(switch.environ if switch is not None else {})}
    return replace(program, environ={**program.environ, **{name: json.dumps(value) for name, value in values.items()}})


def _resetting(program: Program) -> Program:
    """The program with the states of its layers reset before it runs."""
    lines = ("for layer in model.layers:", '    if getattr(layer, "stateful", False):', "        layer.reset_states()")
    return replace(program, engine=replace(program.engine, pieces=(*program.engine.pieces, ("run", lines))))


def _script(task: Task, program: Program, variant: int, cut: Cut | None = None) -> str:
    watch = []
    if task.end in ("death", "hang"):
        hanging = task.end == "hang"
        greedy = task.bug.finding.evidence.get("status") == "memory"
        watch = ends.watch(HANG_S if hanging else None, MEMORY_GIB if greedy else None)
    elif task.end == "memory":
        watch = ends.fill_memory()
    header = _header(task)
    if cut is not None:
        header += comment(f"{CUT} of the {cut.whole} operators that a converter makes of it.")
    return frame(header, program, _body(task, program, variant, cut), watch)


def _body(task: Task, program: Program, variant: int, cut: Cut | None = None) -> list[str]:
    finding = task.bug.finding
    if task.end in ("death", "hang"):
        return ends.plainly_refused(program) if task.bug.minimal.breaks else ends.plainly(program)
    if task.end == "values":
        if cut is not None:
            right = f"From {cut.source}, which computes the whole layer as it is documented."
            return ends.values(program, cut.expected, comment(right))
        return ends.values(program, task.expected, comment(task.agreeing))
    if task.end == "types":
        if finding.failure:
            return ends.static_types(program, task.kinds, dialect_of(task.route))
        if cut is not None:
            kinds = [(each.dtype, each.value.shape) for each in cut.expected]
            return ends.types(program, kinds, comment(f"From {cut.source}, which has the whole layer right."))
        return ends.types(program, task.kinds)
    if task.relation is not None:
        return _contradiction(task, task.relation, program)
    if task.end == "taken":
        return ends.taken(program, task.bug.minimal.breaks, task.says_otherwise)
    if task.end == "memory":
        return ends.answers(program, len(task.kinds) == 1)
    if task.end == "bits":
        return ends.other_bits(program, len(task.kinds) == 1)
    if finding.failure.startswith(_OURS):
        inputs = [node.outputs[0].dtype for node in task.graph.inputs]
        return ends.declared_dtypes(program, [*inputs, *(dtype for dtype, _ in task.kinds)])
    return ends.crash(program, "" if variant in FULL else task.stage)


def _contradiction(task: Task, relation: Relation, program: Program) -> list[str]:
    """The second answer against the first."""
    single = len(task.graph.outputs) == 1
    if task.bug.finding.evidence.get("raises"):
        if relation in (TYPES, UNCHECKED) and MISMATCH in task.bug.finding.detail:
            return ends.own_types(program, single, dialect_of(task.route))
        return ends.crash(program, "")
    return ends.values(program, allowed(relation, task.bug.minimal), ())


def _header(task: Task) -> list[str]:
    """Title, who is blamed, what was expected and seen, and what is set unusually, each in a line or two."""
    bug, switch = task.bug, task.route.switch
    blamed = "" if bug.blame.role in bug.title else f"Blamed: {bug.blame.role}."
    set_so = f"This runs {switch.library.title} {switch.says}." if switch is not None else ""
    caps = " ".join(f"{name}={value}" for name, value in caps_in(task.step.group).items())
    seen_on = f"Seen on {this_cpu()}{f', {caps}' if caps else ''}."
    texts = (bug.title, blamed, without_us(bug.finding.detail), set_so, seen_on)
    return [line for text in texts for line in comment(text, most=_HEADER)]

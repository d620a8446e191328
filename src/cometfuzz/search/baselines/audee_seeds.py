"""The seeds of Audee that are no published model of the project: a ResNet-20 and a VGG-16 for images of 32 by 32."""

from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.search.baselines.editing import with_defaults
from cometfuzz.seeds.small import ChainedLayer, call, chain

IMAGE = (1, 32, 32, 3)
CLASSES = 10


def vgg16() -> Graph:
    """Thirteen convolutions in five blocks, and two Dense layers."""
    calls: list[ChainedLayer] = []
    for count, filters in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(count):
            calls.append(call("Conv2D", filters=filters, kernel_size=3, padding="same", activation="relu"))
            calls.append(call("BatchNormalization"))
        calls.append(call("MaxPooling2D", pool_size=2))
    ends = (call("Flatten"), call("Dense", units=512, activation="relu"), call("Dropout", rate=0.5))
    return chain(IMAGE, *calls, *ends, call("Dense", units=CLASSES, activation="softmax"))


def resnet20() -> Graph:
    """Three stages of three residual blocks."""
    drafts = [Draft(INPUT, INPUT, {"shape": IMAGE}, ())]

    def put(layer: str, *inputs: Edge, **params: object) -> Edge:
        drafts.append(Draft(f"n{len(drafts)}", layer, with_defaults(layer, params), inputs))
        return Edge(drafts[-1].id)

    def convolved(edge: Edge, filters: int, strides: int) -> Edge:
        conv = put("Conv2D", edge, filters=filters, kernel_size=3, strides=strides, padding="same")
        return put("BatchNormalization", conv)

    at = put("ReLU", convolved(Edge(INPUT), 16, 1))
    for stage, filters in enumerate((16, 32, 64)):
        for block in range(3):
            strides = 2 if stage and not block else 1
            inside = convolved(put("ReLU", convolved(at, filters, strides)), filters, 1)
            beside = put("Conv2D", at, filters=filters, kernel_size=1, strides=strides) if strides > 1 else at
            at = put("ReLU", put("Add", inside, beside))
    pooled = put("GlobalAveragePooling2D", at)
    put("Dense", pooled, units=CLASSES, activation="softmax")
    return assemble(drafts, [Edge(drafts[-1].id)])

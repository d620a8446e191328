"""What SARIF 2.1.0 says of the objects that we write, as types: names, which must be there, and their values.

Written from the text of the OASIS standard (chapter 3), the part that we use: a field that is not here is refused.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

Index = Annotated[int, Meta(ge=0)]
Uri = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$")]
Level = Literal["none", "note", "warning", "error"]


class Strict(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Nothing but what is declared."""


class Text(Strict):
    text: Annotated[str, Meta(min_length=1)]


class Configuration(Strict):
    level: Level


class Rule(Strict):
    id: Annotated[str, Meta(min_length=1)]
    short_description: Text
    full_description: Text
    help: Text
    default_configuration: Configuration


class Driver(Strict):
    name: str
    version: str
    rules: list[Rule]


class Tool(Strict):
    driver: Driver


class Automation(Strict):
    id: str


class Base(Strict):
    description: Text


class ArtifactLocation(Strict):
    uri: Uri
    uri_base_id: str
    index: Index | UnsetType = UNSET


class Contents(Strict):
    text: str


class Artifact(Strict):
    location: ArtifactLocation
    contents: Contents
    source_language: str
    mime_type: Annotated[str, Meta(pattern="^[^/]+/.+")]


class Region(Strict):
    start_line: Annotated[int, Meta(ge=1)]


class PhysicalLocation(Strict):
    artifact_location: ArtifactLocation
    region: Region


class Location(Strict):
    physical_location: PhysicalLocation


class Suppression(Strict):
    kind: Literal["inSource", "external"]
    status: Literal["accepted", "underReview", "rejected"]
    justification: str


class Result(Strict):
    rule_id: str
    rule_index: Index
    kind: Literal["notApplicable", "pass", "fail", "review", "open", "informational"]
    level: Level
    message: Text
    locations: list[Location]
    fingerprints: dict[str, str]
    partial_fingerprints: dict[str, str]
    properties: dict[str, Any]
    suppressions: list[Suppression] | UnsetType = UNSET
    work_item_uris: list[Uri] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if (self.kind == "fail") == (self.level == "none"):
            raise ValueError("expected a level exactly where the kind is fail")


class Run(Strict):
    tool: Tool
    automation_details: Automation
    original_uri_base_ids: dict[str, Base]
    artifacts: list[Artifact]
    results: list[Result]

    def __post_init__(self) -> None:
        rules = self.tool.driver.rules
        for result in self.results:
            if rules[result.rule_index].id != result.rule_id:
                raise ValueError(f"expected ruleIndex of ruleId; received {result.rule_index} of {result.rule_id}")
            for place in (each.physical_location.artifact_location for each in result.locations):
                if place.uri_base_id not in self.original_uri_base_ids:
                    raise ValueError(f"expected a known uriBaseId; received {place.uri_base_id}")
                if place.index is not UNSET and self.artifacts[place.index].location.uri != place.uri:
                    raise ValueError(f"expected the index of {place.uri}; received {place.index}")


class Log(Strict):
    schema: Annotated[Uri, Meta()] = msgspec.field(name="$schema")
    version: Literal["2.1.0"]
    runs: list[Run]

"""What was learned from data: weights of the scores, and what a question's signals say about being answered.

In: calibration.json beside this module, or a file of its form learned for another embedding model. Out: a Calibration.
Never: learns; `python -m evals calibrate` does, and writes the file with its provenance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant.errors import InputError, what_is_wrong

SHORT = 4  # tokens: in a word or two the topics say more than the text does
FILE = Path(__file__).with_name("calibration.json")


class Fusion(BaseModel):
    """Weights of a family's scores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    body: float
    lexical: float
    topic: float


class Calibration(BaseModel):
    """The learned numbers.

    Args:
        provenance: what they were learned from, when and how well they did, in words.
        fusion, short_fusion: for questions of more than SHORT tokens, and for the others.
        confidence: weight of each signal in the logistic model, `bias` included.
        answered, related: least probability for each outcome.
        close: a further passage joins the answer when its score is within this of the best.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    provenance: str
    fusion: Fusion
    short_fusion: Fusion
    confidence: dict[str, float]
    answered: float = Field(ge=0, le=1)
    related: float = Field(ge=0, le=1)
    close: float = Field(ge=0)

    def fusion_for(self, tokens: int) -> Fusion:
        """The weights for a question of so many tokens."""
        return self.fusion if tokens > SHORT else self.short_fusion

    def probability(self, signals: Mapping[str, float]) -> float:
        """The probability that the articles answer, by logistic regression on the signals."""
        total = self.confidence["bias"] + sum(
            weight * signals[name] for name, weight in self.confidence.items() if name != "bias"
        )
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def calibration_file(home: Path, model: str) -> Path:
    """Where the calibration learned for an embedding model other than the bundled one is kept."""
    return home / "models" / f"calibration-{sha256(model.encode()).hexdigest()[:16]}.json"


def find_calibration(home: Path, model: str) -> Calibration:
    """The calibration learned for a model, by its name; the bundled model's where none was learned.

    Raises:
        InputError: the file is malformed.
    """
    own = calibration_file(home, model)
    return read_calibration(own if own.exists() else FILE)


def read_calibration(file: Path = FILE) -> Calibration:
    """The calibration in a file.

    Raises:
        InputError: the file is missing or malformed.
    """
    try:
        return Calibration.model_validate_json(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: can't be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{file}: {'.'.join(map(str, first['loc']))}: {what_is_wrong(first)}") from None

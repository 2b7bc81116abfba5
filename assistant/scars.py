"""What a text shows by itself to be wrong: said twice, in another language, a word or letter of another language in it.

In: a place, the same place in its translations, the article's words. Out: Findings.
Never: judges what the text means, or calls a name or a word that the translations keep a stray one.

How common a word is in a language says wordfreq (Speer 2022, doi:10.5281/zenodo.7199437): Zipf values, the logarithm of
occurrences in a billion words. The thresholds were set on the clean corpus and on evals/drifts/*/tuning.yaml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import regex

from assistant.language import ADDRESS, LATIN_WORD, Detector, language_name, script_of
from assistant.ledger import Finding, Place
from assistant.senses import fold, read_senses
from assistant.spelling import HAN, fold_accents, is_other_spelling

COMMON, MUCH_COMMONER = 3.3, 1.8  # Zipf: of a stray word in its own language, and how much more than where it stands
EVERYDAY = 4.0  # Zipf: of an English word that is no term (`token` has 3.4)
LOANED = 3  # times in an article from which on a word is taken to be at home there
LEAST_LETTERS = 3
LONG_ENOUGH, SURE_WORDS = 40, 5  # letters, and words of Latin script, from which on a block's language is told
KANA_SHARE = 0.2  # of the letters of a Japanese text at least
FOREIGN_SHARE = 0.6  # of a block's letters in another script
SPACED_TWICE = regex.compile(r"(?<!\S)(\S+(?:[ \t]+\S+){0,8})[ \t]+\1(?![\p{L}\p{M}\p{N}])", regex.IGNORECASE)
JOINED_TWICE = regex.compile(r"([^\s|]{3,40}?)\1")
PAIR_TWICE = regex.compile(r"(\p{Han}{2})\1")
REDUPLICATED = regex.compile(r"[\p{Hiragana}]{3,4}|(?:[一二三四五六七八九十\d]\S{1,2})|\d+")
JOINED_SCRIPTS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
LETTER = regex.compile(r"\p{L}")
# A host's labels have at most 63 signs; without a bound, dots and hyphens would take time of their square.
ADDRESSES = regex.compile(r"(?<![A-Za-z0-9@])(?:[A-Za-z0-9-]{2,63}+\.){1,20}[A-Za-z]{2,}(?:/[!-~]*)?")
SCRIPTS = {
    "Han": r"\p{Han}", "Kana": r"[\p{Hiragana}\p{Katakana}]", "Hangul": r"\p{Hangul}", "Cyrillic": r"\p{Cyrillic}",
    "Arabic": r"\p{Arabic}", "Devanagari": r"\p{Devanagari}", "Greek": r"[\p{Greek}--[µμΩπΔ]]",
}  # fmt: skip
OWN_SCRIPTS = {
    "Hans": {"Han"}, "Hant": {"Han"}, "Jpan": {"Han", "Kana"}, "Kore": {"Hangul", "Han"}, "Cyrl": {"Cyrillic"},
    "Arab": {"Arabic"}, "Deva": {"Devanagari"}, "Grek": {"Greek"},
}  # fmt: skip
CHARACTER_SETS = {"Hans": "gb2312", "Jpan": "cp932"}  # what the language writes is in its old character set
FOREIGN = {name: regex.compile(rf"{letters}+", regex.V1) for name, letters in SCRIPTS.items()}


def find_scars(place: Place, siblings: Sequence[Place], words: Counter[str], detector: Detector) -> list[Finding]:
    """What is wrong with one text.

    Args:
        siblings: the same place in the other languages.
        words: the article's Latin words in lower case, counted.
    """
    found = _other_language(place, siblings, detector)
    if found:
        return [found]  # every word of it would be a stray one
    return [*_letters(place, siblings), *_words(place, siblings, words), *find_repeats(place, siblings)]


def count_words(source: str) -> Counter[str]:
    """The Latin words of an article in lower case."""
    return Counter(word.lower() for word in LATIN_WORD.findall(source))


def _other_language(place: Place, siblings: Sequence[Place], detector: Detector) -> Finding | None:
    text = ADDRESS.sub(" ", ADDRESSES.sub(" ", place.text))
    letters = LETTER.findall(text)
    plain = [word for word in LATIN_WORD.findall(text) if word.islower()]
    own_script = script_of(place.language)
    kana = sum(map(len, FOREIGN["Kana"].findall(text)))
    if own_script in ("Hans", "Hant") and 0 < kana < KANA_SHARE * len(letters):
        return None  # a stray kana in Chinese makes it no Japanese
    latin = sum(len(word) for word in LATIN_WORD.findall(text))
    is_foreign_script = own_script != "Latn" and latin >= FOREIGN_SHARE * len(letters) and len(plain) >= SURE_WORDS
    if not is_foreign_script and len(letters) < (LONG_ENOUGH if latin * 2 > len(letters) else LONG_ENOUGH // 3):
        return None
    names = {word.lower() for word in LATIN_WORD.findall(" ".join(one.text for one in siblings))} - set(plain)
    detected = detector.detect(text, [place.language], names)
    chinese = {"zh-Hans", "zh-Hant"}
    if detected.language == place.language or not detected.certain or {detected.language, place.language} == chinese:
        return None
    if own_script == "Latn" and latin * 2 > len(letters) and len(plain) < SURE_WORDS:
        return None
    original = next((one for one in siblings if one.language == detected.language), None)
    name, own = language_name(detected.language, "en"), language_name(place.language, "en")
    return Finding("language", place, "", f"this text is {name} in a {own} article; translate it", original)


def _letters(place: Place, siblings: Sequence[Place]) -> Iterator[Finding]:
    """Letters of a script that the language is not written in; Chinese characters of the other spelling."""
    script = script_of(place.language)
    own = OWN_SCRIPTS.get(script, set())
    kept = " ".join(one.text for one in siblings if script_of(one.language) not in OWN_SCRIPTS)
    for name, pattern in FOREIGN.items():
        for run in pattern.finditer(place.text) if name not in own else ():
            if run.group() not in kept:
                reason = f"`{run.group()}` is {name}, which {language_name(place.language, 'en')} is not written in"
                yield Finding("word", place, run.group(), f"{reason}; translate or remove it")
    if script in CHARACTER_SETS:
        for character in dict.fromkeys(HAN.findall(place.text)):
            if is_other_spelling(character, CHARACTER_SETS[script]):
                reason = f"`{character}` is not how {language_name(place.language, 'en')} writes this character"
                yield Finding("word", place, character, f"{reason}; write the language's own form")


def _words(place: Place, siblings: Sequence[Place], words: Counter[str]) -> Iterator[Finding]:
    """Latin words of another language."""
    plain = ADDRESS.sub(" ", ADDRESSES.sub(" ", place.text))
    script = script_of(place.language)
    told = [fold_accents(one.text) for one in siblings if script_of(one.language) == "Latn"]
    others = [one.language for one in siblings if script_of(one.language) == "Latn"] or ["en"]
    for word in dict.fromkeys(word for word in LATIN_WORD.findall(plain) if word.islower()):
        stem = fold_accents(word).removesuffix("s")
        if len(word) < LEAST_LETTERS or words[word] >= LOANED:
            continue
        if script != "Latn":
            kept = sum(stem in text for text in told)
            if kept < 2 and _zipf(word, "en") >= EVERYDAY:
                yield _stray(place, word, "it is an everyday English word")
            elif siblings and not kept:
                yield _stray(place, word, "no translation has it")
            continue
        source = next((code for code in {*others, "en"} - {place.language} if _is_from(word, code, place.language)), "")
        if source:
            yield _stray(place, word, f"it is a word of {language_name(source, 'en')}")


def _stray(place: Place, word: str, why: str) -> Finding:
    own = language_name(place.language, "en")
    return Finding("word", place, word, f"`{word}` stands in {own} text, and {why}; translate it")


def _is_from(word: str, source: str, own: str) -> bool:
    if not {_code(source), _code(own)} <= _counted():
        return False
    common = _zipf(word, source)
    at_home = max(_zipf(word, own), _zipf(word.removesuffix("s"), own))  # `produces` is Spanish, too
    return common >= COMMON and common - at_home >= MUCH_COMMONER


@cache
def _zipf(word: str, code: str) -> float:
    from wordfreq import zipf_frequency  # loaded at the first need: it takes a tenth of a server's start

    return float(zipf_frequency(word, _code(code)))


@cache
def _counted() -> frozenset[str]:
    """Languages whose words were counted."""
    from wordfreq import available_languages

    return frozenset(available_languages())


def _code(code: str) -> str:
    return code.partition("-")[0]


def find_repeats(place: Place, siblings: Sequence[Place]) -> Iterator[Finding]:
    """A phrase that stands twice in a row."""
    allowed = read_senses(place.language)
    harmless = {fold(term) for term in allowed.doubles} if allowed else set()
    if JOINED_SCRIPTS.search(place.text):
        runs = [*JOINED_TWICE.finditer(place.text), *PAIR_TWICE.finditer(place.text)]
    else:
        runs = list(SPACED_TWICE.finditer(place.text))
    for run in runs:
        phrase = run.group(1)
        is_word = (
            len(LETTER.findall(phrase)) >= 2 and not REDUPLICATED.fullmatch(phrase) and fold(phrase) not in harmless
        )
        if is_word and not any(one.text.count(run.group()) for one in siblings):
            yield Finding("repeat", place, phrase, f"`{phrase}` stands twice in a row; remove one of them")

"""What a message is besides a question: social words, commands for a language, choices, words that point back.

In: a text and the phrases of all languages. Out: an intent, the text without its pleasantries, a wanted language, the
option chosen, whether it leans on history. Never: knows a phrase of its own, or takes away a word that asks something.

Phrases are compared by what would be heard: case, accents, width, punctuation and repeated letters do not count, so
that `HELLOOO!!`, `ありがと〜` and `谢谢啦` are heard. A whole message must be made of phrases and fillers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache

import regex

from assistant.language import language_name
from assistant.records import Intent
from assistant.spelling import fold_accents
from assistant.spoken import DENSE, NOT_SPOKEN, beside, holds, is_slip, plain, spoken, spoken_phrase, without
from assistant.wording import LANGUAGE, Wordings

KINDS: dict[str, Intent] = {
    "feedback": "feedback",
    "small_talk": "small_talk",
    "thanks": "thanks",
    "greetings": "greeting",
}  # the strongest first: "hi, are you a bot?" is small talk
LONGEST = 80  # letters: what is longer says more than a pleasantry
REMEMBERED = 2000  # short texts
TYPO_LETTERS = 5  # a word this long may be one slip away from a phrase
CLAUSE = regex.compile(r"[,.!?;:，。！？；：、…~〜～\n،؛؟।|]+\s*|\s+[—–-]+\s+")
TRAIL, TRAILING = "…", 8  # what stands only at the end of a text, of so many letters at most
# Where a text goes over to a script with cases (Latin, Greek, Cyrillic), or from it to one without.
SWITCH = regex.compile(r"(?<=\p{Lo})\P{L}*(?=[\p{Lu}\p{Ll}])|(?<=[\p{Lu}\p{Ll}])\P{L}*(?=\p{Lo})")
AROUND = " ,，、:：;；.。\n"
BLANK = "\ue000"  # stands for a language's name while patterns are compared
LETTERS = regex.compile(r"[\p{L}\p{N}]")


class Hearing:
    """Hears phrases of all languages; built once, safe to share."""

    def __init__(self, wordings: Wordings) -> None:
        self.wordings = wordings

    def heard(self, text: str, known: Mapping[str, Collection[str]] | None = None) -> dict[str, Intent]:
        """Language -> intent, for each language in which the whole text is social.

        Args:
            known: language -> words of its articles: never taken for a misspelt phrase.
        """
        heard = spoken(text)
        if not heard or len(heard) > LONGEST:
            return {}
        found = self._covered(heard)
        if (
            found
            or " " in heard
            or len(heard) < TYPO_LETTERS
            or any(heard in words for words in (known or {}).values())
        ):
            return found
        return {
            language: KINDS[name]
            for language, phrases in self._phrases.items()
            for phrase, name in phrases.items()
            if name in ("greetings", "thanks") and len(phrase) >= TYPO_LETTERS and is_slip(heard, phrase)
        }

    def wants_person(self, text: str) -> list[str]:
        """Languages in which the text asks for a person."""
        said = spoken(text)
        return [language for language, phrases in self._persons.items() if holds(said, phrases)]

    def only_agrees(self, text: str) -> list[str]:
        """Languages in which the text is a yes or a no, which asks nothing."""
        return [code for code, wording in self.wordings.by_language.items() if wording.opens.is_all_of(text)]

    def peel(self, text: str, language: str) -> str:
        """The text without a greeting or thanks before or after; as it is where nothing would be left."""
        for _ in range(2):
            parts = [(found.start(), found.end()) for found in CLAUSE.finditer(text)]
            for start, end in (*parts[:1], *parts[-1:]):
                head, tail = text[:start], text[end:]
                if LETTERS.search(tail) and self._is_pleasant(head):
                    text = tail
                    break
                if LETTERS.search(head) and LETTERS.search(tail) and self._is_pleasant(tail):
                    text = text[:end].strip()
                    break
            else:
                break
        words = text.split(" ")
        for count in range(min(4, len(words) - 2), 0, -1):
            opening = " ".join(words[:count])
            if not DENSE.search(opening) and self.heard(opening).get(language) in ("greeting", "thanks"):
                return " ".join(words[count:])
        return text

    def instruction(self, text: str, readers: Sequence[str]) -> tuple[str, str]:
        """(wanted language of replies, the text without the command), or ("", text).

        Args:
            readers: the languages in which the command may be written.
        """
        known = tuple(dict.fromkeys(self.wordings.nearest(reader).language for reader in readers))
        switches = list(SWITCH.finditer(text))
        for switch in (*switches[:1], *switches[-1:]):  # 多少钱 in English please: the command is in words of its own
            head, tail = text[: switch.end()], text[switch.start() :]
            for command, rest in ((head, tail), (tail, head)):
                if wanted := self._command(plain(command), self.wordings.languages, whole=True):
                    return wanted[0], rest.strip(AROUND)
        folded = plain(text)
        if not any(name in folded for reader in known for name in self._names(reader)):
            return "", text
        cuts = [0, *(end for found in CLAUSE.finditer(text) for end in found.span()), len(text)]
        clauses = list(zip(cuts[::2], cuts[1::2], strict=True))
        for start, end in clauses:
            if wanted := self._command(plain(text[start:end]), known, whole=True):
                rest = (text[:start] + text[end:]).strip(AROUND)
                return wanted[0], rest if LETTERS.search(rest) else ""
        found = self._command(folded, known, whole=False)
        return found or ("", text)

    def choice(self, text: str, options: Sequence[str]) -> str:
        """The option that a message chooses by its text, number or place; "" where it chooses none."""
        said = spoken(text)
        for option in options:
            if said and said == spoken(option):
                return option
        digits = "".join(str(unicodedata.digit(sign)) for sign in text if unicodedata.category(sign) == "Nd")
        if digits and not NOT_SPOKEN.sub("", regex.sub(r"\p{Nd}", "", text)):
            return options[int(digits) - 1] if 0 < int(digits[:3]) <= len(options) else ""
        for wording in self.wordings.by_language.values():
            named = [
                *zip(options, wording.hears.ordinals, strict=False),
                *((one, wording.hears.last) for one in options[-1:]),
            ]
            for option, names in named:
                if said in {spoken_phrase(name) for name in names}:
                    return option
        return ""

    def leans(self, text: str, language: str) -> bool:
        """Whether the text points back at what was said before: by a word, or because it goes on ("and …")."""
        nearest, said = self.wordings.nearest(language).language, spoken(text)
        joins = [spoken_phrase(word) for word in self.wordings.by_language[nearest].hears.joins]
        goes_on = any(said.startswith(word if DENSE.search(word) else f"{word} ") for word in joins if word)
        return goes_on or holds(said, self._small_words("leans", language)[0])

    def trails_off(self, text: str, language: str) -> bool:
        """Whether the text is a few letters and a particle that leaves the rest to what was said before."""
        said = spoken(text)
        ends = self._small_words("leans", language)[1]
        return len(said) <= TRAILING and any(said.endswith(end) for end in ends)

    def wants_more(self, text: str, language: str) -> bool:
        """Whether the text says nothing of its own but that there should be more."""
        return self.is_bare(text, language) and holds(spoken(text), self._small_words("more", language)[0])

    def is_bare(self, text: str, language: str) -> bool:
        """Whether the text's own words say nothing of a subject: "any more?", 为什么？, ¿y eso?"""
        said = spoken(text).replace(" ", "\ue000")
        for word in self._bare_words(self.wordings.nearest(language).language):
            said = word.sub("\ue000", said)
        return not said.strip("\ue000")

    def says_nothing(self, text: str, language: str) -> bool:
        """Whether the text does nothing but point back, which asks nothing where nothing was said before."""
        said = spoken(text).replace(" ", "\ue000")
        for word in self._bare_words(self.wordings.nearest(language).language, asks=False):
            said = word.sub("\ue000", said)
        points = self.leans(text, language) or holds(spoken(text), self._small_words("more", language)[0])
        return points and not said.strip("\ue000")

    def _is_pleasant(self, text: str) -> bool:
        return bool({"greeting", "thanks"} & set(self.heard(text).values()))

    @lru_cache(maxsize=REMEMBERED)  # noqa: B019 - one Hearing lives as long as the process
    def _covered(self, heard: str) -> dict[str, Intent]:
        """Language -> intent where its phrases make up all of `heard`; messages of the history come again."""
        return {language: kind for language in self._phrases if (kind := self._cover(heard, language))}

    def _cover(self, heard: str, language: str) -> Intent | None:
        """The strongest kind of the phrases that make up all of `heard`; None where something else is in it."""
        phrases = self._phrases[language]
        compact = heard.replace(" ", "")
        ends, at = set(), 0
        for word in heard.split(" "):
            at += len(word)
            ends.add(at)
        longest = self._longest[language]
        best: dict[int, frozenset[str]] = {0: frozenset()}
        for start in range(len(compact)):
            if start not in best:
                continue
            for end in range(start + 1, min(len(compact), start + longest) + 1):
                kind = phrases.get(compact[start:end])
                if kind and (end in ends or DENSE.match(compact[end])):
                    best[end] = best.get(end, frozenset()) | best[start] | {kind}
        kinds = best.get(len(compact), frozenset())
        return next((intent for name, intent in KINDS.items() if name in kinds), None)

    def _command(self, text: str, readers: Sequence[str], whole: bool) -> tuple[str, str] | None:
        """(wanted language, what is left) where the text is, opens or closes with a command for the language."""
        for reader in readers:
            for name, code in self._names(reader).items():
                if name not in text:
                    continue
                bare, said, fillers = self._patterns[reader]
                said_of = text.replace(name, BLANK, 1)
                template = without(said_of, fillers)
                if whole and (template in bare or said_of in bare):  # "please" belongs to some of the patterns
                    return code, ""
                rest = None if whole else beside(template, said)
                if rest is not None:
                    return code, rest
        return None

    @cached_property
    def _phrases(self) -> dict[str, dict[str, str]]:
        table: dict[str, dict[str, str]] = {}
        for language, wording in self.wordings.by_language.items():
            own = table[language] = {}
            for name in (*KINDS, "fillers"):
                for phrase in getattr(wording.hears, name):
                    if key := spoken(phrase).replace(" ", ""):
                        own.setdefault(key, name)
        return table

    @cached_property
    def _longest(self) -> dict[str, int]:
        return {language: max(map(len, phrases)) for language, phrases in self._phrases.items()}

    @cached_property
    def _persons(self) -> dict[str, list[str]]:
        return {
            code: [spoken(phrase) for phrase in (*wording.hears.person, wording.widget.talk_to_person)]
            for code, wording in self.wordings.by_language.items()
        }

    @cache  # noqa: B019 - one Hearing lives as long as the process
    def _small_words(self, name: str, language: str) -> tuple[list[str], list[str]]:
        """The phrases of one key as they are heard: those that may stand anywhere, and those only at the end."""
        phrases: list[str] = getattr(self.wordings.nearest(language).hears, name)
        ends = [phrase for phrase in phrases if phrase.startswith(TRAIL)]
        return [spoken(phrase) for phrase in phrases if phrase not in ends], [spoken(phrase) for phrase in ends]

    @cache  # noqa: B019 - one Hearing lives as long as the process
    def _bare_words(self, language: str, asks: bool = True) -> list[regex.Pattern[str]]:
        """The words that say nothing of a subject, the longest first, in a text whose spaces are U+E000."""
        hears = self.wordings.by_language[language].hears
        phrases = (*hears.leans, *hears.more, *hears.fillers, *((*hears.asks, *hears.joins) if asks else ()))
        words = {spoken(phrase).replace(" ", "\ue000") for phrase in phrases} - {""}
        patterns = []
        for word in sorted(words, key=len, reverse=True):
            before, after = ("", "") if DENSE.search(word) else ("(?:^|(?<=\ue000))", "(?:$|(?=\ue000))")
            patterns.append(regex.compile(before + regex.escape(word) + after))
        return patterns

    @cache  # noqa: B019 - one Hearing lives as long as the process
    def _names(self, reader: str) -> dict[str, str]:
        """What languages are called -> code, the longest names first: by the reader, by themselves, and otherwise."""
        names = {plain(name): code for name, code in self.wordings.by_language[reader].hears.called.items()}
        for code in (reader, *self.wordings.languages):
            for name in (language_name(code, reader), language_name(code, code)):
                names.setdefault(plain(name), code)
                names.setdefault(plain(fold_accents(name)), code)
        return dict(sorted(names.items(), key=lambda item: -len(item[0])))

    @cached_property
    def _patterns(self) -> dict[str, tuple[frozenset[str], list[str], list[str]]]:
        """Reader -> patterns that make a whole clause, commands that may stand beside a question, fillers."""
        table = {}
        for reader, wording in self.wordings.by_language.items():
            hears = wording.hears
            said = [plain(pattern.replace(LANGUAGE, BLANK)) for pattern in hears.answer_in]
            bare = {plain(pattern.replace(LANGUAGE, BLANK)) for pattern in hears.in_language}
            table[reader] = (frozenset({*bare, *said}), said, [plain(word) for word in hears.fillers])
        return table

"""The wordings: every language's file says the same things, and a broken file is named."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import regex
import yaml

from assistant.errors import InputError
from assistant.wording import FOLDER, Wordings

LANGUAGES = Wordings().languages

# Language -> forms that address somebody familiarly, and formally, in its own words.
FAMILIAR = {
    "de": r"\b(?:du|dich|dir|dein\w*|euch|euer|schreib)\b",
    "es": r"\b(?:tú|te|tu|tus|ti|contigo|puedes|quieres|tienes)\b|\b(?:escríbe|prueba|pregúnta|inténta)\w*",
    "fr": r"\b(?:tu|te|toi|tes|ta)\b|\bt['’]",
    "it": r"\b(?:tu|ti|te|tuo|tua|tuoi|tue|scrivici|riprova|prova)\b",
    "pt": r"\b(?:tu|te|ti|teu|tua|teus|tuas|contigo)\b",
    "ru": r"\b(?:ты|тебя|тебе|твой|твоя|твоё|твои|напиши|попробуй)\b",
    "zh-Hans": r"你(?!们都)",
    "zh-Hant": r"[你妳](?!們都)",
}
FORMAL = {
    "de": r"\b(?:Ihnen|Ihre?[nmrs]?)\b|(?<!^)(?<!\. )\bSie\b",
    "es": r"\busted(?:es)?\b|\b(?:ponga|haga|pida|espere|revise|copie|elija|podrá|sustituya|reciba|dude)\b"
    r"|\b(?:inténtelo|cópiela|cópielo|escríbanos|pruébelo|ayudarle)\b|\b(?:ponerse|le queda|vuelva a)\b|\bsu consulta\b"
    r"|\bsu (?:pregunta|comentario|turno|sitio|propio|cuenta|sesión|texto|conexión)\b",
    "it": r"\b(?:Lei|Suo|Sua|Suoi|Sue|La ringraziamo)\b",
    "zh-Hans": "您",
    "zh-Hant": "您",
}
VOICE = {"es": FORMAL, "it": FORMAL} | dict.fromkeys(("de", "fr", "pt", "ru", "zh-Hans", "zh-Hant"), FAMILIAR)
HEARD = ("hears", "tells", "fallback")  # what customers write, in any register
TONES = (
    "greeting_formal",
    "greeting_friendly",
    "greeting_brief",
    "closing_formal",
    "closing_friendly",
    "closing_brief",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the files, to be broken."""
    return Path(shutil.copytree(FOLDER, tmp_path / "phrases"))


def flatten(values: object, at: str = "") -> set[str]:
    """The dotted names of all keys."""
    if not isinstance(values, dict):
        return {at}
    return {name for key, value in values.items() for name in flatten(value, f"{at}.{key}")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_have_the_same_keys(language: str) -> None:
    """Every file has exactly English's keys (names of languages differ), and no two languages share an abstention."""
    english, own = (yaml.safe_load((FOLDER / f"{code}.yaml").read_text("utf-8")) for code in ("en", language))
    for file in (english, own):
        file["hears"]["called"] = sorted(file["hears"]["called"])  # its keys are words, not names of ours
    assert flatten(own) == flatten(english)
    assert [wording.abstained for wording in Wordings().by_language.values()].count(own["abstained"]) == 1


def said(values: object) -> Iterator[str]:
    """All texts of a file."""
    if isinstance(values, str):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from said(value)


@pytest.mark.parametrize("language", VOICE)
def test_one_register_speaks(language: str) -> None:
    """Whatever the assistant and the staff desk say in their own voice addresses the reader in one register; replies to
    customers have the one of their tone, and only they."""
    file = yaml.safe_load((FOLDER / f"{language}.yaml").read_text("utf-8"))
    ticket = file["ticket"]
    own = {name: text for name, text in ticket.items() if name not in TONES and isinstance(text, str)}
    rest = {name: part for name, part in file.items() if name not in (*HEARD, "ticket")}
    assert [text for text in said(own | rest) if regex.search(VOICE[language][language], text)] == []
    for tone, other in (("formal", FAMILIAR), ("friendly", FORMAL)):
        for name in (f"greeting_{tone}", f"closing_{tone}"):
            assert not regex.search(other.get(language, "(?!)"), ticket[name]), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_can_be_filled(language: str) -> None:
    """The texts with a placeholder take a value and keep no brace."""
    wording = Wordings().by_language[language]
    filled = [wording.quoted_from.format(language="日本語"), wording.interface.too_long.format(limit=5)]
    assert "日本語" in filled[0]
    assert "5" in filled[1]
    assert not any(brace in text for text in filled for brace in "{}")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("abstained:", "abstaind:", "abstained"),
        ('send: "', 'send: "" #', "interface.send"),
        ("{language}", "{languag}", "quoted_from"),
        ("{limit}", "", "too_long"),
        ('greeting: "', 'greeting: "{name} ', "greeting"),
        ('thanks: "', 'thanks: "{', "thanks"),
        ('fallback: ["', 'fallback: ["xx", "', "xx"),
        ("hears:", "hears: [", "YAML"),
        ("greetings: [", "greetings: [] #", "hears.greetings"),
        ("abstained:", "extra: 1\nabstained:", "extra"),
        ("  share:", "  shar:", "slack.shar"),
        ("  share:", "  more: 'a'\n  share:", "slack.more"),
        ("  cut: ", "  cut: '' #", "slack.cut"),
        ("{command}", "{comand}", "slack.usage"),
        ("{command}", "{command", "slack.usage"),
        ("  sign_out:", "  sign_aut:", "staff.sign_aut: is unknown"),
        ('  sign_out: "', '  other: "x"\n  sign_out: "', "staff.other: is unknown"),
        ("  wrong_token:", "  #", "staff.wrong_token: is missing"),
        ('  sign_out: "', '  sign_out: "{name} ', "staff.sign_out must hold no placeholder"),
        ('  sign_out: "', '  sign_out: "" #', "staff.sign_out"),
    ],
    ids=[
        "missing key",
        "empty text",
        "wrong placeholder",
        "lost placeholder",
        "stray placeholder",
        "open brace",
        "unknown fallback",
        "no YAML",
        "nothing heard",
        "extra key",
        "missing key of a section",
        "extra key of a section",
        "empty text of a section",
        "wrong placeholder of a section",
        "open brace of a section",
        "misspelt in a section",
        "extra in a section",
        "missing in a section",
        "stray placeholder in a section",
        "empty in a section",
    ],
)
@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es"])
def test_a_broken_file_is_named(folder: Path, language: str, old: str, new: str, named: str) -> None:
    """The error names the file and what is wrong in it, in one line."""
    path = folder / f"{language}.yaml"
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(InputError) as caught:
        Wordings(folder)
    assert str(path) in str(caught.value)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("es.yaml", b""),
        ("es.yaml", b"- a\n"),
        ("es.yaml", b"\xff\xfe"),
        ("es.yaml", b"a: 'b"),
        ("zh.yaml", b"a: 1"),
        ("ES.yaml", b"a: 1"),
    ],
    ids=["empty", "list", "not UTF-8", "open quote", "not a canonical name", "upper case"],
)
def test_what_is_no_wording_is_named(folder: Path, name: str, content: bytes) -> None:
    """A file that holds something else, or has another name than its language's code, is refused by name."""
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        Wordings(folder)


def test_english_is_needed(folder: Path) -> None:
    """Without the language that everything falls back to, nothing starts."""
    (folder / "en.yaml").unlink()
    with pytest.raises(InputError, match=r"en\.yaml is missing"):
        Wordings(folder)


@pytest.mark.parametrize(
    ("code", "nearest", "chain"),
    [
        ("zh-TW", "zh-Hant", ("zh-Hant", "zh-Hans", "en")),
        ("zh", "zh-Hans", ("zh-Hans", "zh-Hant", "en")),
        ("ja", "ja", ("ja", "en")),
        ("es-MX", "es", ("es", "en")),
        ("pt-BR", "pt", ("pt", "es", "en")),
        ("nl", "en", ("nl", "en")),
        ("en", "en", ("en",)),
    ],
)
def test_fallbacks_end_in_english(code: str, nearest: str, chain: tuple[str, ...]) -> None:
    """A language is spoken as it is or as English; passages are looked for along its declared chain."""
    wordings = Wordings()
    assert wordings.nearest(code).language == nearest
    assert wordings.chain(code) == chain


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_stands_twice(language: str) -> None:
    """YAML keeps a repeated key's last value silently, so no file may repeat one."""

    def repeated(node: yaml.Node | None) -> list[str]:
        if not isinstance(node, yaml.MappingNode):
            return []
        names = [key.value for key, _ in node.value]
        own = [name for name in names if names.count(name) > 1]
        return own + [name for _, value in node.value for name in repeated(value)]

    assert repeated(yaml.compose((FOLDER / f"{language}.yaml").read_text("utf-8"))) == []

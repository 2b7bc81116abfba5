"""The command line: `assistant ingest | ask | serve | slack | staff | check`.

In: arguments, files, stdin. Out: answers, JSON lines or a report on stdout; errors and progress on stderr.
Never: shows a traceback, imports a model or the web framework before a command needs it, or writes anything but UTF-8.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.errors import AssistantError, InputError, OutputLost
from assistant.slack_commands import NO_SLACK, slack_app
from assistant.staff_commands import staff
from assistant.streams import give_up_output, leave_at_once, ready_streams, say_what_failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from assistant.records import Answer
    from assistant.settings import Settings
    from assistant.store import Store
    from assistant.surfaces.backend import Answers

FAILED, MISUSED, INTERRUPTED = 1, 2, 130
WIDE = 1_000_000  # columns of what is no terminal: nothing is wrapped there
app = typer.Typer(name="assistant", add_completion=False, pretty_exceptions_enable=False)
app.add_typer(slack_app)
app.add_typer(staff)
Paths = Annotated[list[Path] | None, typer.Argument(help="files or folders; the corpus where none is named")]
Json = Annotated[bool, typer.Option("--json", help="machine-readable output")]


def main() -> None:
    """The entry point: runs a command and turns what goes wrong into one line and an exit code."""
    if sys.getfilesystemencoding() != "utf-8":  # arguments and file names are UTF-8, whatever the locale says
        os.execv(sys.executable, [sys.executable, "-X", "utf8", "-m", "assistant", *sys.argv[1:]])  # noqa: S606 - itself
    try:
        ready_streams()
        code = app(standalone_mode=False, prog_name="assistant")
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()  # the reader has gone; nothing more can be said
        code = FAILED
    except OSError as error:
        code = _complain(say_what_failed(error), FAILED)
    except OutputLost as error:
        give_up_output()
        code = _complain(str(error), FAILED)
    except AssistantError as error:
        code = _complain(str(error), MISUSED if isinstance(error, InputError) else FAILED)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except typer.TyperException as error:
        code = _complain(_misuse(error), error.exit_code)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        what = f"{type(error).__name__}: {error}"
        code = _complain(f"something unexpected broke ({what}); run `python -X dev -m assistant` to see where", FAILED)
    if code:
        leave_at_once(code)  # what still works or waits in other threads can be cut off anywhere
    sys.exit(0)


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="show the version")] = False
) -> None:
    """Answers questions in the asker's language from help articles, with the passages the answer rests on."""
    if version:
        from importlib import metadata

        typer.echo(f"assistant {metadata.version('multilingual-faq-assistant')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        raise InputError("no command given; see `assistant --help`")


@app.command()
def ingest(
    paths: Paths = None,
    language: Annotated[str, typer.Option(help="language of all these files, whatever they say")] = "",
    prune: Annotated[bool, typer.Option(help="remove every file that is not named from the index")] = False,
    rebuild: Annotated[bool, typer.Option(help="embed everything again, for another model if need be")] = False,
) -> None:
    """Read, check and index article files; what did not change costs nothing."""
    from assistant import bootstrap
    from assistant.surfaces.progress import Progress

    settings = _settings()
    with Progress() as report:
        parts = bootstrap.build_parts(settings, report)
        done = bootstrap.ingest(parts, paths or [settings.corpus], report, language, prune, rebuild)
    typer.echo(
        f"{done.added} added, {done.changed} changed, {done.unchanged} unchanged, {done.removed} removed; "
        f"{done.passages} passages in the index, {done.embedded} texts embedded"
    )


@app.command()
def ask(
    text: Annotated[str, typer.Argument(help="the question, in any language")] = "",
    batch: Annotated[str, typer.Option(help="a JSON Lines file of questions, or - for stdin")] = "",
    as_json: Json = False,
    language: Annotated[str, typer.Option(help="the page's language: decides where the question's is unclear")] = "",
) -> None:
    """Answer one question, or a file of questions, each a JSON line {"id", "text", "history", "page_language"}."""
    if bool(text) == bool(batch):
        raise InputError("give either a question or --batch FILE")
    from assistant import bootstrap
    from assistant.language import is_language
    from assistant.surfaces.progress import Progress

    if language and not is_language(language):
        raise InputError(f"--language {language}: is no language code; give one such as en, ja or zh-Hans")
    if batch:
        from assistant.surfaces.batch import answer_rows, open_rows

        with open_rows(batch) as rows:
            with Progress() as report:
                assistant = bootstrap.build(_settings(), report)
            failed = answer_rows(assistant, rows, _write_json)
        raise typer.Exit(FAILED if failed else 0)
    import asyncio

    from assistant.surfaces.backend import whole_answer
    from assistant.understand import check_message

    settings = _settings()
    expected = check_message(text, settings.message_limit)  # before anything is loaded for it
    with Progress() as report:
        assistant = bootstrap.build(settings, report, expected=expected)
    _show(asyncio.run(whole_answer(assistant.ask(text, page_language=language))), as_json)
    leave_at_once()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
) -> None:
    """Serve the web API and the page to try it."""
    from assistant import bootstrap
    from assistant.surfaces.backend import begin

    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = _settings(**given)
    load = begin(_loader(settings))  # the models load while the web's modules do
    from assistant.surfaces import web

    store = bootstrap.open_store(settings)
    courier = bootstrap.open_courier(settings, store)
    web.serve(load, settings, _announcer(settings, store), store, courier)


@slack_app.callback(invoke_without_command=True)
def slack(context: typer.Context) -> None:
    """Answer in Slack over Socket Mode, without a public address."""
    if context.invoked_subcommand is not None:
        return
    from assistant import bootstrap

    settings = _settings()
    try:
        from assistant.surfaces.slack.socket_mode import run_socket_mode
    except ImportError as error:
        raise InputError(NO_SLACK.format(reason=error)) from None
    from assistant.surfaces.web import log_as_json

    log_as_json()
    store = bootstrap.open_store(settings)
    courier = bootstrap.open_courier(settings, store)
    run_socket_mode(_loader(settings), settings, typer.echo, store, courier)


@app.command()
def check(
    paths: Paths = None,
    as_json: Json = False,
    allow: Annotated[Path | None, typer.Option(help="a YAML list of differences that are meant, with reasons")] = None,
) -> None:
    """Read, check and compare article files without touching the index; exit code 1 where anything is found."""
    from assistant.surfaces.check import check_files, finding_line

    settings = _settings()
    report = check_files(paths or [settings.corpus], settings.file_limit_mb, allow)
    if as_json:
        _write_json(report.as_json())
    else:
        for problem in report.problems:
            typer.echo(problem)
        for finding in report.findings:
            typer.echo(finding_line(finding))
        typer.echo(f"{report.files} files checked, {len(report.problems)} with problems")
        if report.findings or report.allowed:
            typer.echo(f"{len(report.findings)} findings in their texts, {len(report.allowed)} allowed")
    if not report.is_clean:
        raise typer.Exit(FAILED)


def _settings(**overrides: object) -> Settings:
    from assistant.settings import read_settings

    return read_settings(**overrides)


def _announcer(settings: Settings, store: Store) -> Callable[[str], None]:
    """What says where the server listens, and once, at the very first start, how the first editor signs in."""
    from assistant import bootstrap

    token = None if settings.staff_oidc_issuer else bootstrap.first_token(store)

    def announce(address: str) -> None:
        typer.echo(f"listening on {address}")
        if token:
            typer.echo(f"staff desk: {address}staff, first token, shown only now: {token}")

    return announce


def _loader(settings: Settings) -> Callable[[], Answers]:
    """What builds the assistant of a process that goes on answering."""
    from assistant import bootstrap

    def load() -> Answers:
        from assistant.surfaces.progress import Progress

        with Progress() as report:
            assistant = bootstrap.build(settings, report)
        # every language's model loads now, or the first visitors would wait for theirs
        assistant.detector.detect("no", assistant.detector.languages)
        assistant.suggestions.work_behind()
        return assistant

    return load


def _show(answer: Answer, as_json: bool) -> None:
    if as_json:
        from assistant.surfaces.render import answer_json

        _write_json(answer_json(answer))
        return
    from rich.console import Console

    from assistant.surfaces.render import answer_terminal

    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    with console.capture() as captured:
        console.print(answer_terminal(answer))
    sys.stdout.write(captured.get())


def _write_json(value: object) -> None:
    import json

    typer.echo(json.dumps(value, ensure_ascii=False))


def _misuse(error: typer.TyperException) -> str:
    """What is wrong with the arguments, and where it says what they may be."""
    message = error.format_message().replace("Value error, ", "").rstrip(".")
    command = getattr(getattr(error, "ctx", None), "command_path", "assistant")
    return f"{message}; see `{command} --help`"


def _complain(sentence: str, code: int) -> int:
    with suppress(OSError):  # standard error may be as full as the rest
        typer.echo(f"error: {' '.join(sentence.splitlines())}", err=True)
    return code

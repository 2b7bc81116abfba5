"""The command line's part for setting Slack up: `assistant slack manifest | check`.

In: options, the settings. Out: the manifest or findings on stdout. Never: posts to Slack, shows a token or secret.
"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from assistant.errors import InputError

NO_SLACK = "Slack needs the extra `slack`, of which something is missing ({reason}); see README, Slack"
slack_app = typer.Typer(name="slack")


@slack_app.command()
def manifest(
    url: Annotated[str, typer.Option(help="the server's public https address; without it, for Socket Mode")] = "",
) -> None:
    """Print what creates the app in Slack."""
    from assistant.surfaces.slack.manifest import read_manifest

    typer.echo(read_manifest(url), nl=False)


@slack_app.command()
def check(as_json: Annotated[bool, typer.Option("--json", help="machine-readable output")] = False) -> None:
    """Say what is missing for Slack: tokens, scopes, channel, clock. Posts nothing."""
    from assistant.settings import read_settings

    settings = read_settings()
    try:
        import assistant.surfaces.slack.app  # noqa: F401 - what answering needs must be there too
        from assistant.surfaces.slack.check import check_slack
    except ImportError as error:
        raise InputError(NO_SLACK.format(reason=error)) from None
    findings = check_slack(settings)
    if as_json:
        typer.echo(json.dumps([finding.as_json() for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(finding)
    if not all(finding.is_ok for finding in findings):
        raise typer.Exit(1)

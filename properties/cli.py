"""The command line: how commands are found, how misuse is told, and what ends with which code.

A command is one module of a package of commands, with a click command named `command`; adding a
file adds the command. Owned here: nothing that a command does. See `properties/commands`.
"""

import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence

import click

from properties.exits import Exit, Misuse


class Commands(click.Group):
    """The commands that are the modules of a package."""

    def __init__(self, package: str, program: str, help: str) -> None:
        """Find the commands in this package when they are asked for."""
        super().__init__(name=program, help=help, no_args_is_help=False)
        self.package = package
        self.program = program

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the name of every module of the package, as words on a command line."""
        path = importlib.import_module(self.package).__path__
        return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(path))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command. A module that cannot be imported is not passed over."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{self.package}.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the arguments apart; without any say which commands there are."""
        if not args:
            raise Misuse(f"which command? There are {', '.join(self.list_commands(ctx))}")
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; for an unknown one say which there are."""
        if args and args[0] not in (known := self.list_commands(ctx)) and args[0][:1] != "-":
            raise Misuse(f"no command {args[0]!r}: there are {', '.join(known)}")
        return super().resolve_command(ctx, args)


def run(commands: Commands, arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Every way of ending is here.

    Click's own `main` is not used: it ends with other codes, and not all with one line.
    """
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        with commands.make_context(commands.program, words) as context:
            code = commands.invoke(context)
        sys.stdout.flush()
        return int(code or Exit.FINE)
    except click.exceptions.Exit as end:
        return end.exit_code  # after --help
    except Misuse as misuse:
        return _say(str(misuse), Exit.MISUSE)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", Exit.CRASHED)
    except click.ClickException as error:
        return _say(error.format_message(), Exit.MISUSE)
    except BrokenPipeError:
        # Whoever reads our output has seen enough. Python would complain when it flushes again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FINE
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            return _say(f"{error.filename}: {error.strerror}", Exit.MISUSE)
        # What is left is a fault of ours, and has a code of its own.
        traceback.print_exc()
        return Exit.CRASHED


def _say(why: str, code: Exit) -> Exit:
    """Print one line to standard error, whatever is in it."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in " ".join(why.split()))
    click.echo(line, err=True)
    return code


PROPERTIES = Commands(
    "properties.commands",
    "python -m properties",
    "What must be true of a tier, and what looks for breaks.",
)
"""The commands of `python -m properties`."""

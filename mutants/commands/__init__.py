"""The commands of `python -m mutants`, one module each, found by themselves.

A module has a click command named `command`; its name is the module's, with hyphens. It returns
its exit code (`properties.exits.Exit`) and raises `Misuse` for what the user got wrong.
"""

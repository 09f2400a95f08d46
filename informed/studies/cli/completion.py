"""Scripts that complete the words of the command line, written from its own parser."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "fish", "zsh")


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for a shell."""
    commands = words_of(parser)
    if shell == "fish":
        lines = [f"complete -c informed -n __fish_use_subcommand -a '{' '.join(commands)}'"]
        for command, options in commands.items():
            lines += [
                f"complete -c informed -n '__fish_seen_subcommand_from {command}' -l {option[2:]}"
                for option in options
            ]
        return "\n".join(lines)
    cases = "\n".join(
        f'    {command}) words="{" ".join(options)}" ;;' for command, options in commands.items()
    )
    script = f"""_informed() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{" ".join(commands)} --help --version" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _informed informed"""
    return f"autoload -U bashcompinit && bashcompinit\n{script}" if shell == "zsh" else script


def words_of(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """Return the commands, each with its long options."""
    (commands,) = [
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return {
        name: sorted(
            option
            for action in command._actions
            for option in action.option_strings
            if option.startswith("--")
        )
        for name, command in commands.choices.items()
    }

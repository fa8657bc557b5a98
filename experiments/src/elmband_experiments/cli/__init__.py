"""The commands that elmband has where this is installed, one file each."""

# It loads the commands: whoever comes here first would else find them half loaded.
import elmband.cli  # noqa: F401

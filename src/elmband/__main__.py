"""Makes ``python -m elmband`` the same as ``elmband``."""

from elmband.cli import main

if __name__ == "__main__":
    main()

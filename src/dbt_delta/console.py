"""What the commands of ./run have in common."""

import argparse
import re
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (--\w+): ", r"\1 ", message)
        self.exit(2, f"run: {message}\n")

"""Errors of a run, by the codes of chapter 13."""

# The cause that an abort tells: the network is 1, a user is 2; a party is 0, with all other codes.
CAUSES = {"cannot-listen": 1, "unreachable": 1, "no-secure-connection": 1, "peer-silent": 1,
          "peer-overdue": 1, "peer-overfull": 1, "peer-vanished": 1, "connection-failed": 1,
          "peer-cut-off": 1, "peer-cancelled": 2, "interrupted": 2}


class Fault(Exception):
    """A fault that ends a run, with its code."""

    def __init__(self, text: str, code: str = "own", alert: int | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.alert = alert                      # for the other end of TLS (chapter 2, Checks)

    def __str__(self) -> str:
        return f"{self.code}: {self.args[0]}"


def need(holds: bool, text: str, code: str = "malformed-message", alert: int | None = None) -> None:
    """Raise a fault unless a condition holds."""
    if not holds:
        raise Fault(text, code, alert)

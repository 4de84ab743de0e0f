"""When a signal stops a command at once, and when after the step in work."""

import os
import signal

import pytest
import typer

from kernbrook.cli.output import Stopping
from kernbrook.evaluation.training import Quit

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


def ended(stopping, *numbers):
    """What ends the program at the last of some signals."""
    try:
        with stopping.on_signals("stopped at once"):
            for number in numbers:
                os.kill(os.getpid(), number)
            pytest.fail("went on")
    except typer.Exit as end:
        assert stopping.number == numbers[-1]
        return end


@POSIX
@BOTH
def test_before_the_first_step_at_once(number, capsys):
    stopping, before = Stopping(), signal.getsignal(number)
    end = ended(stopping, number)
    assert end.exit_code == stopping.code == 128 + number
    assert capsys.readouterr().err == "stopped at once\n"
    assert signal.getsignal(number) is before


@POSIX
@BOTH
def test_after_it_when_asked(number, capsys):
    stopping = Stopping()
    with stopping.on_signals("stopped at once"):
        assert not stopping.wanted()
        os.kill(os.getpid(), number)
        assert stopping.wanted()
    assert (stopping.code, capsys.readouterr().err) == (128 + number, "")


@POSIX
def test_the_second_time_at_once():
    stopping = Stopping()
    assert not stopping.wanted()
    assert ended(stopping, signal.SIGTERM, signal.SIGINT).exit_code == 130


@POSIX
def test_a_call_that_waits():
    """A signal in it, or before it, ends the call and nothing else."""
    stopping, done = Stopping(), []

    def struck():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("went on")

    with stopping.on_signals("stopped"):
        assert not stopping.wanted()
        assert stopping.waiting(lambda said: said)("waited") == "waited"
        for _ in range(2):
            with pytest.raises(Quit):
                stopping.waiting(struck)()
        assert stopping.wanted()
    assert (done, stopping.code) == ([], 130)

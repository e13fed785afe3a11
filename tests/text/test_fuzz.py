"""200 generated texts; ``make fuzz`` goes on for longer."""

from tests.text import fuzz


def test_generated_texts():
    assert fuzz.main(["--first", "0", "--cases", "200"]) == 0

JOINERS: str
JOINING_MARKS: str
SENTENCE_ENDS: str
ABBREVIATIONS: frozenset[str]

def character_kind(character: str) -> int: ...

class Tokeniser:
    def __init__(
        self, *, lower: bool = True, keep_numbers: bool = False, line_ends: bool = False
    ) -> None: ...
    def feed(self, text: str, final: bool = False) -> str: ...

def tokenised(text: str, lower: bool = True, keep_numbers: bool = False) -> list[str]: ...

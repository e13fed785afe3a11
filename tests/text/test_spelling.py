import pytest

from densvec.text.spelling import is_inflection

FORMS = """dog dogs|dog dog's|dogs dogs'|fox foxes|try tries|try tried|try trying|stop stopped|stop stopping
bake baked|bake baking|bake bakes|big bigger|big biggest|happy happier|happy happily|quick quickly|Dog dog
walks walking|baked baking|study studies|large larger|late latest"""

OTHERS = (
    """dog cat|car care|cat car|sing single|bus bust|is his|bed bee|thin thing|need needle|sta star|we went"""
)


@pytest.mark.parametrize("pair", FORMS.replace("\n", "|").split("|"))
def test_forms_of_one_word(pair):
    first, second = pair.split()
    assert is_inflection(first, second)
    assert is_inflection(second, first)


@pytest.mark.parametrize("pair", OTHERS.replace("\n", "|").split("|"))
def test_different_words(pair):
    first, second = pair.split()
    assert not is_inflection(first, second)

"""What is read out of sentences, to be compared with figures."""

import re

NUMBER = re.compile(r"(?<![\w.:×/-])\d[\d,]*(?:\.\d+)?(?![\w/]|:\w)")


def numbers(sentence):
    """The numbers of a sentence that stand alone, in order."""
    return [float(each.replace(",", "")) for each in NUMBER.findall(sentence)]

"""Which columns of a file may tell who somebody is: their values appear in no message, comment or log."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

import pandas as pd

from judgebook import codes

#: words of names of columns, without accents, in English, German, French and Spanish
_WORDS = re.compile(
    r"(?:e?mails?|initials?|initialen|surname|nickname|username|phone|telephone|telefon\w*|telefono|tel|mobile|handy|fax"
    r"|ip|ips|ipaddress|address|addresse|adresse|anschrift|direccion|street|strasse|stra\W?e|rue|calle|zip|zipcode|plz"
    r"|postcode|postleitzahl|birth\w*|geburt\w*|id|ids|uid|uuid|guid|pid|nom|prenom|nombre|apellidos?|vorname|nachname"
    r"|annotators?|annotateurs?|raters?|workers?|coders?|judges?|participants?|respondents?|evaluators?|teilnehmer\w*"
    r"|bewerter\w*|latitude|longitude|who|wer|qui|quien)"
)
_NAME = re.compile(r"(?:name|names|namen)")
#: things that have names, too, but are nobody
_THINGS = re.compile(
    r"(?:model|system|sys|bot|chatbot|engine|llm|agent|assistant|file|data|dataset|task|label|metric|batch|config|run|split"
    r"|topic|project|sheet|field|column|method|condition|domain|corpus|language)s?"
)
#: one letter at either end is enough; with more, a long text without blanks would be gone through from each of its own
_MAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@]")
_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{0,4}")
_PHONE = re.compile(r"\+?\(?\d[\d ()/.-]{7,17}\d")
_DATED = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d+[.,]\d+")


def personal(name: str, values: pd.Series | codes.Texts) -> bool:
    """Whether a column may hold e-mail addresses, names, postal or IP addresses, phone numbers or ids.

    name : of the column. values : its cells as text; missing or empty: no value.
    """
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    words = [w for w in re.split(r"[\W_]+", text.replace("e-mail", "email").replace("ß", "ss")) if w]
    if any(_WORDS.fullmatch(w) for w in words):
        return True
    if any(_NAME.fullmatch(w) for w in words) and not any(_THINGS.fullmatch(w) for w in words):
        return True
    held = dict.fromkeys(text for value, n in codes.texts_of(values).n.items() if n and (text := str(value).strip()))
    return any(map(_tells, islice(held, 1000)))


def _tells(value: str) -> bool:
    """Whether a value looks like an e-mail address, an IP address or a phone number."""
    phone = _PHONE.fullmatch(value) and not _DATED.fullmatch(value)
    return bool(_MAIL.search(value) or _ADDRESS.fullmatch(value) or phone)

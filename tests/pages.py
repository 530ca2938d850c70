"""Reading HTML pages in tests."""

import html.parser


class Elements(html.parser.HTMLParser):
    """All elements of a page with their attributes, the text of scripts, and the text a reader sees without a click."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts, self.texts, self._inside = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag in ("script", "style", "details"):
            self._inside.append(tag)

    def handle_endtag(self, tag):
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()

    def handle_data(self, data):
        if self._inside[-1:] == ["script"]:
            self.scripts.append(data)
        elif not self._inside:
            self.texts.append(data)

    def of(self, tag):
        return [attributes for found, attributes in self.found if found == tag]

    def loads(self):
        """Addresses a browser would fetch for the page, without a click."""
        names = ("src", "srcset", "data", "poster", "background", "action")
        asked = [a[n] for _, a in self.found for n in names if a.get(n)]
        asked += [a["href"] for tag, a in self.found if tag != "a" and a.get("href")]
        return [address for address in asked if not address.startswith("data:")]

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

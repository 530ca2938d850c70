// Finds places of the report that have all the words, those with the words in their title first.
{
  const { pages, names, entries } = JSON.parse(document.getElementById("data").textContent);
  const places = entries.map(([page, place, kind, title, text, about]) => {
    const whole = [text, about.map((i) => names[i]).join("; ")].filter(Boolean).join(" \u2013 ");
    return { page: pages[page], place, kind, title, whole, head: title.toLowerCase(), body: whole.toLowerCase(), prose: text.toLowerCase() };
  });
  const [field, count, results] = ["words", "count", "results"].map((id) => document.getElementById(id));
  const first = ["answer", "finding", "term"];
  const shown = 60;

  function score({ kind, head, body, prose, page }, asked) {
    const at = page[1].toLowerCase();
    if (!asked.every((word) => head.includes(word) || body.includes(word) || at.includes(word))) return 0;
    const phrase = asked.join(" ");
    const exact = head === phrase ? 8 : head.includes(phrase) ? 4 : prose.includes(phrase) ? 2 : 0;
    return 1 + exact + asked.filter((word) => head.includes(word)).length + (first.includes(kind) ? 1.5 : 0);
  }
  // Text around the first of the words, with all of them marked.
  function context({ whole, body }, asked) {
    const at = Math.min(...asked.map((word) => body.indexOf(word)).filter((i) => i >= 0), whole.length);
    const from = at < 80 || at === whole.length ? 0 : whole.indexOf(" ", at - 70) + 1;
    const cut = whole.slice(from, from + 220);
    const pattern = asked.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    const parts = cut.split(new RegExp(`(${pattern})`, "i")).map((part, i) => (i % 2 ? make("mark", { textContent: part }) : part));
    return make("p", {}, from ? "\u2026 " : "", ...parts, from + 220 < whole.length ? " \u2026" : "");
  }
  function result(entry, asked) {
    const { page: [name, title], place } = entry;
    const link = make("a", { href: `${name}.html${place === "main" ? "" : `#${encodeURIComponent(place)}`}` }, entry.title);
    const where = make("span", { className: "where" }, ` ${entry.kind}, ${title}`);
    return make("li", {}, link, where, entry.whole ? context(entry, asked) : "");
  }
  function find() {
    const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = asked.length ? places.map((entry) => [score(entry, asked), entry]).filter(([points]) => points) : [];
    found.sort(([a], [b]) => b - a);
    results.replaceChildren(...found.slice(0, shown).map(([, entry]) => result(entry, asked)));
    if (asked.length) count.textContent = `${found.length} ${found.length === 1 ? "place" : "places"}${found.length > shown ? `, the first ${shown} shown` : ""}`;
  }
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => {
    find();
    try { history.replaceState(null, "", `?${new URLSearchParams({ q: field.value })}`); } catch { /* not allowed for files */ }
  });
  field.form.addEventListener("submit", (event) => event.preventDefault());
  // Arrow keys lead from the field to the results and back.
  addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [field, ...all("a", results)];
    const at = stops.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + step))].focus();
  });
  field.focus();
  find();
}

// Two systems are looked up in the tables of all pairs, which say the same without this.
{
  const section = document.getElementById("pairs");
  const texts = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  const parts = section ? all(".part", section).map((part) => {
    const rows = [...part.querySelector(".compared").tBodies[0].rows].map(texts);
    const ranks = all(".ranks tbody tr", part).map(texts);
    return {
      ...part.dataset,
      systems: JSON.parse(part.dataset.systems),
      labels: [...new Set(rows.map(([label]) => label))],
      pairs: new Map(rows.flatMap((row) => [[row.slice(0, 3), row], [[row[0], row[2], row[1]], row]])
        .map(([key, row]) => [JSON.stringify(key), row])),
      ranks: new Map(ranks.map(([system, ...rest]) => [system, rest])),
    };
  }) : [];
  const choice = (options) => {
    const select = make("select", {});
    const offer = (values) => {
      const before = select.value;
      select.replaceChildren(...values.map(([text, value]) => new Option(text, value)));
      if (values.some(([, value]) => value === before)) select.value = before;
    };
    offer(options);
    return [select, offer];
  };
  const named = (names) => names.map((name) => [name, name]);
  const labelled = (part) => (part.labels.length > 1 ? [["all labels", ""]] : []).concat(named(part.labels));

  // What is said of one label, and of all systems together.
  const line = (verdict, ...rest) => make("li", {}, make("strong", { textContent: `${verdict}.` }), ` ${rest.filter(Boolean).join("; ")}.`);
  const known = (text) => text && text !== "\u2013";
  function compared(part, [label, a, b, difference, low, high, p, n, verdict, unit = part.unit]) {
    const interval = known(low) ? ` [${part.ci} ${low}, ${high}]` : "";
    return line(`${label}: ${verdict}`, `${a} \u2212 ${b}: ${difference} ${unit}${interval}`,
      known(p) && `adjusted p ${p.startsWith("<") ? p : `= ${p}`}`, known(n) && `n = ${n} ${part.n}`);
  }
  function ordered(part, systems) {
    const [first, second] = systems.map((system) => part.ranks.get(system)).map((rank, i) => rank && [...rank, systems[i]]);
    if (!first || !second) return [];
    const [ahead, behind] = +first[0] <= +second[0] ? [first, second] : [second, first];
    const verdict = +ahead[2] < +behind[1] ? `${ahead[3]} is better` : "cannot be distinguished";
    const rank = ([at, low, high, system]) => `${system}: ${at} [${low}, ${high}] of ${part.ranks.size}`;
    return [line(`${part.ranked}: ${verdict}`, rank(ahead), rank(behind))];
  }

  if (parts.length) {
    const [of] = choice(parts.map(({ title }, i) => [title, String(i)]));
    const [one, offerOne] = choice([]);
    const [other, offerOther] = choice([]);
    const [label, offerLabels] = choice([]);
    const found = make("output", { className: "found" });
    const show = () => {
      const part = parts[+of.value];
      const systems = [one.value, other.value];
      const wanted = label.value ? [label.value] : part.labels;
      const rows = wanted.map((name) => part.pairs.get(JSON.stringify([name, ...systems]))).filter(Boolean);
      const lines = [...(label.value && part.labels.length > 1 ? [] : ordered(part, systems)), ...rows.map((row) => compared(part, row))];
      const missing = systems[0] === systems[1] ? "Choose two different systems." : "These two were not compared with each other.";
      const nothing = rows.length ? [] : [make("p", { textContent: missing })];
      const more = part.page ? [make("p", { className: "evidence" }, make("a", { href: part.page, textContent: "All pairs: notebook 05" }))] : [];
      found.replaceChildren(...(systems[0] === systems[1] ? nothing
        : [...nothing, make("p", { textContent: `For ${part.whose}:` }), make("ul", {}, ...lines), ...more]));
    };
    const turn = () => {
      const part = parts[+of.value];
      offerOne(named(part.systems));
      offerOther(named(part.systems));
      offerLabels(labelled(part));
      if (one.value === other.value) other.selectedIndex = one.selectedIndex ? 0 : 1;
      show();
    };
    const field = (title, select) => make("label", {}, title, select);
    const fields = [field("System", one), field("compared with", other)];
    if (parts.some((part) => part.labels.length > 1)) fields.push(field("on", label));
    if (parts.length > 1) fields.push(field("by", of));
    const form = make("form", { className: "filter", autocomplete: "off" }, ...fields);
    form.addEventListener("input", (event) => (event.target === of ? turn() : show()));
    form.addEventListener("submit", (event) => event.preventDefault());
    section.querySelector("h2").after(form, found);
    turn();
  }
}

// Figures, their panels and tables that say what they are about (data-method, data-label, …) are chosen together, rows of
// tables too. A panel that is not chosen fades, since names at its left may be those of others.
{
  const kinds = ["Method", "Label", "Group", "Corpus"];
  const open = (element) => !element.closest(".evidence");
  const about = (part) => open(part) && kinds.some((kind) => part.dataset[kind.toLowerCase()]);
  const parts = all("figure, details.values, div, .panel").filter(about);
  const bodies = parts.length ? all(".table-box table").filter((table) => open(table) && table.tHead) : [];
  const tables = bodies.map((table) => {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent === "Run" ? "Corpus" : head.textContent);
    return { rows: [...table.tBodies[0].rows], columns: kinds.flatMap((kind) => heads.includes(kind) ? [[kind, heads.indexOf(kind)]] : []) };
  });
  const values = (kind) => [...new Set([
    ...parts.map((part) => part.dataset[kind.toLowerCase()]),
    ...tables.flatMap(({ rows, columns }) => columns.filter(([name]) => name === kind).flatMap(([, i]) => rows.map((row) => row.cells[i].textContent))),
  ])].filter(Boolean);
  const selects = kinds.map((kind) => [kind, values(kind)]).filter(([, found]) => found.length > 1 && found.length <= 60)
    .map(([kind, found]) => [kind, make("select", {}, new Option("all", ""), ...found.map((value) => new Option(value, value)))]);
  const choose = () => {
    const chosen = selects.filter(([, select]) => select.value).map(([kind, select]) => [kind, select.value]);
    for (const part of parts) part.classList.toggle("elsewhere", chosen.some(([kind, wanted]) => (part.dataset[kind.toLowerCase()] || wanted) !== wanted));
    for (const figure of all("figure:has(.panel)").filter(open)) { // nothing of it is left
      const left = all(".panel", figure).some((panel) => !panel.classList.contains("elsewhere"));
      if (!parts.includes(figure) || !left) figure.classList.toggle("elsewhere", !left);
    }
    for (const { rows, columns } of tables) for (const row of rows) {
      row.classList.toggle("elsewhere", columns.some(([kind, i]) => chosen.some(([name, wanted]) => name === kind && row.cells[i].textContent !== wanted)));
    }
  };
  const first = parts.find((part) => part.closest("figure"))?.closest("figure");
  if (first && selects.length) {
    const bar = make("div", { className: "tools choose", role: "group", ariaLabel: "Figures and tables to show" },
      make("span", { textContent: "Show" }), ...selects.map(([kind, select]) => make("label", {}, `${kind === "Corpus" ? "Run" : kind} `, select)));
    bar.addEventListener("input", choose);
    first.before(bar);
  }
  for (const values of all("details.values")) values.addEventListener("toggle", () => dispatchEvent(new Event("resize")));
}

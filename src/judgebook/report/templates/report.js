// Helps for readers: without them the page shows all there is.
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
const make = (tag, about, ...children) => {
  const element = Object.assign(document.createElement(tag), about);
  element.append(...children);
  return element;
};

const button = document.getElementById("code");
if (button) button.addEventListener("click", () => {
  const code = all("details.code");
  const open = code.some((d) => !d.open);
  code.forEach((d) => { d.open = open; });
  button.textContent = open ? "Hide all code" : "Show all code";
});

// On a small screen lists of links start folded.
for (const [selector, screen] of [[".notebooks details", "(width <= 60rem)"], [".contents details", "(width <= 40rem)"]]) {
  const small = matchMedia(screen);
  const fold = () => all(selector).forEach((d) => { d.open = !small.matches; });
  small.addEventListener("change", fold);
  fold();
}

// Cells as values: the number a cell starts with, its text, or null where it is missing.
function value(text) {
  const plain = text.trim().replaceAll("\u2212", "-").replace(/(\d),(?=\d{3})/g, "$1");
  if (/^[\u2013-]?(\s*\([a-z]+\))?$/.test(plain)) return null;
  const [, sign, number] = /^([<>≤≥±~]?)\s*([+-]?\d*\.?\d+(?:e[+-]?\d+)?)/i.exec(plain) || [];
  return number === undefined ? plain : Number(number) + ({ "<": -1e-9, ">": 1e-9 }[sign] || 0);
}
const words = new Intl.Collator("en", { numeric: true }).compare;
const cellsOf = (rows, i) => rows.map((row) => value(row.cells[i].textContent));

function sortable(table, body, rows) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    const by = make("button", { type: "button" }, ...head.childNodes);
    head.append(by);
    by.addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none" }[head.ariaSort] || "ascending";
      heads.forEach((other) => { other.ariaSort = other === head && next !== "none" ? next : null; });
      const values = cellsOf(rows, i);
      const numbers = values.every((v) => v === null || typeof v === "number");
      const order = (a, b) => numbers ? a - b : words(String(a), String(b));
      const turn = next === "descending" ? -1 : 1;
      const places = rows.map((_, at) => at);
      if (next !== "none") places.sort((a, b) => {
        const [x, y] = [values[a], values[b]];
        return x === null || y === null ? (x === null) - (y === null) : turn * order(x, y);
      });
      body.append(...places.map((at) => rows[at]));
    });
  });
}

function filterable(box, table, rows) {
  const search = make("input", { type: "search" });
  const picks = [...table.tHead.rows[0].cells].flatMap((head, i) => {
    const found = [...new Set(rows.map((row) => row.cells[i].textContent))];
    const wanted = /^(Label|System|Group|Method|Corpus)$/.test(head.textContent) && found.length > 1 && found.length <= 60;
    return wanted ? [{ i, title: head.textContent, select: make("select", {}, new Option("all", ""), ...found.map((v) => new Option(v, v))) }] : [];
  });
  const count = make("output", {});
  const filter = () => {
    const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !asked.every((word) => text.includes(word))
        || picks.some(({ i, select }) => select.value && row.cells[i].textContent !== select.value);
    }
    const shown = rows.filter((row) => !row.hidden).length;
    count.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : "";
  };
  const fields = [["Filter", search], ...picks.map(({ title, select }) => [title, select])];
  const tools = make("div", { className: "tools", role: "group", ariaLabel: `Filter: ${box.ariaLabel}` },
    ...fields.map(([title, field]) => make("label", {}, `${title} `, field)), count);
  tools.addEventListener("input", filter);
  box.before(tools);
}

// Columns of names at the left stay while others scroll, as many as leave room for values.
function naming(box, table, rows) {
  const isName = (i) => cellsOf(rows, i).filter((v) => typeof v === "string").length > rows.length / 2;
  const heads = [...table.tHead.rows[0].cells];
  const first = heads.findIndex((_, i) => !isName(i));
  const names = first < 0 ? 0 : Math.min(first, 3);
  for (const row of [table.tHead.rows[0], ...rows]) [...row.cells].slice(0, names).forEach((cell) => cell.classList.add("name"));
  return () => {
    const wide = table.scrollWidth > box.clientWidth + 1;
    const widths = heads.map((head) => head.offsetWidth);
    let from = names;
    let left = 0;
    while (wide && from > 0 && (from === names || left + widths[from - 1] <= box.clientWidth * 0.6)) left += widths[--from];
    for (const row of [table.tHead.rows[0], ...rows]) {
      left = 0;
      for (let i = 0; i < names; i += 1) {
        const stays = wide && i >= from;
        row.cells[i].classList.toggle("stays", stays);
        row.cells[i].style.left = stays ? `${left}px` : "";
        left += stays ? widths[i] : 0;
      }
    }
  };
}

const place = all(".table-box").flatMap((box) => {
  const table = box.querySelector("table");
  const body = table && table.tHead && table.tBodies[0];
  const rows = body ? [...body.rows] : [];
  if (rows.length < 2 || rows.some((row) => row.cells.length !== table.tHead.rows[0].cells.length)) return [];
  if (rows.length > 12) filterable(box, table, rows);
  sortable(table, body, rows);
  return [naming(box, table, rows)];
});
const reach = () => all(".sheet").forEach((box) => { box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1; });
const fit = () => [...place, reach].forEach((act) => act());
addEventListener("resize", fit);
fit();

const today = make("style", {});
document.head.append(today);
addEventListener("beforeprint", () => {
  all("details.code").forEach((d) => { d.open = false; });
  const date = new Date().toLocaleDateString("en-CA");
  today.textContent = `@page { @bottom-center { content: "printed ${date}"; white-space: nowrap } }`;
});

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

// The policy of a page lets no form be sent: the script leads to the page that searches.
document.querySelector("form.search")?.addEventListener("submit", (event) => {
  event.preventDefault();
  location.href = `search.html?q=${encodeURIComponent(event.target.elements.q.value)}`;
});

// The key / leads to the search.
const search = document.querySelector(".search input, .find input");
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  search?.focus();
});

// On a small screen lists of links start folded.
const small = matchMedia("(width <= 60rem)");
const foldLists = () => {
  const listed = document.querySelector(".contents");
  all(".side details").forEach((d) => { d.open = !small.matches && (!listed || listed.contains(d)); });
};
small.addEventListener("change", foldLists);
foldLists();

// The section being read is marked in the contents.
const entries = new Map(all(".contents a").map((a) => [a.hash.slice(1), a]));
const current = () => {
  let read = null;
  for (const [id, a] of entries) {
    const place = document.getElementById(id);
    if (place && place.getBoundingClientRect().top < 120) read = a;
  }
  for (const a of entries.values()) a.ariaCurrent = a === read ? "true" : null;
  read?.scrollIntoView({ block: "nearest" });
};
if (entries.size) addEventListener("scrollend", current);

// What a term means, and the values of a figure, where they are asked for: by pointer, touch or keyboard.
const said = make("div", { id: "said", role: "tooltip", popover: "manual" });
const popovers = "showPopover" in said; // without, the browser shows titles in its own way
if (popovers) document.body.append(said);
function say(text, at) {
  said.textContent = text;
  said.showPopover();
  const { width, height } = said.getBoundingClientRect();
  said.style.left = `${Math.max(8, Math.min(at.left, innerWidth - width - 8))}px`;
  said.style.top = `${at.bottom + height + 12 < innerHeight ? at.bottom + 6 : Math.max(8, at.top - height - 6)}px`;
}
const hush = () => { said.hidePopover(); all("[data-on]").forEach((mark) => { delete mark.dataset.on; }); };
if (popovers) addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });
for (const term of popovers ? all("a.term") : []) {
  const meaning = term.title;
  term.title = "";
  term.setAttribute("aria-describedby", "said");
  for (const event of ["mouseenter", "focus"]) term.addEventListener(event, () => say(meaning, term.getBoundingClientRect()));
  for (const event of ["mouseleave", "blur"]) term.addEventListener(event, hush);
  term.addEventListener("click", (event) => { if (matchMedia("(hover: none)").matches) event.preventDefault(); });
}
// All marks of one system, in every panel: the others fade. Its name, on an axis or in a legend, does the same.
function lighter(figure) {
  const box = (rect) => ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
  const frames = all(".tips .frame", figure).map(box);
  let lit = "";
  let veil = null;
  return (mark) => {
    const wanted = [...mark?.classList ?? []].find((name) => /^s\d+$/.test(name)) ?? "";
    if (wanted === lit) return;
    veil?.remove();
    all(".lit", figure).forEach((rect) => rect.classList.remove("lit"));
    lit = wanted;
    if (!lit) return;
    const marks = all(`.tips .${lit}`, figure);
    marks.forEach((rect) => rect.classList.add("lit"));
    const holes = marks.map(box).map(([x, y, w, h]) => ({ x, y, path: `M${x} ${y}v${h}h${w}v${-h}z` }));
    const paths = frames.map(([x, y, w, h]) => {
      const inside = holes.filter((hole) => hole.x >= x - 5 && hole.x < x + w && hole.y >= y - 5 && hole.y < y + h);
      return `M${x} ${y}h${w}v${h}h${-w}z${inside.map((hole) => hole.path).join("")}`;
    });
    veil = document.createElementNS("http://www.w3.org/2000/svg", "path");
    veil.setAttribute("class", "veil");
    veil.setAttribute("d", paths.join(""));
    figure.querySelector(".tips").before(veil);
  };
}
for (const figure of popovers ? all("svg.drawing") : []) {
  const marks = all("title", figure).map((title) => title.parentNode).filter((mark) => mark !== figure);
  if (!marks.length) continue;
  const light = lighter(figure);
  let at = -1;
  const show = (mark) => {
    hush();
    light(mark);
    at = marks.indexOf(mark);
    mark.dataset.on = "";
    say(mark.querySelector(":scope > title").textContent, mark.getBoundingClientRect());
  };
  figure.setAttribute("tabindex", "0");
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(marks[(Math.max(at, step < 0 ? 0 : -1) + step + marks.length) % marks.length]);
  });
  figure.addEventListener("blur", () => { hush(); light(null); });
  figure.addEventListener("pointerover", (event) => { if (event.pointerType === "mouse") light(event.target); });
  figure.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") light(null); });
  figure.addEventListener("click", (event) => {
    const mark = marks.find((m) => m.contains(event.target));
    if (mark) show(mark);
    else { hush(); light(null); }
  });
}

// What is there to be used elsewhere is copied by a button: commands, BibTeX, paragraphs marked for it.
for (const block of navigator.clipboard ? all("pre, blockquote.copyable, .prose blockquote") : []) {
  if (block.closest("details.code") || block.matches(".error")) continue;
  const text = (block.innerText || block.textContent).trim(); // in a closed fold, nothing is rendered
  const copy = make("button", { type: "button", className: "copy", textContent: "Copy" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });
  block.classList.add("copied");
  block.append(copy);
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

// The first twelve rows of a long table, in the order and choice of the moment; paper has all of them.
function foldable(box, rows) {
  const toggle = make("button", { type: "button", className: "all" });
  const fold = (folded) => {
    box.classList.toggle("folded", folded);
    toggle.textContent = folded ? `Show all ${rows.length} rows` : "Show 12 rows";
    toggle.ariaExpanded = String(!folded);
  };
  toggle.addEventListener("click", () => { fold(!box.classList.contains("folded")); fit(); });
  fold(true);
  box.after(toggle);
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

// A table that goes on below its box fades there, and a line says how many rows it has.
function ending(box, rows) {
  const note = make("p", { className: "table-note ends", hidden: true });
  box.after(note);
  const look = () => {
    const cut = box.scrollHeight > box.clientHeight + 4 && box.clientHeight > 0;
    box.classList.toggle("cut", cut && box.scrollTop + box.clientHeight < box.scrollHeight - 4);
    note.hidden = !cut;
    note.textContent = `${rows.length} rows: scroll inside the table.`;
  };
  box.addEventListener("scroll", look);
  return look;
}

const place = all(".table-box").flatMap((box) => {
  const table = box.querySelector("table");
  const body = table && table.tHead && table.tBodies[0];
  const rows = body ? [...body.rows] : [];
  const ends = ending(box, rows);
  if (rows.length < 2 || rows.some((row) => row.cells.length !== table.tHead.rows[0].cells.length)) return [ends];
  if (rows.length > 12) {
    filterable(box, table, rows);
    foldable(box, rows);
  }
  sortable(table, body, rows);
  return [naming(box, table, rows), ends];
});
// A figure wider than its place is scrolled by finger or keyboard; how far it goes on is shown at its right side.
const reach = () => all(".sheet").forEach((box) => {
  const cut = box.scrollWidth > box.clientWidth + 1;
  box.tabIndex = cut ? 0 : -1;
  box.classList.toggle("cut", cut);
  box.classList.toggle("end", box.scrollLeft + box.clientWidth > box.scrollWidth - 8);
});
all(".sheet").forEach((box) => box.addEventListener("scroll", reach, { passive: true }));
const fit = () => [...place, reach].forEach((act) => act());
addEventListener("resize", fit);
fit();
all("details").forEach((d) => d.addEventListener("toggle", fit)); // what was folded had no width

// An address that leads into something folded opens it.
const reveal = () => {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = [];
  for (let d = place && place.closest("details"); d; d = d.parentElement.closest("details")) if (!d.open) folded.push(d);
  folded.forEach((d) => { d.open = true; });
  if (folded.length) place.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();

const today = make("style", {});
document.head.append(today);
addEventListener("beforeprint", () => {
  all("details.code").forEach((d) => { d.open = false; });
  all("details.more, details.why, details.counted, details.values").forEach((d) => { d.open = true; });
  const date = new Date().toLocaleDateString("en-CA");
  today.textContent = `@page { @bottom-center { content: "printed ${date}"; white-space: nowrap } }`;
});

// The verdict explorer: filters, search, and one address for each printed value. Plain JavaScript, no request to any host.
"use strict";
(function () {
  const data = window.VERDICTS;
  const list = document.getElementById("claims");
  const count = document.getElementById("count");
  const form = document.getElementById("filters");
  const filter = Object.fromEntries(
    ["paper", "table", "verdict", "basis", "text"].map((name) => [name, document.getElementById("filter-" + name)])
  );
  const items = new Map();
  const STEP = 30; // values on the page at first, and more at each press of the button
  let most = STEP;
  const more = element("button", "Show more", { type: "button", class: "sp-more" });

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }

  function link(text, address) {
    return element("a", text, { href: address });
  }

  function badge(verdict) {
    const made = element("span", data.signs[verdict] + " " + verdict, { class: "sp-verdict" });
    made.style.background = data.colours[verdict];
    return made;
  }

  function labelled(label, text) {
    const made = element("span");
    made.append(element("span", label, { class: "sp-label" }), text);
    return made;
  }

  function summary(claim) {
    const made = element("summary");
    const what = element("span");
    const where = "Paper " + claim.paper + ", " + data.tables[claim.paper + "-" + claim.table];
    what.append(element("span", where, { class: "sp-where" }), claim.row + ": " + claim.column);
    const ours = [claim.ours || "none", claim.interval].filter(Boolean).join(" ");
    made.append(what, labelled("printed", claim.printed), labelled("ours", ours), badge(claim.verdict));
    return made;
  }

  function reason(claim) {
    const made = element("span");
    for (const part of (claim.reason || "").split(/\b(D\d+)\b/)) {
      const entry = (claim.entries || []).includes(part);
      made.append(entry ? link(part, "ledger.html#" + part.toLowerCase()) : part);
    }
    return made;
  }

  function details(claim) {
    const made = element("dl");
    const add = (name, ...content) => {
      const value = element("dd");
      value.append(...content);
      made.append(element("dt", name), value);
    };
    add("Printed", claim.printed);
    add("Ours", claim.ours || "none");
    if (claim.interval) add("Interval", claim.interval + (claim.unit ? ", over " + claim.unit : ""));
    else if (claim.unit) add("Unit", claim.unit);
    add("Verdict", badge(claim.verdict));
    add("Basis", claim.basis);
    if (claim.reason) add("Reason", reason(claim));
    if (claim.entries) add("Ledger", ...claim.entries.map((name) => link(name + " ", "ledger.html#" + name.toLowerCase())));
    const place = data.runs[claim.run];
    if (place) {
      if (place.results) add("Full results", link("tables and figures, paper profile", place.results));
      const profile = place.profile ? ", " + place.profile + " profile" : ", not executed here";
      add("Notebook", link(claim.run + profile, place.page + place.section));
      add("Recompute this value", element("code", "make review CELL=" + claim.id + " " + place.again));
      add("Recompute its run", element("code", 'make reproduce PROFILE=paper ONLY="' + claim.run + '"'));
    }
    const anchor = claim.table === "text" ? "statements" : "table-" + claim.table;
    add("In its table", link("paper " + claim.paper, "papers/paper-" + claim.paper + ".html#paper-" + claim.paper + "-" + anchor));
    add("This value", link("#" + claim.id, "#" + claim.id));
    return made;
  }

  function item(claim) {
    const made = element("details", null, { class: "sp-claim", id: claim.id });
    made.append(summary(claim));
    made.addEventListener("toggle", () => {
      if (made.open && made.children.length === 1) made.append(details(claim));
    });
    return made;
  }

  function options(select, pairs) {
    for (const [value, text] of pairs) select.append(element("option", text, { value: value }));
  }

  function chosenTables() {
    const paper = filter.paper.value;
    const tables = Object.entries(data.tables).filter(([key]) => !paper || key.startsWith(paper + "-"));
    const before = filter.table.value;
    filter.table.replaceChildren(element("option", "all", { value: "" }));
    options(filter.table, tables.map(([key, title]) => [key, paper ? title : "Paper " + key[0] + ", " + title]));
    filter.table.value = tables.some(([key]) => key === before) ? before : "";
  }

  function matches(claim, words) {
    return (
      (!filter.paper.value || String(claim.paper) === filter.paper.value) &&
      (!filter.table.value || claim.paper + "-" + claim.table === filter.table.value) &&
      (!filter.verdict.value || claim.verdict === filter.verdict.value) &&
      (!filter.basis.value || claim.basis === filter.basis.value) &&
      words.every((word) => (/^d\d+$/.test(word) ? (claim.entries || []).includes(word.toUpperCase()) : claim.words.includes(word)))
    );
  }

  function show() {
    const words = filter.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tally = {};
    let shown = 0;
    for (const claim of data.claims) {
      const fits = matches(claim, words);
      items.get(claim.id).hidden = !fits || shown >= most;
      if (fits) {
        shown += 1;
        tally[claim.verdict] = (tally[claim.verdict] || 0) + 1;
      }
    }
    more.hidden = shown <= most;
    const parts = Object.keys(data.signs).filter((name) => tally[name]).map((name) => tally[name] + " " + name);
    count.textContent = shown + " of " + data.claims.length + " values" + (parts.length ? ": " + parts.join(", ") : "") + ".";
  }

  function follow() {
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (wanted.startsWith("find=")) {
      form.reset();
      chosenTables();
      filter.text.value = wanted.slice(5);
      show();
      count.scrollIntoView();
    } else if (items.has(wanted)) {
      const found = items.get(wanted);
      found.hidden = false;
      found.open = true;
      found.scrollIntoView();
      found.firstChild.focus({ preventScroll: true });
    }
  }

  for (const claim of data.claims) {
    const parts = [claim.id, claim.row, claim.column, claim.printed, claim.ours, claim.reason, claim.run, claim.verdict];
    claim.words = parts.concat("table " + claim.table, "paper " + claim.paper).filter(Boolean).join(" ").toLowerCase();
    const made = item(claim);
    items.set(claim.id, made);
    list.append(made);
  }
  options(filter.paper, Object.entries(data.papers).map(([number, name]) => [number, number + ": " + name]));
  options(filter.verdict, Object.entries(data.signs).map(([name, sign]) => [name, sign + " " + name]));
  options(filter.basis, ["rows", "log", "text", "construction", "arithmetic", "configuration"].map((name) => [name, name]));
  chosenTables();
  filter.paper.addEventListener("change", chosenTables);
  list.after(more);
  more.addEventListener("click", () => { most += STEP; show(); });
  form.addEventListener("input", () => { most = STEP; show(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { most = STEP; chosenTables(); show(); }));
  window.addEventListener("hashchange", follow);
  show();
  follow();
})();

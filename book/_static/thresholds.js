// The threshold explorer: sliders over committed results. Plain JavaScript, no request to any host.
"use strict";
(function () {
  const data = window.THRESHOLDS;
  const COLOURS = { sensitive: "#fbdcd2", ambiguous: "#f7efc9", published: "#e2f0d9" };

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    return made;
  }

  function percent(value) {
    return (100 * value).toFixed(1) + " %";
  }

  function interval(triple) {
    return (100 * triple[0]).toFixed(1) + " % [" + (100 * triple[1]).toFixed(1) + ", " + (100 * triple[2]).toFixed(1) + "]";
  }

  // A slider over a list of values; `marks` says which of them are a paper's choice.
  function slider(parent, id, label, values, start, marks, changed) {
    const holder = element("div");
    const title = element("label", label + ": ", { for: id });
    const shown = element("output", "", { for: id });
    const input = element("input", null, { type: "range", id: id, min: 0, max: values.length - 1, step: 1 });
    const note = element("span", marks, { class: "sp-marks" });
    input.value = Math.max(0, values.indexOf(start));
    const api = {
      get value() { return values[Number(input.value)]; },
      set value(wanted) { input.value = values.indexOf(wanted); api.say(); },
      say() { shown.textContent = String(api.value); input.setAttribute("aria-valuetext", String(api.value)); },
      note(text) { note.textContent = text; },
      refill(others, wanted) { values = others; input.max = others.length - 1; api.value = others.includes(wanted) ? wanted : others[0]; },
    };
    title.append(shown);
    holder.append(title, input, note);
    parent.append(holder);
    input.addEventListener("input", () => { api.say(); changed(); });
    api.say();
    return api;
  }

  function chooser(parent, id, label, names, changed) {
    const holder = element("label", label, { for: id });
    const select = element("select", null, { id: id });
    names.forEach((name, place) => select.append(element("option", name, { value: place })));
    holder.append(select);
    parent.append(holder);
    select.addEventListener("change", changed);
    return { get place() { return Number(select.value); } };
  }

  function table(head, rows, name) {
    const holder = element("div", null, { class: "sp-table", tabindex: "0", role: "region", "aria-label": name });
    const made = element("table");
    const line = (cells, tag) => {
      const row = element("tr");
      cells.forEach((cell) => row.append(element(tag, cell)));
      return row;
    };
    const top = element("thead"), body = element("tbody");
    top.append(line(head, "th"));
    rows.forEach((row) => body.append(line(row, "td")));
    made.append(top, body);
    holder.append(made);
    return holder;
  }

  function svg(tag, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  }

  // Points of shares; the chosen one is filled and larger. Each point: [x, y, chosen, label].
  function chart(points, across, up, chance) {
    const made = svg("svg", { viewBox: "0 0 460 300", class: "sp-chart", role: "img", "aria-label": up + " against " + across });
    const x = (value) => 60 + 380 * value, y = (value) => 250 - 230 * value;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      made.append(svg("line", { x1: x(0), x2: x(1), y1: y(tick), y2: y(tick), stroke: "#e3e6e9" }));
      made.append(svg("text", { x: 52, y: y(tick) + 4, "text-anchor": "end" }, 100 * tick + " %"));
      made.append(svg("text", { x: x(tick), y: 268, "text-anchor": "middle" }, 100 * tick + " %"));
    }
    if (chance) made.append(svg("line", { x1: x(chance), x2: x(chance), y1: y(0), y2: y(1), stroke: "#7a838c", "stroke-dasharray": "4 4" }));
    made.append(svg("text", { x: 250, y: 292, "text-anchor": "middle" }, across));
    made.append(svg("text", { x: 60, y: 12 }, up));
    points.slice().sort((a, b) => a[2] - b[2]).forEach(([across_, up_, chosen]) => {
      const shape = { cx: x(across_), cy: y(up_), r: chosen ? 7 : 4, fill: chosen ? "#0b5cad" : "#fff", stroke: "#0b5cad" };
      made.append(svg("circle", shape));
    });
    return made;
  }

  function parts(id) {
    const root = document.getElementById(id);
    const controls = element("div", null, { class: "sp-controls" });
    const result = element("div", null, { role: "status", "aria-live": "polite" });
    root.append(controls, result);
    return [controls, result];
  }

  function from(run) {
    const made = element("p", "Committed results: ", { class: "sp-note" });
    made.append(element("a", run, { href: "results/" + run + ".html" }));
    return made;
  }

  function group(name, members, colour, empty) {
    const made = element("div");
    made.style.background = colour;
    made.append(element("strong", name + " (" + members.length + ")"));
    const list = element("ul");
    members.forEach(([attribute, evaluation]) => list.append(element("li", attribute + " " + evaluation.toFixed(2))));
    made.append(members.length ? list : element("p", empty));
    return made;
  }

  (function divisions() {
    const [controls, result] = parts("divisions");
    const steps = Array.from({ length: 21 }, (_, n) => Number((0.05 * n).toFixed(2)));
    const which = chooser(controls, "division-set", "Data set", data.divisions.map((one) => one.name), () => begin());
    const alpha = slider(controls, "alpha", "alpha", steps, 0.95, "", () => { if (beta.value > alpha.value) beta.value = alpha.value; show(); });
    const beta = slider(controls, "beta", "beta", steps, 0.05, "", () => { if (beta.value > alpha.value) alpha.value = beta.value; show(); });
    function begin() {
      const one = data.divisions[which.place];
      [alpha.value, beta.value] = one.printed;
      alpha.note("Paper's choice: " + one.printed[0] + ". Our search: " + one.found[0] + ".");
      beta.note("Paper's choice: " + one.printed[1] + ". Our search: " + one.found[1] + ".");
      show();
    }
    function show() {
      const one = data.divisions[which.place], a = alpha.value, b = beta.value;
      const row = one.rows.find((each) => each[0] === a && each[1] === b);
      const sensitive = one.attributes.filter(([, e]) => e >= a);
      const published = one.attributes.filter(([, e]) => e < a && e <= b);
      const ambiguous = one.attributes.filter(([, e]) => e < a && e > b);
      const groups = element("div", null, { class: "sp-groups" });
      groups.append(
        group("Sensitive: not published", sensitive, COLOURS.sensitive, "none"),
        group("Ambiguous: published with noise", ambiguous, COLOURS.ambiguous, "none"),
        group("Non-sensitive: published", published, COLOURS.published, "none")
      );
      const chosen = a === one.printed[0] && b === one.printed[1];
      const rows = [[a + ", " + b + (chosen ? " (the paper's choice)" : ""), ...row.slice(2).map((value) => value.toFixed(2))]];
      const best = one.rows.reduce((x, y) => (y[4] > x[4] ? y : x));
      rows.push(["largest suitability of all pairs, alpha 1 included: " + best[0] + ", " + best[1], ...best.slice(2).map((value) => value.toFixed(2))]);
      result.replaceChildren(groups, table(["alpha, beta", "utility", "stability", "suitability"], rows, "Measures"), from(one.run));
    }
    begin();
  })();

  (function searches() {
    const [controls, result] = parts("searches");
    const which = chooser(controls, "search-set", "Data set and search", data.searches.map((one) => one.name), () => { fill(); show(); });
    const threshold = slider(controls, "threshold", "threshold", [0.01], 0.01, "Paper's choice in Table 2: 0.01.", () => show());
    function fill() { threshold.refill(data.searches[which.place].rows.map((row) => row.threshold), 0.01); }
    function show() {
      const one = data.searches[which.place];
      const row = one.rows.find((each) => each.threshold === threshold.value);
      const points = one.rows.map((each) => [each.identifiability[0], each.accuracy[0], each === row]);
      const chosen = threshold.value === 0.01 ? " (the paper's choice)" : "";
      result.replaceChildren(
        table(
          ["threshold", "accuracy", "identifiability", "published columns"],
          [[threshold.value + chosen, interval(row.accuracy), interval(row.identifiability), row.features]], "Selection"
        ),
        chart(points, "identifiability", "accuracy of the task"), from(one.run)
      );
    }
    fill();
    show();
  })();

  (function shifts() {
    const [controls, result] = parts("shifts");
    const own = data.shifts, sorted = (key) => [...new Set(own.rows.map((row) => row[key]))].sort((a, b) => a - b);
    const length = slider(controls, "length", "length of the shift", sorted("length"), 1, "Paper's choice: 1.", () => show());
    const alpha = slider(controls, "loss-alpha", "weight alpha of the private class", sorted("alpha"), own.chosen.alpha, "Weight of our Table 1: " + own.chosen.alpha + ".", () => show());
    const beta = slider(controls, "loss-beta", "weight beta of the latent prior", sorted("beta"), own.chosen.beta, "Weight of our Table 1: " + own.chosen.beta + ".", () => show());
    function show() {
      const row = own.rows.find((each) => each.length === length.value && each.alpha === alpha.value && each.beta === beta.value);
      const points = own.rows.map((each) => [each.private, each.public, each === row]);
      const measured = table(
        ["activity before", "activity after", "gender after, paper's model", "activity after, worst class", "distortion"],
        [[percent(own.before), percent(row.public), percent(row.private), percent(row.worst), row.distortion.toFixed(2)]], "Shift"
      );
      const attacks = table(
        ["release", "activity", "gender, strongest attacker, all windows of a recording", "chance"],
        own.releases.map(([name, activity, attack, chance]) => [name, percent(activity), percent(attack), percent(chance)]), "Attackers"
      );
      result.replaceChildren(measured, chart(points, "gender, paper's own model", "activity"), attacks, from(own.run));
    }
    show();
  })();

  (function noise() {
    const [controls, result] = parts("noise");
    const names = { noise: "noise on every column", threeway: "paper 2: three-way division", "minimize+noise": "minimization, then noise" };
    const label = (kind) => names[kind] || kind;
    const which = chooser(controls, "noise-set", "Data set and user", data.noise.map((one) => one.name), () => begin());
    const kinds = [...new Set(data.noise.flatMap((one) => one.rows.map((row) => row.kind)))];
    const kind = chooser(controls, "noise-kind", "Defence", kinds.map(label), () => begin());
    const epsilon = slider(controls, "epsilon", "epsilon", [1], 1, "Paper 2 defines epsilon, but prints no value.", () => show());
    const chosen = () => data.noise[which.place].rows.filter((row) => row.kind === kinds[kind.place]);
    function begin() {
      epsilon.refill(chosen().map((row) => row.epsilon).sort((a, b) => a - b), epsilon.value);
      show();
    }
    function show() {
      const one = data.noise[which.place], row = chosen().find((each) => each.epsilon === epsilon.value);
      if (!row) return result.replaceChildren(element("p", "No committed results of this defence on this data set."), from(one.run));
      const points = one.rows.map((each) => [each.attack[0], each.accuracy[0], each === row]);
      const rows = [
        [label(row.kind) + ", epsilon " + row.epsilon, interval(row.accuracy), interval(row.attack)],
        ["raw data", percent(one.raw.accuracy), percent(one.raw.attack)],
      ];
      result.replaceChildren(
        table(["release", "accuracy of the task", "strongest attack"], rows, "Noise"),
        chart(points, "strongest attack (dashed: chance)", "accuracy of the task", one.raw.chance), from(one.run)
      );
    }
    begin();
  })();
})();

"use strict";
// Draws the page of a campaign: maps of outcomes, statistics over parameters, histograms, failed runs.
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const { css, element, button, shown, ticks } = pageTools;
  const byId = (id) => document.getElementById(id);
  const height = 340;
  const font = "12px system-ui, 'DejaVu Sans', sans-serif";

  // Base64 of single-precision numbers.
  const decode = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  for (const column of [...page.parameters, ...page.initial, ...page.results]) column.values = decode(column.values);
  const labelOf = ({ name, unit }) => (unit && unit !== "1" ? `${name} [${unit}]` : `${name} [–]`);
  const runs = (page.parameters[0] ?? page.initial[0] ?? page.results[0])?.values.length ?? 0;
  const failed = new Set(page.failures.map(([run]) => run));

  // Outcomes of all runs: a result that is zero or one, or only if a run has failed.
  const isFlag = ({ values }) => values.some((v) => v === 1) && values.every((v) => Number.isNaN(v) || v === 0 || v === 1);
  const flags = page.results.filter(isFlag);
  const allResults = [...page.initial, ...page.results];
  const hasFailed = (i) => failed.has(i) || (allResults.length > 0 && allResults.every(({ values }) => Number.isNaN(values[i])));
  function outcomes(flag) {
    const captured = flag && /captured/.test(flag.name);
    const names = !flag ? ["finished", null] : captured ? ["captured", "missed"] : [`${flag.name} = 1`, `${flag.name} = 0`];
    const kinds = [[names[0], "--c2"], [names[1], "--c1"], ["error", "--c6"]].map(([name, color]) => ({ name, color, runs: [] }));
    for (let i = 0; i < runs; i++) kinds[hasFailed(i) ? 2 : !flag || flag.values[i] === 1 ? 0 : 1].runs.push(i);
    return kinds.filter((kind) => kind.name);
  }

  const axis = (label, size) => ({
    label, labelSize: 22, size, labelGap: 0, gap: 6, font, labelFont: font, stroke: css("--soft"),
    values: (u, splits) => ticks(splits),
    grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1, size: 4 },
  });
  // Limits with space around the outermost points.
  const around = (u, low, high) => {
    const space = 0.04 * (high - low) || 0.5 * Math.abs(low) || 1;
    return [low - space, high + space];
  };

  // Draws the points of a series, half transparent if there are many.
  const points = (color, size) => (u, k) => {
    const { ctx } = u;
    const { left, top, width, height } = u.bbox;
    const [xs, ys] = u.data[k];
    const r = size * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    ctx.fillStyle = css(color);
    ctx.globalAlpha = runs > 2000 ? 0.55 : 0.85;
    for (let i = 0; i < xs.length; i++) {
      if (Number.isNaN(ys[i]) || Number.isNaN(xs[i])) continue;
      ctx.beginPath();
      ctx.arc(u.valToPos(xs[i], "x", true), u.valToPos(ys[i], "y", true), r, 0, 2 * Math.PI);
      ctx.fill();
    }
    ctx.restore();
    return null;
  };
  const line = (color) => (u, k) => {
    const { ctx } = u;
    const [xs, ys] = u.data[k];
    ctx.save();
    ctx.strokeStyle = css(color);
    ctx.lineWidth = 2 * devicePixelRatio;
    ctx.beginPath();
    for (let i = 0; i < xs.length; i++) ctx.lineTo(u.valToPos(xs[i], "x", true), u.valToPos(ys[i], "y", true));
    ctx.stroke();
    ctx.restore();
    return null;
  };

  // A chart of points: series of { name, color, count, runs, xs, ys, paths }.
  function plane(into, x, y, series) {
    const plot = new uPlot({
      mode: 2, width: into.clientWidth, height, padding: [10, 14, 0, 0],
      scales: { x: { time: false, range: around }, y: { range: around } },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, uni: 10 } },
      legend: { show: false },
      series: [null, ...series.map((s) => ({ label: s.name, facets: [{ scale: "x", auto: true }, { scale: "y", auto: true }], paths: s.paths }))],
      axes: [axis(x, 34), axis(y, 64)],
    }, [null, ...series.map((s) => [s.xs, s.ys])], into);
    const legend = into.appendChild(element("div", "readout"));
    for (const { name, color, count } of series) {
      const item = legend.appendChild(element("span"));
      const sample = item.appendChild(element("i"));
      sample.style.background = css(color);
      item.append(element("b", "", name), count === undefined ? "" : ` ${count}`);
    }
    const nearest = legend.appendChild(element("span", "nearest"));
    plot.over.addEventListener("mousemove", (e) => {
      let best = null;
      let least = 15 * 15;
      for (const s of series) {
        if (!s.runs) continue;
        for (let i = 0; i < s.xs.length; i++) {
          const [dx, dy] = [plot.valToPos(s.xs[i], "x") - e.offsetX, plot.valToPos(s.ys[i], "y") - e.offsetY];
          if (dx * dx + dy * dy < least) [best, least] = [`run ${s.runs[i]}: (${shown(s.xs[i])}, ${shown(s.ys[i])})`, dx * dx + dy * dy];
        }
      }
      nearest.textContent = best ?? "";
    });
    return plot;
  }

  // A card with selections; `draw` makes the chart of the selected columns and returns its numbers.
  function card(title, note, selections, draw) {
    const section = byId("charts").appendChild(element("section", "card"));
    section.ariaLabel = title;
    const head = section.appendChild(element("div", "head"));
    head.append(element("h2", "", title));
    const tools = head.appendChild(element("div", "tools"));
    section.append(element("p", "", note));
    const bar = section.appendChild(element("div", "bar"));
    const into = section.appendChild(element("div"));
    into.role = "img";
    const selects = selections.map(([label, options, first]) => {
      const select = bar.appendChild(element("label", "", label)).appendChild(element("select"));
      select.ariaLabel = label;
      select.append(...options.map((column, k) => new Option(column.name ?? column, k)));
      select.value = Math.min(first ?? 0, options.length - 1);
      select.addEventListener("change", () => redraw());
      return [select, options];
    });
    let present;
    const redraw = () => {
      present?.plot.destroy();
      into.replaceChildren();
      present = draw(into, ...selects.map(([select, options]) => options[Number(select.value)]));
      into.ariaLabel = present.label;
    };
    button(tools, "CSV", () => pageExports.csv(title, present.table()), "save the chart's numbers as a table");
    redraw();
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (into.clientWidth && into.clientWidth !== present.plot.width) present.plot.setSize({ width: into.clientWidth, height });
    })).observe(into);
  }

  const pick = (values, own) => Float32Array.from(own, (i) => values[i]);
  // The series of an outcome: its runs that have both values, and the number of all. A failed run has no
  // value at its start.
  function seriesOf(kind, x, y, size) {
    const own = kind.runs.filter((i) => !Number.isNaN(x.values[i]) && !Number.isNaN(y.values[i]));
    return { ...kind, count: kind.runs.length, runs: own, xs: pick(x.values, own), ys: pick(y.values, own), paths: points(kind.color, size) };
  }
  const flagOptions = flags.length ? flags : [{ name: "finished or error" }];
  const flagOf = (option) => (option.values ? option : null);

  // Number of classes of each axis of a map of fractions.
  const cellsPerAxis = 16;
  // Classes of equal width of x and y, with the number of runs and of those in which the flag is one.
  function classes(x, y, flag) {
    const there = [...x.values.keys()].filter((i) => ![x, y, flag].some(({ values }) => Number.isNaN(values[i])));
    const limits = ({ values }) => there.reduce(([a, b], i) => [Math.min(a, values[i]), Math.max(b, values[i])], [Infinity, -Infinity]);
    const grid = [x, y].map((column) => {
      const [low, high] = limits(column);
      return { low, width: (high - low) / cellsPerAxis || 1, of: (i) => Math.min(cellsPerAxis - 1, Math.floor((column.values[i] - low) / ((high - low) / cellsPerAxis || 1))) };
    });
    const cells = new Map();
    for (const i of there) {
      const [a, b] = grid.map(({ of }) => of(i));
      const cell = cells.get(a * cellsPerAxis + b) ?? cells.set(a * cellsPerAxis + b, { a, b, n: 0, ones: 0 }).get(a * cellsPerAxis + b);
      cell.n += 1;
      cell.ones += flag.values[i];
    }
    const at = ({ low, width }, k) => low + k * width;
    return [...cells.values()].map(({ a, b, n, ones }) => ({
      x: [at(grid[0], a), at(grid[0], a + 1)], y: [at(grid[1], b), at(grid[1], b + 1)], n, fraction: ones / n,
    }));
  }

  // Fills each class with a mixture of two colours.
  const filled = (cells, one, zero) => (u) => {
    const { ctx } = u;
    ctx.save();
    for (const { x, y, fraction } of cells) {
      const [left, right] = x.map((v) => u.valToPos(v, "x", true));
      const [bottom, top] = y.map((v) => u.valToPos(v, "y", true));
      for (const [color, alpha] of [[zero, 1], [one, fraction]]) {
        ctx.fillStyle = css(color);
        ctx.globalAlpha = alpha;
        ctx.fillRect(left, top, right - left, bottom - top);
      }
    }
    ctx.restore();
    return null;
  };

  function fractions(into, x, y, flag) {
    const [one, zero] = outcomes(flag);
    const cells = classes(x, y, flag);
    const corners = cells.flatMap((cell) => [0, 1].map((k) => [cell.x[k], cell.y[k]]));
    const series = [
      { name: `${one.name} in all runs of a class`, color: one.color, xs: corners.map(([x]) => x), ys: corners.map(([, y]) => y), paths: filled(cells, one.color, zero.color) },
      { name: "in none", color: zero.color, xs: [], ys: [], paths: () => null },
    ];
    return {
      plot: plane(into, labelOf(x), labelOf(y), series), label: `Map of the fraction ${one.name} over ${labelOf(x)} and ${labelOf(y)}`,
      table: () => [[`from ${labelOf(x)}`, `to ${labelOf(x)}`, `from ${labelOf(y)}`, `to ${labelOf(y)}`, "runs", `fraction ${one.name}`],
        ...cells.map((cell) => [...cell.x, ...cell.y, cell.n, cell.fraction])],
    };
  }

  function map(into, x, y, option, drawing) {
    if (drawing === "fraction" && flagOf(option)) return fractions(into, x, y, option);
    const series = outcomes(flagOf(option)).map((kind) => seriesOf(kind, x, y, 3));
    const plot = plane(into, labelOf(x), labelOf(y), series);
    return {
      plot, label: `Map of ${series.map((s) => s.name).join(", ")} over ${labelOf(x)} and ${labelOf(y)}`,
      table: () => [["run", labelOf(x), labelOf(y), "outcome"], ...series.flatMap((s) => s.runs.map((run, i) => [run, s.xs[i], s.ys[i], s.name]))],
    };
  }

  // Means over the runs in classes of x: those of equal values if these are few, else of equal widths.
  function means(xs, ys) {
    const there = [...xs.keys()].filter((i) => !Number.isNaN(xs[i]) && !Number.isNaN(ys[i]));
    const different = [...new Set(there.map((i) => xs[i]))];
    const [low, high] = [different.reduce((a, b) => Math.min(a, b), Infinity), different.reduce((a, b) => Math.max(a, b), -Infinity)];
    const classes = new Map();
    for (const i of there) {
      const key = different.length <= 40 ? xs[i] : Math.min(19, Math.floor((20 * (xs[i] - low)) / (high - low)));
      const of = classes.get(key) ?? classes.set(key, [0, 0, 0]).get(key);
      of[0] += 1;
      of[1] += xs[i];
      of[2] += ys[i];
    }
    const sorted = [...classes.entries()].sort(([a], [b]) => a - b).map(([, [n, x, y]]) => [x / n, y / n]);
    return [sorted.map(([x]) => x), sorted.map(([, y]) => y)];
  }

  function statistic(into, x, y, drawing, option) {
    const kinds = outcomes(flagOf(option)).map((kind) => seriesOf(kind, x, y, 2.5));
    const [mx, my] = means(x.values, y.values);
    const mean = { name: "mean", color: "--c0", xs: mx, ys: my, paths: line("--c0") };
    const series = [...(drawing === "means" ? [] : kinds.filter((kind) => kind.runs.length)), ...(drawing === "points" ? [] : [mean])];
    const plot = plane(into, labelOf(x), labelOf(y), series);
    return {
      plot, label: `Chart of ${labelOf(y)} over ${labelOf(x)}`,
      table: () => [["run", labelOf(x), labelOf(y)], ...[...x.values.keys()].map((i) => [i, x.values[i], Number.isNaN(y.values[i]) ? "" : y.values[i]])],
    };
  }

  function histogram(into, column, classes) {
    const values = column.values.filter((v) => !Number.isNaN(v));
    const [low, high] = [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
    const n = high > low ? Number(classes) : 1;
    const width = (high - low) / n || 1;
    const start = high > low ? low : low - 0.5;
    const counts = Array(n).fill(0);
    for (const v of values) counts[Math.min(n - 1, Math.floor((v - start) / width))] += 1;
    const from = counts.map((_, k) => start + k * width);
    const bars = (u) => {
      const { ctx } = u;
      ctx.save();
      ctx.fillStyle = css("--c0");
      const base = u.valToPos(0, "y", true);
      counts.forEach((count, k) => {
        const [a, b] = [from[k], from[k] + width].map((v) => u.valToPos(v, "x", true));
        const y = u.valToPos(count, "y", true);
        ctx.fillRect(a + 0.5, y, Math.max(1, b - a - 1), base - y);
      });
      ctx.restore();
      return null;
    };
    const plot = new uPlot({
      width: into.clientWidth, height, padding: [10, 14, 0, 0], legend: { show: false },
      scales: { x: { time: false, range: () => [start - 0.02 * n * width, start + 1.02 * n * width] }, y: { range: (u, a, b) => [0, 1.05 * Math.max(b, 1)] } },
      cursor: { show: false },
      series: [{}, { paths: bars, points: { show: false } }],
      axes: [axis(labelOf(column), 34), axis("runs [–]", 64)],
    }, [from, counts], into);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const sigma = Math.sqrt(values.reduce((a, b) => a + (b - mean) ** 2, 0) / Math.max(1, values.length - 1));
    const text = values.length ? `${values.length} runs, mean ${shown(mean)}, standard deviation ${shown(sigma)}, from ${shown(low)} to ${shown(high)}` : "no run has this value";
    into.appendChild(element("div", "readout", text));
    return {
      plot, label: `Histogram of ${labelOf(column)}`,
      table: () => [[`from ${labelOf(column)}`, `to ${labelOf(column)}`, "runs"], ...counts.map((count, k) => [from[k], from[k] + width, count])],
    };
  }

  function head() {
    const facts = element("dl", "facts");
    for (const [label, value] of page.facts.filter(([, value]) => value)) {
      const fact = facts.appendChild(element("div"));
      fact.append(element("dt", "", label), element("dd", "", value));
    }
    byId("head").replaceChildren(element("h1", "", `${page.name}: campaign`), element("p", "description", page.description), facts);
    byId("foot").replaceChildren(...page.foot.map((text) => element("p", "", text)));
  }

  function failures() {
    if (!page.failures.length) return;
    const section = byId("tables").appendChild(element("section", "card"));
    section.append(element("h2", "", "Failed runs"));
    const listed = page.failures.length;
    section.append(element("p", "", listed < page.failed ? `The first ${listed} of ${page.failed} failed runs.` : "Runs without results, with their values and messages."));
    const table = section.appendChild(element("div", "scroll")).appendChild(element("table"));
    const cells = (tag, texts) => {
      const row = element("tr");
      row.append(...texts.map((text, k) => element(tag, k === 1 ? "message" : "", text)));
      return row;
    };
    table.append(cells("th", ["run", "message", ...page.parameters.map(labelOf)]));
    table.append(...page.failures.map(([run, message]) => cells("td", [run, message, ...page.parameters.map(({ values }) => shown(values[run]))])));
  }

  head();
  const { parameters, results } = page;
  // Quantities at the start are the axes that the study names.
  const axes = [...page.initial, ...parameters];
  if (axes.length > 1) {
    const drawings = ["points", ...(flags.length ? ["fraction"] : [])];
    card("Map of outcomes", "A point for each run, or the fraction of the runs in classes of equal width. Drag a rectangle to zoom, double-click to see all.",
      [["x", axes], ["y", axes, 1], ["outcome", flagOptions], ["draw", drawings]], map);
  }
  if (axes.length && results.length) {
    const numbers = results.findIndex((result) => !flags.includes(result));
    card("Statistic over a parameter", "A point for each run with the statistic, and means over the runs with nearly equal parameters.",
      [["x", axes], ["y", results, Math.max(0, numbers)], ["draw", ["points and means", "points", "means"]], ["outcome", flagOptions]], statistic);
  }
  if (results.length || axes.length) {
    const columns = [...results, ...axes];
    card("Histogram", "Numbers of runs in classes of equal width.", [["value", columns, Math.max(0, results.findIndex((result) => !flags.includes(result)))], ["classes", ["20", "10", "40", "80"]]], histogram);
  }
  failures();
})();

"use strict";
// Numbers and elements of the page, and its charts, drawn by uPlot.
const pageTools = {
  css: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
  color: (i) => pageTools.css(`--c${i % 8}`),
  element: (tag, className, text) => {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  },
  button: (into, text, action, title) => {
    const b = into.appendChild(pageTools.element("button", "", text));
    b.type = "button";
    b.title = title;
    b.addEventListener("click", action);
    return b;
  },
  // Six digits, an exponent if needed, a true minus sign.
  shown: (v) => {
    if (v == null || Number.isNaN(v)) return "–";
    if (v === 0) return "0";
    const a = Math.abs(v);
    const text = a < 1e-3 || a >= 1e6 ? v.toExponential(3) : String(Number(v.toPrecision(6)));
    return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
  },
  // The index of the number nearest to `v` in a sorted list.
  nearest: (list, v) => {
    let [a, b] = [0, list.length - 1];
    while (b - a > 1) {
      const middle = (a + b) >> 1;
      if (list[middle] <= v) a = middle;
      else b = middle;
    }
    return v - list[a] < list[b] - v ? a : b;
  },
  // Numbers as texts with the same decimals or the same exponent, for the ticks of an axis.
  ticks: (splits) => {
    const decimals = (step) => {
      let digits = 0;
      while (digits < 12 && Math.abs(step - Number(step.toFixed(digits))) > 1e-6 * step) digits++;
      return digits;
    };
    const step = splits.length > 1 ? Math.abs(splits[1] - splits[0]) : 1;
    const top = Math.max(...splits.map(Math.abs));
    const tidy = splits.map((v) => (Math.abs(v) < step * 1e-6 ? 0 : v));
    if (top !== 0 && (top < 1e-3 || top >= 1e5)) {
      const power = Math.floor(Math.log10(top) + 1e-9);
      const digits = decimals(step / 10 ** power);
      const mantissa = (v) => (v / 10 ** power).toFixed(digits).replace("-", "−");
      return tidy.map((v) => (v === 0 ? "0" : `${mantissa(v)}e${power}`));
    }
    const digits = decimals(step);
    return tidy.map((v) => v.toFixed(digits).replace("-", "−"));
  },
  // Texts at powers of ten, and at 2 and 5 times these if the axis has few of them.
  logTicks: (splits) => {
    const there = splits.filter((v) => v != null);
    const wanted = there.at(-1) / there[0] < 200 ? [1, 2, 5] : [1];
    return splits.map((v) => {
      const power = v == null ? 0 : Math.floor(Math.log10(v) + 1e-9);
      if (v == null || !wanted.includes(Math.round((v / 10 ** power) * 1e6) / 1e6)) return "";
      return v >= 1e-3 && v < 1e5 ? pageTools.shown(v) : `${Math.round(v / 10 ** power)}e${power}`;
    });
  },
};

// Other units of a quantity: name, and how many of them one unit is.
const pageUnits = {
  rad: [["deg", 180 / Math.PI]], deg: [["rad", Math.PI / 180]],
  "rad/s": [["deg/s", 180 / Math.PI], ["rpm", 30 / Math.PI]], "rad/s²": [["deg/s²", 180 / Math.PI]],
  m: [["mm", 1e3], ["km", 1e-3]], "m/s": [["mm/s", 1e3], ["km/s", 1e-3]], "m/s²": [["mm/s²", 1e3]],
  N: [["mN", 1e3], ["kN", 1e-3]], "N·m": [["mN·m", 1e3]], J: [["mJ", 1e3], ["kJ", 1e-3]], s: [["ms", 1e3]],
};

// Dashes of the runs, one after the other, CSS pixels.
const pageDashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

// Returns the charts of the runs: each run has a label, its times, charts and variables.
// `page.marks` are drawn as lines across charts over time.
function pageCharts(page, runs) {
  const { css, color, element, shown, nearest, ticks, logTicks } = pageTools;
  const time = page.time;
  const last = time.length - 1;
  const height = 270;
  const font = "12px system-ui, 'DejaVu Sans', sans-serif";
  const axis = (label, size, log = false) => ({
    label, labelSize: 22, size, labelGap: 0, gap: 6, font, labelFont: font, stroke: css("--soft"),
    values: (u, splits) => (log ? logTicks(splits) : ticks(splits)),
    grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1, size: 4 },
  });

  // All charts show the same time: that of the chart under the pointer.
  const followers = [];
  let isNotifying = false;
  const notify = (from, t) => {
    if (isNotifying) return;
    isNotifying = true;
    for (const follower of followers) if (follower.chart !== from) follower.show(t);
    isNotifying = false;
  };

  // Impacts, captures and releases as lines across a chart over time.
  function markings(u) {
    const { ctx } = u;
    const { left, top, width, height } = u.bbox;
    ctx.save();
    ctx.strokeStyle = css("--note");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { time, contact } of page.marks) {
      const x = u.valToPos(time, "x", true);
      if (!contact || x < left || x > left + width) continue;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // The background of a line's sample in a legend.
  const sample = ({ color: c, dash }) => {
    let x = 0;
    const stops = dash.map((length, k) => `${k % 2 ? "transparent" : color(c)} ${x}px ${(x += length)}px`);
    return dash.length ? `repeating-linear-gradient(90deg, ${stops.join(", ")})` : color(c);
  };
  const unitOf = (label) => /^(.*)\[([^\]]+)\]$/.exec(label);
  // The lines of a chart in all runs, in the chart's unit: name, colour, dash, values over the
  // joined times.
  function lines(chart) {
    const { log, unit } = chart.view;
    const factor = pageUnits[unitOf(chart.label)?.[2]]?.find(([name]) => name === unit)?.[1] ?? 1;
    const value = (v) => {
      const x = v == null ? null : v * factor;
      return log ? (x ? Math.abs(x) : null) : x;
    };
    const names = [];
    const list = [];
    const tables = runs.map((run, k) => {
      const same = k === 0 ? chart : chart.series ? run.charts.find((c) => c.series && c.title === chart.title && c.label === chart.label) : null;
      const series = (chart.inRuns ? chart.inRuns[k] : same?.series) ?? [];
      for (const { name, dashed } of series) {
        if (!names.includes(name)) names.push(name);
        list.push({
          name: runs.length > 1 ? `${name} · ${run.label}` : name, color: names.indexOf(name),
          dash: runs.length > 1 ? pageDashes[k % pageDashes.length] : dashed ? [5, 4] : [], width: dashed && runs.length > 1 ? 1 : 1.75,
        });
      }
      return [run.time, ...series.map((s) => s.values.map(value))];
    });
    const data = runs.length > 1 ? uPlot.join(tables) : tables[0];
    const label = unit ? chart.label.replace(/\[[^\]]+\]$/, `[${unit}]`) : chart.label;
    return { list, data, label: log ? `magnitude of ${label}` : label };
  }

  function timeChart(chart, into) {
    const { log } = chart.view;
    const { list, data, label } = lines(chart);
    const final = data[0].length - 1;
    // The value at a row, or in a run without this time at the one before.
    const at = (u, k, i) => {
      let row = i ?? final;
      while (row > 0 && u.data[k][row] === undefined) row--;
      return shown(u.data[k][row]);
    };
    const plot = new uPlot({
      width: into.clientWidth, height, padding: [10, 14, 0, 0],
      scales: { x: { time: false }, y: log ? { distr: 3 } : {} },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false }, points: { size: 7 } },
      legend: { live: true, markers: { fill: (u, k) => (k ? sample(list[k - 1]) : null) } },
      series: [{ label: "t", value: (u, v, k, i) => `${shown(i == null ? data[0][final] : v)} s` }, ...list.map((line) => ({
        label: line.name, stroke: color(line.color), width: line.width, dash: line.dash.length ? line.dash : undefined, points: { show: false },
        value: (u, v, k, i) => at(u, k, i),
      }))],
      axes: [axis("t [s]", 34), axis(label, 64, log)],
      hooks: { setCursor: [(u) => notify("time", u.cursor.idx == null ? null : u.data[0][u.cursor.idx])], drawAxes: [markings] },
    }, data, into);
    return {
      chart: "time", plot,
      show: (t) => plot.setCursor({ left: t == null ? -10 : plot.valToPos(t, "x"), top: 0 }, false),
      drawing: () => ({
        title: chart.title, x: "t [s]", y: label, log,
        lines: list.map((line, k) => ({ ...line, xs: data[0], ys: data[k + 1], shown: plot.series[k + 1].show })),
      }),
      table: () => [["time [s]", ...list.map((line) => `${line.name} (${label})`)], ...data[0].map((t, i) => [t, ...list.map((line, k) => data[k + 1][i] ?? "")])],
    };
  }

  // The paths of a chart in all runs.
  const paths = (chart) => runs.flatMap((run, r) => {
    const same = r === 0 ? chart : run.charts.find((c) => c.paths && c.title === chart.title);
    return (same?.paths ?? []).map((p, k) => ({ ...p, name: runs.length > 1 ? `${p.name} · ${run.label}` : p.name, color: k, dash: pageDashes[r % pageDashes.length], time: run.time }));
  });

  // A path in a plane: both axes to the same scale, zoomed by a rectangle.
  function pathChart(chart, into) {
    const all = paths(chart);
    const extent = (k) => {
      const values = all.flatMap((p) => p[k]).filter((v) => v != null);
      return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
    };
    const fit = (u, [x0, x1], [y0, y1], room) => {
      const perPixel = Math.max((x1 - x0) / u.over.clientWidth, (y1 - y0) / u.over.clientHeight, 1e-12) * room;
      const [w, h] = [u.over.clientWidth * perPixel / 2, u.over.clientHeight * perPixel / 2];
      const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
      u.batch(() => {
        u.setScale("x", { min: x - w, max: x + w });
        u.setScale("y", { min: y - h, max: y + h });
      });
    };
    const whole = (u) => fit(u, extent("x"), extent("y"), 1.15);
    const draw = (u, k) => {
      const { ctx } = u;
      const { left, top, width, height } = u.bbox;
      const [xs, ys] = u.data[k];
      const path = all[k - 1];
      const at = (i) => [u.valToPos(xs[i], "x", true), u.valToPos(ys[i], "y", true)];
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = ctx.fillStyle = color(path.color);
      ctx.lineWidth = 1.75 * devicePixelRatio;
      ctx.lineJoin = "round";
      ctx.setLineDash(path.dash.map((length) => length * devicePixelRatio));
      ctx.beginPath();
      for (let i = 0; i < xs.length; i++) ctx.lineTo(...at(i));
      ctx.stroke();
      ctx.setLineDash([]);
      const dot = (i, fill) => {
        ctx.beginPath();
        ctx.arc(...at(i), 4.5 * devicePixelRatio, 0, 2 * Math.PI);
        ctx.fillStyle = fill;
        ctx.fill();
        ctx.stroke();
      };
      dot(0, css("--card"));
      dot(xs.length - 1, color(path.color));
      ctx.restore();
      return null;
    };
    const facets = [{ scale: "x", auto: false }, { scale: "y", auto: false }];
    const plot = new uPlot({
      mode: 2, width: into.clientWidth, height, padding: [10, 14, 0, 0],
      scales: { x: { time: false, auto: false, range: (u, a, b) => [a, b] }, y: { auto: false, range: (u, a, b) => [a, b] } },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, setScale: false }, bind: { dblclick: (u) => () => whole(u) } },
      legend: { show: false },
      series: [null, ...all.map((p) => ({ label: p.name, facets, stroke: color(p.color), paths: draw }))],
      axes: [axis(chart.x, 34), axis(chart.y, 64)],
      hooks: {
        setSelect: [(u) => {
          const { left, top, width, height } = u.select;
          if (width < 4 || height < 4) return;
          fit(u, [u.posToVal(left, "x"), u.posToVal(left + width, "x")], [u.posToVal(top + height, "y"), u.posToVal(top, "y")], 1);
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
        setScale: [() => place()],
        ready: [whole],
      },
    }, [null, ...all.map((p) => [p.x, p.y])], into);

    const readout = into.appendChild(element("div", "readout"));
    plot.over.style.overflow = "hidden"; // no markers outside a zoomed plot
    const markers = all.map((p) => {
      const marker = plot.over.appendChild(element("div", "marker"));
      marker.style.background = color(p.color);
      return marker;
    });
    let instant = null;
    const rowOf = (p) => nearest(p.time, instant ?? p.time.at(-1));
    function place() {
      all.forEach((p, k) => {
        markers[k].style.display = instant == null ? "none" : "block";
        if (instant == null) return;
        markers[k].style.left = `${plot.valToPos(p.x[rowOf(p)], "x")}px`;
        markers[k].style.top = `${plot.valToPos(p.y[rowOf(p)], "y")}px`;
      });
    }
    const show = (t) => {
      instant = t;
      place();
      readout.replaceChildren(element("b", "", `t ${shown(time[nearest(time, t ?? time[last])])} s`), ...all.map((p) => {
        const item = element("span");
        const line = item.appendChild(element("i"));
        line.style.background = sample(p);
        item.append(element("b", "", p.name), ` (${shown(p.x[rowOf(p)])}, ${shown(p.y[rowOf(p)])})`);
        return item;
      }));
    };
    const under = (left, top) => {
      let best = null;
      let distance = 40 * 40;
      for (const p of all) {
        for (let i = 0; i < p.x.length; i++) {
          const dx = plot.valToPos(p.x[i], "x") - left;
          const dy = plot.valToPos(p.y[i], "y") - top;
          if (dx * dx + dy * dy < distance) [best, distance] = [p.time[i], dx * dx + dy * dy];
        }
      }
      return best;
    };
    const hover = (t) => {
      show(t);
      notify(plot, t);
    };
    plot.over.addEventListener("mousemove", (e) => hover(under(e.offsetX, e.offsetY)));
    plot.over.addEventListener("mouseleave", () => hover(null));
    show(null);
    return {
      chart: plot, plot, show, resized: () => queueMicrotask(() => whole(plot)),
      drawing: () => ({ title: chart.title, x: chart.x, y: chart.y, lines: all.map((p) => ({ ...p, width: 1.75, xs: p.x, ys: p.y, shown: true })) }),
      table: () => [["run time [s]", "path", chart.x, chart.y], ...all.flatMap((p) => p.x.map((x, i) => [p.time[i], p.name, x, p.y[i]]))],
    };
  }

  // The present charts: they observe the pointer and their size until they are removed.
  const drawn = [];
  function card(chart, main, remove) {
    const { button } = pageTools;
    chart.view ??= { log: false, unit: "" };
    const section = main.appendChild(element("section", "card"));
    section.ariaLabel = chart.title;
    const head = section.appendChild(element("div", "head"));
    head.append(element("h2", "", chart.title));
    const tools = head.appendChild(element("div", "tools"));
    section.append(element("p", "", chart.note));
    const into = section.appendChild(element("div"));
    into.role = "img";
    let follower;
    const draw = () => {
      if (follower) {
        follower.plot.destroy();
        followers.splice(followers.indexOf(follower), 1);
        into.replaceChildren();
      }
      follower = chart.paths ? pathChart(chart, into) : timeChart(chart, into);
      const named = follower.drawing();
      into.ariaLabel = `Chart of ${named.y} over ${named.x}: ${named.lines.map((line) => line.name).join(", ")}`;
      followers.push(follower);
    };
    const own = chart.label && unitOf(chart.label)?.[2];
    if (pageUnits[own]) {
      const units = tools.appendChild(element("select"));
      units.ariaLabel = "unit";
      units.append(...[[own], ...pageUnits[own]].map(([name], k) => new Option(name, k ? name : "")));
      units.value = chart.view.unit;
      units.addEventListener("change", () => {
        chart.view.unit = units.value;
        draw();
      });
    }
    if (chart.series) {
      const log = button(tools, "log", () => {
        chart.view.log = !chart.view.log;
        log.ariaPressed = chart.view.log;
        draw();
      }, "logarithmic scale of the magnitude");
      log.ariaPressed = chart.view.log;
    }
    button(tools, "SVG", () => pageExports.svg(follower.drawing(), follower.plot), "save the chart as a drawing");
    button(tools, "CSV", () => pageExports.csv(chart.title, follower.table()), "save the chart's numbers as a table");
    if (remove) button(tools, "×", remove, "remove the chart").ariaLabel = "remove the chart";
    draw();
    const resize = () => {
      if (into.clientWidth && into.clientWidth !== follower.plot.width) {
        follower.plot.setSize({ width: into.clientWidth, height });
        follower.resized?.();
      }
    };
    const sizes = new ResizeObserver(() => requestAnimationFrame(resize));
    sizes.observe(into);
    drawn.push({ end: () => (sizes.disconnect(), follower.plot.destroy()) });
  }

  return {
    notify,
    // Draws the charts, and those that were chosen with a function that removes them.
    draw(main, player, chosen, remove) {
      for (const { end } of drawn.splice(0)) end();
      main.replaceChildren();
      followers.length = 0;
      if (player) followers.push(player);
      for (const chart of chosen) card(chart, main, () => remove(chart));
      for (const chart of page.charts) card(chart, main);
    },
  };
}

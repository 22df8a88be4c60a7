"use strict";
// Draws the contents selected by the program: `page` contains the texts, the charts and their data.
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const time = page.time;
  const last = time.length - 1;
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const color = (i) => css(`--c${i % 8}`);
  const element = (tag, className, text) => {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  // Six digits, an exponent if needed, a true minus sign.
  const shown = (v) => {
    if (v == null) return "–";
    if (v === 0) return "0";
    const a = Math.abs(v);
    const text = a < 1e-3 || a >= 1e6 ? v.toExponential(3) : String(Number(v.toPrecision(6)));
    return text.replace("-", "−").replace("e−", "e-").replace("e+", "e");
  };
  // Decimals that show a step exactly: 1 for 2.5, 2 for 0.05.
  const decimals = (step) => {
    let digits = 0;
    while (digits < 12 && Math.abs(step - Number(step.toFixed(digits))) > 1e-6 * step) digits++;
    return digits;
  };
  // The ticks of one axis have the same format.
  const ticks = (u, splits) => {
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
  };
  const axis = (label, size) => ({
    label, labelSize: 22, size, values: ticks, labelGap: 0, gap: 6,
    stroke: css("--soft"), font: "12px system-ui, 'DejaVu Sans', sans-serif", labelFont: "12px system-ui, 'DejaVu Sans', sans-serif",
    grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1, size: 4 },
  });
  const height = 290;

  // All charts show the same instant: that of the chart under the pointer.
  const followers = [];
  let telling = false;
  const tell = (from, i) => {
    if (telling) return;
    telling = true;
    for (const follower of followers) if (follower.chart !== from) follower.show(i);
    telling = false;
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

  function timeChart(chart, into) {
    const series = chart.series.map((s, i) => ({
      label: s.name, stroke: color(i), width: 1.75, points: { show: false }, dash: s.dashed ? [5, 4] : undefined,
      value: (u, v, k, i) => shown(i == null ? u.data[k][last] : v),
    }));
    const plot = new uPlot({
      width: into.clientWidth, height, padding: [10, 14, 0, 0],
      scales: { x: { time: false } },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false }, points: { size: 7 } },
      legend: { live: true, markers: { fill: (u, k) => (k ? color(k - 1) : null) } },
      series: [{ label: "t", value: (u, v, k, i) => `${shown(i == null ? time[last] : v)} s` }, ...series],
      axes: [axis("t [s]", 34), axis(chart.label, 64)],
      hooks: { setCursor: [(u) => tell("time", u.cursor.idx)], drawAxes: [markings] },
    }, [time, ...chart.series.map((s) => s.values)], into);
    return {
      chart: "time", plot,
      show: (i) => plot.setCursor({ left: i == null ? -10 : plot.valToPos(time[i], "x"), top: 0 }, false),
    };
  }

  // A path in a plane: both axes to the same scale, zoomed by a rectangle.
  function pathChart(chart, into) {
    const extent = (k) => {
      const all = chart.paths.flatMap((p) => p[k]);
      return [all.reduce((a, b) => Math.min(a, b)), all.reduce((a, b) => Math.max(a, b))];
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
      const at = (i) => [u.valToPos(xs[i], "x", true), u.valToPos(ys[i], "y", true)];
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = ctx.fillStyle = color(k - 1);
      ctx.lineWidth = 1.75 * devicePixelRatio;
      ctx.lineJoin = "round";
      ctx.beginPath();
      for (let i = 0; i < xs.length; i++) ctx.lineTo(...at(i));
      ctx.stroke();
      const dot = (i, fill) => {
        ctx.beginPath();
        ctx.arc(...at(i), 4.5 * devicePixelRatio, 0, 2 * Math.PI);
        ctx.fillStyle = fill;
        ctx.fill();
        ctx.stroke();
      };
      dot(0, css("--card"));
      dot(xs.length - 1, color(k - 1));
      ctx.restore();
      return null;
    };
    const facets = [{ scale: "x", auto: false }, { scale: "y", auto: false }];
    const plot = new uPlot({
      mode: 2, width: into.clientWidth, height, padding: [10, 14, 0, 0],
      scales: { x: { time: false, auto: false, range: (u, a, b) => [a, b] }, y: { auto: false, range: (u, a, b) => [a, b] } },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, setScale: false }, bind: { dblclick: (u) => () => whole(u) } },
      legend: { show: false },
      series: [null, ...chart.paths.map((p, i) => ({ label: p.name, facets, stroke: color(i), paths: draw }))],
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
    }, [null, ...chart.paths.map((p) => [p.x, p.y])], into);

    const readout = into.appendChild(element("div", "readout"));
    plot.over.style.overflow = "hidden"; // no markers outside a zoomed plot
    const markers = chart.paths.map((p, i) => {
      const marker = plot.over.appendChild(element("div", "marker"));
      marker.style.background = color(i);
      return marker;
    });
    let instant = null;
    function place() {
      chart.paths.forEach((p, k) => {
        markers[k].style.display = instant == null ? "none" : "block";
        if (instant == null) return;
        markers[k].style.left = `${plot.valToPos(p.x[instant], "x")}px`;
        markers[k].style.top = `${plot.valToPos(p.y[instant], "y")}px`;
      });
    }
    const show = (i) => {
      instant = i;
      place();
      const at = i == null ? last : i;
      readout.replaceChildren(element("b", "", `t ${shown(time[at])} s`), ...chart.paths.map((p, k) => {
        const item = element("span");
        const line = item.appendChild(element("i"));
        line.style.background = color(k);
        item.append(element("b", "", p.name), ` (${shown(p.x[at])}, ${shown(p.y[at])})`);
        return item;
      }));
    };
    const nearest = (left, top) => {
      let best = null;
      let distance = 40 * 40;
      for (const p of chart.paths) {
        for (let i = 0; i <= last; i++) {
          const dx = plot.valToPos(p.x[i], "x") - left;
          const dy = plot.valToPos(p.y[i], "y") - top;
          if (dx * dx + dy * dy < distance) [best, distance] = [i, dx * dx + dy * dy];
        }
      }
      return best;
    };
    const self = { chart: plot, plot, show, resized: () => queueMicrotask(() => whole(plot)) };
    const hover = (i) => {
      show(i);
      tell(plot, i);
    };
    plot.over.addEventListener("mousemove", (e) => hover(nearest(e.offsetX, e.offsetY)));
    plot.over.addEventListener("mouseleave", () => hover(null));
    show(null);
    return self;
  }

  function head() {
    const parts = [element("h1", "", page.name)];
    if (page.description) parts.push(element("p", "description", page.description));
    const facts = element("dl", "facts");
    for (const [label, value] of page.facts) {
      const fact = facts.appendChild(element("div"));
      fact.append(element("dt", "", label), element("dd", "", value));
    }
    parts.push(facts);
    if (page.messages.length) {
      const list = element("ul", "messages");
      list.append(...page.messages.map((m) => element("li", "", m)));
      parts.push(list);
    }
    document.getElementById("head").replaceChildren(...parts);
    document.getElementById("diagnostics").replaceChildren(...page.diagnostics.map(({ label, value, detail, verdict }) => {
      const tile = element("div", `tile ${verdict}`);
      tile.append(element("div", "label", label), element("div", "value", value), element("div", "detail", detail));
      return tile;
    }));
    document.getElementById("foot").replaceChildren(...page.foot.map((line) => element("p", "", line)));
  }

  // Base64 of single-precision numbers.
  const decode = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const chosen = [];

  // The first plotted row at or after a time; the page's times have eight digits.
  const drawnAfter = (t) => {
    const i = time.findIndex((drawn) => drawn >= t - 1e-7 * Math.abs(t));
    return i < 0 ? last : i;
  };
  // Relative position of a time among the rows, 0 to 1.
  const along = (t) => {
    const i = drawnAfter(t);
    return i && time[i] > t ? (i - (time[i] - t) / (time[i] - time[i - 1])) / last : i / last;
  };

  // Magnification of deflections: a slider of its exponent.
  function magnifier(bar, scene) {
    const box = bar.appendChild(element("label", "", "bending"));
    const slider = box.appendChild(element("input"));
    Object.assign(slider, { type: "range", min: 0, max: 3, step: 0.05, value: 0, id: "magnify" });
    const factor = box.appendChild(element("output", "", "1×"));
    slider.addEventListener("input", () => {
      const by = 10 ** Number(slider.value);
      factor.textContent = `${by < 10 ? Number(by.toPrecision(2)) : Math.round(by)}×`;
      scene.magnify(by);
    });
  }

  // The animated spacecraft and its controls.
  function craft() {
    if (!page.motion) return;
    const section = document.getElementById("craft");
    section.hidden = false;
    const into = section.appendChild(element("div", "view"));
    const player = section.appendChild(element("div", "bar"));
    const bar = section.appendChild(element("div", "bar"));
    const scene = craftScene(page.motion, time, into, css, decode);
    const button = (into, text, action, title) => {
      const b = into.appendChild(element("button", "", text));
      b.type = "button";
      b.title = title;
      b.addEventListener("click", action);
      return b;
    };
    const option = (label, choices, action, first = 0) => {
      const box = bar.appendChild(element("label", "", label));
      const select = box.appendChild(element("select"));
      select.append(...choices.map(([text], k) => new Option(text, k, k === first, k === first)));
      select.addEventListener("change", () => action(choices[select.value][1]));
    };
    const play = button(player, "▶", () => run(!playing), "play or pause (space)");
    play.id = "play";
    const track = player.appendChild(element("div", "track"));
    const slider = track.appendChild(element("input"));
    Object.assign(slider, { type: "range", min: 0, max: last, step: 1, value: 0, id: "timeline", ariaLabel: "time" });
    const clock = player.appendChild(element("output"));
    clock.id = "clock";
    const normal = (time[last] - time[0]) / 20;
    let [speed, playing, now, before] = [1, false, time[0], null];
    option("speed", [["0.25×", 0.25], ["0.5×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4]], (v) => { speed = v; }, 2);
    if (page.motion.beams.length) magnifier(bar, scene);
    option("follow", [["nothing", -1], ...page.motion.bodies.map((b, k) => [b.name, k])], scene.follow, scene.roams ? 1 : 0);
    if (scene.roams) scene.follow(0);
    const places = [...page.motion.bodies, ...page.motion.frames].map(({ name }) => name);
    option("trail", [["none", []], ["all", places], ...places.map((name) => [name, [name]])], scene.trail);
    button(bar, "x", () => scene.view([1, 0, 0.001]), "seen along x");
    button(bar, "y", () => scene.view([0, -1, 0.001]), "seen along y");
    button(bar, "z", () => scene.view([0, -0.001, 1]), "seen along z");
    button(bar, "iso", () => scene.view([1, -1.2, 0.8]), "seen from a corner");
    const set = (i) => {
      slider.value = i;
      clock.textContent = `${shown(time[i])} s`;
      scene.show(i);
    };
    const go = (i) => {
      i = Math.max(0, Math.min(last, i));
      now = time[i];
      set(i);
      tell(null, i);
    };
    track.append(...page.marks.map((mark) => {
      const b = element("button", mark.contact ? "mark contact" : "mark");
      const place = along(mark.time);
      b.type = "button";
      b.style.left = `calc(8px + ${place} * (100% - 16px))`; // the range of the thumb's centre
      b.dataset.text = b.ariaLabel = `${shown(mark.time)} s: ${mark.text}`;
      if (place > 0.5) b.classList.add("late");
      b.addEventListener("click", () => go(drawnAfter(mark.time)));
      return b;
    }));
    const run = (yes) => {
      playing = yes;
      play.textContent = yes ? "❚❚" : "▶";
      before = null;
      if (yes && now >= time[last]) go(0);
      if (yes) requestAnimationFrame(frame);
    };
    const frame = (clock) => {
      if (!playing) return;
      now += before == null ? 0 : ((clock - before) / 1000) * speed * normal;
      before = clock;
      let i = Number(slider.value);
      while (i < last && time[i + 1] <= now) i++;
      const t = now;
      go(i);
      now = t;
      if (i === last) run(false);
      else requestAnimationFrame(frame);
    };
    slider.addEventListener("input", () => go(Number(slider.value)));
    document.addEventListener("keydown", (e) => {
      if (e.target.closest?.("input:not(#timeline), select")) return;
      if (e.key === " " && !e.target.closest?.("button, a, tr")) run(!playing);
      else if (e.key === "ArrowRight") go(Number(slider.value) + 1);
      else if (e.key === "ArrowLeft") go(Number(slider.value) - 1);
      else return;
      e.preventDefault();
    });
    // page.html#t=5 opens at 5 s.
    go(drawnAfter(Number(new URLSearchParams(location.hash.slice(1)).get("t")) || time[0]));
    if (page.motion.lacking) section.append(element("p", "lacking", page.motion.lacking));
    section.append(element("p", "", `Drag to rotate, wheel to zoom, right button to pan. Speed 1× shows the run in 20 s (${shown(normal)} times real time). ` +
      "A body without shapes is shown as the box or cylinder of uniform density with its mass and inertia." +
      (page.motion.interfaces.length ? " A ring and a dot mark a possible contact: orange after an impact, green while captured or pressed." : "")));
    return { chart: "craft", go, repaint: scene.repaint, show: (i) => { if (i != null && !playing) { now = time[i]; set(i); } } };
  }

  // A chart of any recorded variable.
  function choice() {
    const list = document.getElementById("names");
    list.replaceChildren(...page.variables.map(({ name, unit }) => new Option(unit ? `[${unit}]` : "", name)));
    document.getElementById("choose").addEventListener("submit", (e) => {
      e.preventDefault();
      const box = e.target.elements.variable;
      const variable = page.variables.find((v) => v.name === box.value);
      box.setCustomValidity(variable ? "" : "There is no such variable.");
      box.reportValidity();
      if (!variable) return;
      const values = decode(variable.values);
      const label = `value${variable.unit ? ` [${variable.unit}]` : ""}`;
      const series = { name: variable.name, values: time.map((_, i) => values[values.length > 1 ? i : 0]), dashed: false };
      const same = e.submitter?.name === "add" && chosen.at(-1)?.label === label ? chosen.at(-1) : null;
      if (same) same.series.push(series);
      else chosen.push({ title: variable.name, note: "chosen variable", label, series: [series] });
      box.value = "";
      charts();
    });
    document.getElementById("choose").elements.variable.addEventListener("input", (e) => e.target.setCustomValidity(""));
  }

  let player;
  // A row with a time moves the animation there.
  function tables() {
    document.getElementById("tables").replaceChildren(...page.tables.map(({ title, note, columns, rows }) => {
      const card = element("section", "card");
      const table = element("table");
      const head = table.appendChild(element("thead")).appendChild(element("tr"));
      head.append(...columns.map((column) => element("th", "", column)));
      const body = table.appendChild(element("tbody"));
      body.append(...rows.map(({ time: t, cells }) => {
        const row = element("tr");
        row.append(...cells.map((cell) => element("td", "", cell)));
        if (t == null || !player) return row;
        const act = () => player.go(drawnAfter(t));
        row.tabIndex = 0;
        row.addEventListener("click", act);
        row.addEventListener("keydown", (e) => { if (e.key === "Enter") act(); });
        return row;
      }));
      const scroll = element("div", "scroll");
      scroll.append(table);
      card.append(element("h2", "", title), element("p", "", note), scroll);
      return card;
    }));
  }

  // The present charts: they observe the pointer and their size until they are removed.
  const drawn = [];
  function charts() {
    const main = document.getElementById("charts");
    for (const { plot, sizes } of drawn.splice(0)) {
      sizes.disconnect();
      plot.destroy();
    }
    main.replaceChildren();
    followers.length = 0;
    if (player) followers.push(player);
    for (const chart of [...chosen, ...page.charts]) {
      const card = main.appendChild(element("section", "card"));
      card.append(element("h2", "", chart.title), element("p", "", chart.note));
      const into = card.appendChild(element("div"));
      const follower = chart.paths ? pathChart(chart, into) : timeChart(chart, into);
      followers.push(follower);
      const resize = () => {
        if (into.clientWidth && into.clientWidth !== follower.plot.width) {
          follower.plot.setSize({ width: into.clientWidth, height });
          follower.resized?.();
        }
      };
      const sizes = new ResizeObserver(() => requestAnimationFrame(resize));
      sizes.observe(into);
      drawn.push({ plot: follower.plot, sizes });
    }
  }

  head();
  player = craft();
  choice();
  tables();
  charts();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    charts();
    player?.repaint();
  });
})();

"use strict";
// Draws the contents selected by the program: `page` contains the texts, the charts and their data.
(() => {
  const page = JSON.parse(document.getElementById("data").textContent);
  const { css, element, button, shown } = pageTools;
  const time = page.time;
  const last = time.length - 1;
  const runs = [page, ...page.others];
  const charts = pageCharts(page, runs);
  const byId = (id) => document.getElementById(id);

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
    byId("head").replaceChildren(...parts);
    byId("diagnostics").replaceChildren(...page.diagnostics.map(({ label, value, detail, verdict }) => {
      const tile = element("div", `tile ${verdict}`);
      tile.append(element("div", "label", label), element("div", "value", value), element("div", "detail", detail));
      return tile;
    }));
    byId("foot").replaceChildren(...page.foot.map((line) => element("p", "", line)));
  }

  // Base64 of single-precision numbers.
  const decode = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

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

  // The options of the picture: speed, camera, marks; files. `film` starts a film.
  function options(section, scene, player) {
    const box = section.appendChild(element("details"));
    box.open = matchMedia("(min-width: 700px) and (min-height: 600px)").matches;
    box.append(element("summary", "", "View and files"));
    const bar = box.appendChild(element("div", "bar"));
    const option = (label, choices, action, first = 0) => {
      const box = bar.appendChild(element("label", "", label));
      const select = box.appendChild(element("select"));
      select.append(...choices.map(([text], k) => new Option(text, k, k === first, k === first)));
      select.addEventListener("change", () => action(choices[select.value][1]));
    };
    const { motion } = page;
    option("speed", [["0.25×", 0.25], ["0.5×", 0.5], ["1×", 1], ["2×", 2], ["4×", 4]], player.speed, 2);
    if (motion.beams.length) magnifier(bar, scene);
    option("follow", [["nothing", -1], ...scene.places.map((b, k) => [b.name, k])], scene.follow, scene.roams ? 1 : 0);
    if (scene.roams) scene.follow(0);
    option("camera axes", [["inertial", "inertial"], ["its own", "own"], ...(motion.orbit ? [["LVLH", "LVLH"]] : [])], scene.turn);
    const places = [...motion.bodies, ...motion.frames].map(({ name }) => name);
    option("trail", [["none", []], ["all", places], ...places.map((name) => [name, [name]])], scene.trail);
    button(bar, "x", () => scene.view([1, 0, 0.001]), "seen along x");
    button(bar, "y", () => scene.view([0, -1, 0.001]), "seen along y");
    button(bar, "z", () => scene.view([0, -0.001, 1]), "seen along z");
    button(bar, "iso", () => scene.view([1, -1.2, 0.8]), "seen from a corner");
    if (!scene.canvas) return;
    button(bar, "PNG", () => pageExports.png(page.name, scene, player.text()), "save the picture");
    if (globalThis.MediaRecorder) button(bar, "WebM", player.film, "play from the start and save a film of it");
  }

  // The animated spacecraft and its controls.
  function craft() {
    document.body.classList.toggle("still", !page.motion);
    if (!page.motion) return;
    const section = byId("craft");
    section.hidden = false;
    const into = section.appendChild(element("div", "view"));
    const bar = section.appendChild(element("div", "bar"));
    const scene = craftScene(page.motion, time, into, css, decode);
    if (scene.canvas) Object.assign(scene.canvas, { role: "img", ariaLabel: `${page.name} in motion, seen in 3D` });
    const play = button(bar, "▶", () => run(!playing), "play or pause (space)");
    play.id = "play";
    const events = [...new Set(page.marks.map((mark) => drawnAfter(mark.time)))].sort((a, b) => a - b);
    if (events.length) {
      button(bar, "|◀", () => go(events.findLast((i) => i < Number(slider.value)) ?? 0), "to the event before (page up)").ariaLabel = "event before";
      button(bar, "▶|", () => go(events.find((i) => i > Number(slider.value)) ?? last), "to the next event (page down)").ariaLabel = "next event";
    }
    const track = bar.appendChild(element("div", "track"));
    const slider = track.appendChild(element("input"));
    Object.assign(slider, { type: "range", min: 0, max: last, step: 1, value: 0, id: "timeline", ariaLabel: "time" });
    const clock = bar.appendChild(element("output"));
    clock.id = "clock";
    clock.ariaLive = "off";
    if (document.fullscreenEnabled) {
      const whole = button(bar, "", () => (document.fullscreenElement ? document.exitFullscreen() : section.requestFullscreen()), "full screen (f)");
      whole.ariaLabel = "full screen";
      whole.innerHTML = '<svg width="13" height="13" viewBox="0 0 13 13" fill="none" stroke="currentColor" stroke-width="1.7"><path d="M1 5V1h4M8 1h4v4M12 8v4H8M5 12H1V8"/></svg>';
      document.addEventListener("fullscreenchange", () => scene.touch(Boolean(document.fullscreenElement)));
    }
    const normal = (time[last] - time[0]) / 20;
    let [speed, playing, now, before, film] = [1, false, time[0], null, null];
    const text = () => `${page.name}   t = ${clock.textContent}`;
    const set = (i) => {
      slider.value = i;
      slider.ariaValueText = clock.textContent = `${shown(time[i])} s`;
      scene.show(i);
      film?.add(text());
    };
    const go = (i) => {
      i = Math.max(0, Math.min(last, i));
      now = time[i];
      set(i);
      charts.notify("craft", now);
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
      play.ariaLabel = yes ? "pause" : "play";
      before = null;
      if (yes && now >= time[last]) go(0);
      if (yes) requestAnimationFrame(frame);
      else if (film) {
        film.end();
        film = null;
        section.classList.remove("filmed");
      }
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
    run(false);
    options(section, scene, {
      text,
      speed: (v) => { speed = v; },
      film: () => {
        film?.end();
        go(0);
        film = pageExports.film(page.name, scene, text());
        section.classList.toggle("filmed", Boolean(film));
        run(true);
      },
    });
    slider.addEventListener("input", () => go(Number(slider.value)));
    const keys = {
      ArrowRight: (i) => i + 1, ArrowLeft: (i) => i - 1, Home: () => 0, End: () => last,
      PageDown: (i) => events.find((event) => event > i) ?? last, PageUp: (i) => events.findLast((event) => event < i) ?? 0,
    };
    document.addEventListener("keydown", (e) => {
      if (e.target.closest?.("input:not(#timeline), select") || e.ctrlKey || e.altKey || e.metaKey) return;
      // Without the focus on the time these keys scroll the page.
      const scrolls = e.key in keys && !e.key.startsWith("Arrow") && e.target !== slider;
      if (e.key === " " && !e.target.closest?.("button, a, tr, summary")) run(!playing);
      else if (e.key === "f" && document.fullscreenEnabled) section.querySelector("[aria-label='full screen']").click();
      else if (e.key in keys && !scrolls) go(keys[e.key](Number(slider.value)));
      else return;
      e.preventDefault();
    });
    // page.html#t=5 opens at 5 s.
    go(drawnAfter(Number(new URLSearchParams(location.hash.slice(1)).get("t")) || time[0]));
    if (page.motion.lacking) section.append(element("p", "lacking", page.motion.lacking));
    byId("foot").append(element("p", "", `Drag the picture to rotate it, wheel to zoom, right button to pan; two fingers on a touch screen. Space plays, arrows step. Speed 1× shows the run in 20 s (${shown(normal)} times real time). ` +
      "A body without shapes is shown as the box or cylinder of uniform density with its mass and inertia." +
      (page.motion.interfaces.length ? " A ring and a dot mark a possible contact: orange after an impact, green while captured or pressed." : "")));
    const show = (t) => {
      if (t == null || playing) return;
      const i = pageTools.nearest(time, t);
      now = time[i];
      set(i);
    };
    return { chart: "craft", go, show, repaint: scene.repaint };
  }

  // The quantity in a text: a variable, the norm |vector| of one, or a difference "a - b". Returns
  // its unit and its values in each run; none if there is no such variable.
  function quantity(text) {
    const difference = text.split(/ [-−] /);
    if (difference.length === 2) {
      const [a, b] = difference.map((part) => quantity(part.trim()));
      if (!a || !b) return null;
      if (a.unit !== b.unit) return { problem: `${difference[0]} has the unit ${a.unit || "1"}, ${difference[1]} ${b.unit || "1"}.` };
      return { unit: a.unit, inRuns: a.inRuns.map((values, k) => values && b.inRuns[k] && values.map((v, i) => (v == null || b.inRuns[k][i] == null ? null : v - b.inRuns[k][i]))) };
    }
    const vector = /^\|(.*)\|$/.exec(text)?.[1];
    const belongs = (v) => (vector ? v.name.startsWith(`${vector}[`) && /^\[\d+\]$/.test(v.name.slice(vector.length)) : v.name === text);
    let unit;
    const inRuns = runs.map((run) => {
      const found = run.variables.filter(belongs);
      if (!found.length) return null;
      unit ??= found[0].unit;
      const parts = found.map((v) => decode(v.values));
      return run.time.map((_, i) => {
        const values = parts.map((part) => part[part.length > 1 ? i : 0]);
        const value = vector ? Math.hypot(...values) : values[0];
        return Number.isNaN(value) ? null : value;
      });
    });
    return unit === undefined ? null : { unit, inRuns };
  }

  const chosen = [];
  // A chart of any recorded variable.
  function choice() {
    const names = page.variables.map(({ name }) => name);
    const vectors = new Set(names.map((name) => /^(.*)\[2\]$/.exec(name)?.[1]).filter(Boolean));
    const unit = new Map(page.variables.map((v) => [v.name, v.unit]));
    byId("names").replaceChildren(...names.map((name) => new Option(unit.get(name) ? `[${unit.get(name)}]` : "", name)),
      ...[...vectors].map((name) => new Option("norm", `|${name}|`)));
    const box = byId("choose").elements.variable;
    byId("choose").addEventListener("submit", (e) => {
      e.preventDefault();
      const text = box.value.trim();
      const found = quantity(text);
      box.setCustomValidity(found ? found.problem ?? "" : "There is no such variable.");
      box.reportValidity();
      if (!found || found.problem) return;
      const label = `value${found.unit ? ` [${found.unit}]` : ""}`;
      const series = found.inRuns.map((values) => (values ? [{ name: text, values, dashed: false }] : []));
      const same = e.submitter?.name === "add" && chosen.at(-1)?.label === label ? chosen.at(-1) : null;
      if (same) same.inRuns = same.inRuns.map((list, k) => [...list, ...series[k]]);
      else chosen.push({ title: text, note: "chosen variable", label, series: series[0], inRuns: series });
      box.value = "";
      draw();
    });
    box.addEventListener("input", () => box.setCustomValidity(""));
  }

  let player;
  // A row with a time moves the animation there.
  function tables() {
    byId("tables").replaceChildren(...page.tables.map(({ title, note, columns, rows }) => {
      const card = element("section", "card");
      card.ariaLabel = title;
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
        row.title = "go to this time";
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

  function draw() {
    charts.draw(byId("charts"), player, chosen, (chart) => {
      chosen.splice(chosen.indexOf(chart), 1);
      draw();
    });
  }

  head();
  player = craft();
  choice();
  tables();
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    draw();
    player?.repaint();
  });
})();

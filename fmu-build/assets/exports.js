"use strict";
// Files that the page saves: charts as SVG and CSV, the picture as PNG, the animation as WebM.
const pageExports = {
  save(name, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name.replace(/[^\w.-]+/g, "_");
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  },

  // A table of numbers and texts.
  csv(title, rows) {
    // The page has single precision.
    const cell = (v) => (typeof v === "number" ? Number(v.toPrecision(8)) : /[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v);
    pageExports.save(`${title}.csv`, new Blob([rows.map((row) => `${row.map(cell).join(",")}\n`).join("")], { type: "text/csv" }));
  },

  // Ticks between two numbers: about `n` at round numbers, or powers of ten.
  splits(from, to, n, log) {
    if (log) {
      const decades = Array.from({ length: Math.ceil(Math.log10(to / from)) + 2 }, (_, k) => 10 ** (Math.floor(Math.log10(from)) + k));
      return decades.flatMap((ten) => [ten, 2 * ten, 5 * ten]).filter((v) => v >= from && v <= to);
    }
    const power = 10 ** Math.floor(Math.log10((to - from) / n));
    const step = power * [1, 2, 5, 10].find((digit) => digit * power >= (to - from) / n);
    return Array.from({ length: Math.floor(to / step) - Math.ceil(from / step) + 1 }, (_, k) => (Math.ceil(from / step) + k) * step);
  },

  // A chart as a drawing, with the limits of its present zoom.
  svg(drawing, plot) {
    const { color, css, ticks, logTicks } = pageTools;
    const [w, h, left, bottom, top] = [760, 420, 80, 50, 40];
    const text = (s) => s.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
    const { x: { min: x0, max: x1 }, y: { min: y0, max: y1 } } = plot.scales;
    const part = (v, a, b, log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
    const atX = (x) => left + part(x, x0, x1) * (w - left - 20);
    const atY = (y) => h - bottom - part(y, y0, y1, drawing.log) * (h - bottom - top);
    const parts = [];
    const xs = pageExports.splits(x0, x1, 6);
    const ys = pageExports.splits(y0, y1, 5, drawing.log);
    ticks(xs).forEach((label, k) => parts.push(`<path class="g" d="M${atX(xs[k])} ${top}V${h - bottom}"/><text x="${atX(xs[k])}" y="${h - bottom + 18}" text-anchor="middle">${label}</text>`));
    (drawing.log ? logTicks(ys) : ticks(ys)).forEach((label, k) => parts.push(`<path class="g" d="M${left} ${atY(ys[k])}H${w - 20}"/><text x="${left - 8}" y="${atY(ys[k]) + 4}" text-anchor="end">${label}</text>`));
    parts.push(`<clipPath id="in"><rect x="${left}" y="${top}" width="${w - left - 20}" height="${h - bottom - top}"/></clipPath><g clip-path="url(#in)" fill="none" stroke-linejoin="round">`);
    drawing.lines.forEach((line) => {
      if (!line.shown) return;
      let d = "";
      let move = true;
      line.xs.forEach((x, i) => {
        const y = line.ys[i];
        if (y === undefined) return; // a time of another run
        if (y === null) move = true;
        else {
          d += `${move ? "M" : "L"}${atX(x).toFixed(2)} ${atY(y).toFixed(2)}`;
          move = false;
        }
      });
      parts.push(`<path d="${d}" stroke="${color(line.color)}" stroke-width="${line.width}" stroke-dasharray="${line.dash.join(" ") || "none"}"/>`);
    });
    parts.push("</g>");
    let [x, y] = [left, h + 14];
    for (const line of drawing.lines.filter((line) => line.shown)) {
      const width = 45 + 6.8 * line.name.length;
      if (x > left && x + width > w) [x, y] = [left, y + 18];
      parts.push(`<path d="M${x} ${y - 4}h22" stroke="${color(line.color)}" stroke-width="2" stroke-dasharray="${line.dash.join(" ") || "none"}"/><text x="${x + 28}" y="${y}">${text(line.name)}</text>`);
      x += width;
    }
    parts.push(`<text x="${left}" y="24" font-weight="600" font-size="15">${text(drawing.title)}</text><text x="${(w + left) / 2}" y="${h - 12}" text-anchor="middle">${text(drawing.x)}</text>` +
      `<text transform="translate(18 ${h / 2}) rotate(-90)" text-anchor="middle">${text(drawing.y)}</text>`);
    const all = y + 14;
    pageExports.save(`${drawing.title}.svg`, new Blob([`<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${all}" viewBox="0 0 ${w} ${all}" font-family="sans-serif" font-size="12" fill="${css("--ink")}">` +
      `<style>.g{stroke:${css("--grid")}}</style><rect width="${w}" height="${all}" fill="${css("--card")}"/>${parts.join("")}</svg>`], { type: "image/svg+xml" }));
  },

  // A canvas with the picture on the page's background, and its time.
  frame(scene, text, canvas = document.createElement("canvas")) {
    const { css } = pageTools;
    scene.render();
    const { width, height } = scene.canvas;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const pen = canvas.getContext("2d");
    pen.fillStyle = css("--card");
    pen.fillRect(0, 0, width, height);
    pen.drawImage(scene.canvas, 0, 0);
    // The names, as the page shows them over the picture.
    const view = scene.canvas.getBoundingClientRect();
    const pixels = width / view.width;
    for (const name of scene.canvas.parentElement.querySelectorAll(".name:not([hidden])")) {
      const { left, top, height: high } = name.getBoundingClientRect();
      const style = getComputedStyle(name);
      pen.fillStyle = style.color;
      pen.font = `${parseFloat(style.fontSize) * pixels}px system-ui, sans-serif`;
      pen.fillText(name.textContent, (left - view.left + parseFloat(style.paddingLeft)) * pixels, (top - view.top + 0.8 * high) * pixels);
    }
    pen.fillStyle = css("--soft");
    pen.font = `${Math.round(height / 40)}px system-ui, sans-serif`;
    pen.fillText(text, height / 40, height / 22);
    return canvas;
  },

  png(name, scene, text) {
    pageExports.frame(scene, text).toBlob((blob) => pageExports.save(`${name}.png`, blob), "image/png");
  },

  // Starts a film of the picture. Returns functions that add the present picture and that end and
  // save it; none if the browser cannot record.
  film(name, scene, text) {
    const type = ["video/webm;codecs=vp9", "video/webm"].find((type) => globalThis.MediaRecorder?.isTypeSupported(type));
    const canvas = pageExports.frame(scene, text);
    if (!type || !canvas.captureStream) return null;
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: type, videoBitsPerSecond: 8e6 });
    const pieces = [];
    recorder.addEventListener("dataavailable", (e) => pieces.push(e.data));
    recorder.addEventListener("stop", () => pageExports.save(`${name}.webm`, new Blob(pieces, { type: "video/webm" })));
    recorder.start();
    return { add: (text) => pageExports.frame(scene, text, canvas), end: () => recorder.stop() };
  },
};

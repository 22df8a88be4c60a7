"use strict";
// Additions to the picture: axes of bodies and frames, names, forces and moments.
function craftLayers({ T, motion, bodies, frames: tracks, jointMarks, pathOf, wheels, slower, into, scene, camera, size, thick, paint, at, vector, decode, turned, render }) {
  let instant = 0;
  // Axes of bodies and frames.
  const frames = tracks.filter((frame) => frame.q).map(({ name, r, q, body }) => {
    const object = new T.Group();
    (body == null ? scene : bodies[body].group).add(object);
    return { name, object, fixed: body != null, r, q };
  });
  const triads = [...bodies.map(({ group }) => group), ...frames.map(({ object }) => object)].map((group) => {
    const axes = group.add(new T.AxesHelper(14 * thick)).children.at(-1);
    axes.visible = false;
    axes.material.depthTest = false;
    axes.renderOrder = 2;
    return axes;
  });
  function placeFrame({ object, fixed, r, q }) {
    const k = q.length > 4 ? 4 * instant : 0; // a frame on an ANCF beam has no attitude
    object.quaternion.copy(turned(q, k));
    object.position.copy(at(r, instant));
    if (!fixed) return;
    const { parent } = object;
    object.position.sub(parent.position).applyQuaternion(parent.quaternion.clone().invert());
  }

  // Forces are arrows with one head, moments with two; the longest of each unit has the same length.
  const most = {};
  const strengths = motion.arrows.map((arrow) => {
    const v = decode(arrow.vector);
    const norm = (i) => at(v, i).length();
    for (let i = 0; 3 * i < v.length; i++) most[arrow.unit] = Math.max(most[arrow.unit] ?? 0, norm(i));
    return { v, norm };
  });
  const arrows = motion.arrows.map((arrow, k) => {
    const group = scene.add(new T.Group()).children.at(-1);
    const material = paint(arrow.unit === "N" ? "--c6" : "--c5");
    material.depthTest = false; // seen through the bodies on which they act
    const shaft = group.add(new T.Mesh(new T.CylinderGeometry(0.8 * thick, 0.8 * thick, 1, 12).translate(0, 0.5, 0), material)).children.at(-1);
    const heads = (arrow.unit === "N" ? [0] : [0, 1]).map(() => group.add(new T.Mesh(new T.CylinderGeometry(0, 2.4 * thick, 6 * thick, 16), material)).children.at(-1));
    for (const part of [shaft, ...heads]) part.renderOrder = 1;
    return { ...arrow, ...strengths[k], group, shaft, heads, path: pathOf.get(arrow.at) };
  });
  function placeArrow({ v, unit, group, shaft, heads, path }) {
    const force = at(v, instant);
    const length = (0.3 * size * force.length()) / most[unit];
    group.visible = on.forces && length > 0.002 * size;
    if (!group.visible) return;
    group.position.copy(path ? at(path, instant) : vector(motion.world));
    group.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), force.normalize());
    // Short arrows are smaller as a whole.
    shaft.scale.y = Math.max(length, 12 * thick);
    group.scale.setScalar(length / shaft.scale.y);
    heads.forEach((head, k) => head.position.setY(shaft.scale.y - 4 * k * thick));
  }

  // Names, as elements over the picture.
  const names = [];
  const name = (text, className, where, isShown = () => true) => {
    const element = into.appendChild(document.createElement("span"));
    element.className = `name ${className}`;
    element.textContent = text;
    element.hidden = true;
    names.push({ element, where, isShown, text });
  };
  // The largest bodies first: a name that would cover another one is left out.
  const extent = (b) => Math.max(0, ...b.shapes.map((shape) => (shape.kind === "mesh" ? 0 : Math.max(...shape.size))));
  const isBeam = new Set(motion.beams.map((beam) => bodies[beam.body]));
  for (const b of [...bodies].sort((a, b) => extent(b) - extent(a))) {
    const middle = isBeam.has(b) ? vector(b.reaches[0]).add(vector(b.reaches[1])).divideScalar(2) : vector(b.shapes[0]?.r ?? [0, 0, 0]);
    name(b.name, "of-body", () => b.group.localToWorld(middle.clone()));
  }
  for (const frame of motion.frames) name(frame.name, "of-frame", () => scene.localToWorld(at(pathOf.get(frame.name), instant)));
  for (const wheel of wheels) name(wheel.name + (slower > 1 ? ` (turns 1:${slower})` : ""), "of-wheel", () => wheel.group.getWorldPosition(new T.Vector3()));
  for (const arrow of arrows) {
    const text = () => `${arrow.name} ${Number(arrow.norm(instant).toPrecision(3))} ${arrow.unit}`;
    name(text, "of-force", () => arrow.group.localToWorld(new T.Vector3(0, arrow.shaft.scale.y, 0)), () => arrow.group.visible);
  }
  // Places a name unless it would cover one of `taken`.
  function placeName({ element, where, isShown, text }, taken) {
    element.hidden = !on.names || !isShown();
    if (element.hidden) return;
    if (typeof text === "function") element.textContent = text();
    const p = where().project(camera);
    const [x, y, width] = [(0.5 + 0.5 * p.x) * into.clientWidth, (0.5 - 0.5 * p.y) * into.clientHeight, 6.5 * element.textContent.length];
    const covers = taken.some((other) => x < other.x + other.width && other.x < x + width && Math.abs(y - other.y) < 14);
    element.hidden = p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1 || covers;
    if (element.hidden) return;
    taken.push({ x, y, width });
    element.style.left = `${x}px`;
    element.style.top = `${y}px`;
  }

  const on = { axes: false, names: false, forces: arrows.length > 0 };
  const bar = into.appendChild(document.createElement("div"));
  bar.className = "layers";
  for (const [layer, title] of [["axes", "axes of bodies, frames and joints: x red, y green, z blue"], ["names", "names of bodies, frames and wheels"], ["forces", "arrows of forces, with two heads of moments"]]) {
    if (layer === "forces" && !arrows.length) continue;
    const button = bar.appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", textContent: layer, title, ariaPressed: String(on[layer]) });
    button.addEventListener("click", () => {
      on[layer] = !on[layer];
      button.ariaPressed = String(on[layer]);
      for (const mark of [...triads, ...jointMarks]) mark.visible = on.axes;
      arrows.forEach(placeArrow);
      render();
    });
  }
  return {
    show(i) {
      instant = i;
      frames.forEach(placeFrame);
      arrows.forEach(placeArrow);
    },
    place() {
      const taken = [];
      for (const name of names) placeName(name, taken);
    },
  };
}

// The central body of an orbit, as seen from the spacecraft: a sphere far behind it, with parallels
// and meridians of inertial axes every 15°.
function craftPlanet(T, radius) {
  const [scene, camera] = [new T.Scene(), new T.PerspectiveCamera(38, 1, 1e-4, 10)];
  scene.add(new T.HemisphereLight(0xffffff, 0x8090a0, 1.6));
  const sun = new T.DirectionalLight(0xffffff, 1.6);
  sun.position.set(3, -5, 8);
  scene.add(sun);
  const ball = new T.Mesh(new T.SphereGeometry(1, 180, 120), new T.MeshStandardMaterial({ color: "#5b93cf", roughness: 1 }));
  const lines = [];
  const point = (latitude, longitude) => {
    const [la, lo] = [latitude, longitude].map((degrees) => (degrees * Math.PI) / 180);
    lines.push(1.0005 * Math.cos(la) * Math.cos(lo), 1.0005 * Math.cos(la) * Math.sin(lo), 1.0005 * Math.sin(la));
  };
  for (let a = 0; a < 360; a += 15) {
    for (let b = -90; b < 90; b++) {
      point(b, a);
      point(b + 1, a);
      if (a >= 165) continue;
      for (const k of [2 * b, 2 * b + 1]) {
        point(a - 75, k);
        point(a - 75, k + 1);
      }
    }
  }
  const grid = new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(new Float32Array(lines), 3));
  ball.add(new T.LineSegments(grid, new T.LineBasicMaterial({ color: "#c3dcf5", transparent: true, opacity: 0.7 })));
  scene.add(ball);
  return {
    // `turn` is the rotation of the inertial axes in the picture.
    render(renderer, of, r, turn) {
      const distance = r.length();
      scene.quaternion.copy(turn);
      ball.scale.setScalar(Math.min(0.999, radius / distance));
      ball.position.copy(r).divideScalar(-distance);
      Object.assign(camera, { fov: of.fov, aspect: of.aspect });
      camera.quaternion.copy(of.quaternion);
      camera.updateProjectionMatrix();
      renderer.render(scene, camera);
      renderer.clearDepth();
    },
  };
}

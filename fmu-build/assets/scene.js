"use strict";
// The spacecraft in 3D: bodies, joints and beams at an instant, drawn by three.js.
function craftScene(motion, time, into, css, decode) {
  const T = THREE;
  let renderer;
  try {
    renderer = new T.WebGLRenderer({ antialias: true, alpha: true });
  } catch {
    const note = into.appendChild(document.createElement("p"));
    note.className = "no-webgl";
    note.textContent = "This browser has no WebGL: the spacecraft cannot be drawn. Everything else on this page works.";
    return { roams: false, places: motion.bodies, show() {}, magnify() {}, view() {}, follow() {}, turn() {}, trail() {}, repaint() {}, touch() {} };
  }
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  into.append(renderer.domElement);
  const scene = new T.Scene();
  const camera = new T.PerspectiveCamera(38, 1, 0.01, 1e6);
  // In orbit the picture's vertical is the radial direction at the start.
  const radial = motion.orbit ? new T.Vector3(...decode(motion.orbit).subarray(0, 3)).normalize() : null;
  camera.up.copy(radial ?? new T.Vector3(0, 0, 1));
  const controls = new T.OrbitControls(camera, renderer.domElement);
  // On a page a finger that moves up or down scrolls it, one that moves sideways turns the picture;
  // two fingers turn and zoom. On the full screen (`free`) one turns, two shift and zoom.
  function touch(free) {
    renderer.domElement.style.touchAction = free ? "none" : "pan-y";
    controls.touches.TWO = free ? 2 : 3; // three.js: DOLLY_PAN, DOLLY_ROTATE
  }
  touch(false);
  const notPage = (e) => { if (e.touches.length > 1) e.preventDefault(); };
  for (const type of ["touchstart", "touchmove"]) renderer.domElement.addEventListener(type, notPage, { passive: false });
  scene.add(new T.HemisphereLight(0xffffff, 0x667080, 2.2));
  const sun = new T.DirectionalLight(0xffffff, 2);
  sun.position.set(3, -5, 8);
  scene.add(sun);
  const vector = (p) => new T.Vector3(...p);
  const at = (values, i) => new T.Vector3(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
  // Each material by the name of its colour, since the theme may change.
  const shapes = craftShapes(T, motion.meshes);
  // Half the diagonal of a mesh's farthest part from its origin.
  const meshSpan = (mesh, scale) => Math.max(...motion.meshes[mesh].parts.map(({ low, unit }) => Math.hypot(...low.map((l, i) => scale[i] * Math.max(Math.abs(l), Math.abs(l + 65535 * unit[i]))))));
  const painted = [];
  const painting = (material, name) => {
    material.color.set(css(name));
    painted.push([material, name]);
    return material;
  };
  const paint = (name) => painting(new T.MeshStandardMaterial({ roughness: 0.55, metalness: 0.15 }), name);
  const placed = (object) => {
    scene.add(object);
    return object;
  };
  const bodies = motion.bodies.map((b) => ({ ...b, r: decode(b.r), q: decode(b.q), group: placed(new T.Group()) }));
  const frames = motion.frames.map((f) => ({ ...f, r: decode(f.r), q: f.q && decode(f.q) }));
  const pathOf = new Map([...bodies, ...frames].map((place) => [place.name, place.r]));

  const nodes = motion.nodal.map((beam) => beam.r.map(decode));
  const tethers = motion.tethers.map((tether) => tether.nodes.map(decode));

  // The spacecraft's size determines line widths, the extent of its motion the camera's position.
  const across3 = ({ kind, size, mesh }) => (kind === "mesh" ? meshSpan(mesh, size) : vector(size).length() / 2);
  const reach = bodies.map((b) => Math.max(0, ...b.shapes.map((shape) => vector(shape.r).length() + across3(shape)), ...b.reaches.map((p) => vector(p).length())));
  const boundsAt = (i) => {
    const box = new T.Box3();
    bodies.forEach((b, k) => {
      const centre = at(b.r, i);
      const half = new T.Vector3(reach[k], reach[k], reach[k]);
      box.expandByPoint(centre.clone().add(half)).expandByPoint(centre.sub(half));
    });
    for (const line of [...nodes, ...tethers]) for (const r of line) box.expandByPoint(at(r, i));
    return box;
  };
  const across = (box) => box.getSize(new T.Vector3()).length();
  const size = Math.max(across(boundsAt(0)), 1e-3);
  const whole = new T.Box3();
  for (let k = 0; k <= 50; k++) whole.union(boundsAt(Math.round((k / 50) * (time.length - 1))));
  const roams = Boolean(motion.orbit) || across(whole) > 6 * size;
  const thick = size / 220;

  const visible = (shape) => (shape.stand_in ? { ...shape, size: [shape.size[0], ...shape.size.slice(1).map((side) => Math.max(side, 2.4 * thick))] } : shape);
  const tube = (group, from, to, radius, material) => {
    const along = to.clone().sub(from);
    if (along.length() < 1e-9) return;
    const mesh = new T.Mesh(new T.CylinderGeometry(radius, radius, along.length(), 16), material);
    mesh.position.copy(from).addScaledVector(along, 0.5);
    mesh.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), along.normalize());
    group.add(mesh);
  };
  // Material of a shape: its own colour, that of its mesh, else one of the page.
  const coloured = (hex, name) => {
    if (!hex) return paint(name);
    const opacity = hex.length > 7 ? parseInt(hex.slice(7), 16) / 255 : 1;
    const material = new T.MeshStandardMaterial({ roughness: 0.6, metalness: 0.1, transparent: opacity < 1, opacity, depthWrite: opacity === 1 });
    material.color.set(hex.slice(0, 7));
    return material;
  };
  const carriesWheel = new Set(motion.wheels.map((wheel) => wheel.body));
  // Adds the surfaces and lines of a shape to a group; returns their geometries.
  function draw(group, shape, name, along) {
    const { surfaces, lines } = shapes.made(shape, along);
    const see = (object) => {
      object.frustumCulled = !along; // bounds of a bent geometry change
      group.add(object);
      return object.geometry;
    };
    const drawn = surfaces.map(({ surface, colour }) => {
      const material = coloured(shape.colour ?? colour ?? (shape.kind === "panel" ? "#27468f" : null), name);
      if (shape.stand_in && shape.seeThrough) Object.assign(material, { transparent: true, opacity: 0.35, depthWrite: false });
      if (lines) Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
      return see(new T.Mesh(surface, material));
    });
    if (lines) drawn.push(see(new T.LineSegments(lines, shape.kind === "panel" ? new T.LineBasicMaterial({ color: "#8fa9dd" }) : painting(new T.LineBasicMaterial(), "--link"))));
    return drawn;
  }
  const beamOf = new Map(motion.beams.map((beam) => [beam.body, { ...beam, bent: decode(beam.bent), twist: beam.twist && decode(beam.twist) }]));
  bodies.forEach((b, k) => {
    const beam = beamOf.get(k);
    if (beam) {
      beam.lengths = Array.from({ length: 65 }, (_, i) => (beam.length * i) / 64);
      beam.followers = b.shapes.flatMap((shape) => draw(b.group, visible(shape), "--beam", beam.length)).map((g) => shapes.follower(g, beam.lengths));
      return;
    }
    const standsIn = b.shapes.some((shape) => shape.stand_in);
    for (const shape of b.shapes) draw(b.group, { ...shape, seeThrough: carriesWheel.has(k) }, "--body");
    // The skeleton of a body that is not described by shapes.
    if (!standsIn) return;
    for (const p of [...b.reaches, b.shapes[0].r]) tube(b.group, new T.Vector3(), vector(p), carriesWheel.has(k) ? 0.4 * thick : thick, paint("--link"));
  });
  const wheels = motion.wheels.map((wheel) => {
    const group = new T.Group();
    const { size, r, q } = wheel.disc;
    group.position.set(...r);
    bodies[wheel.body].group.add(group);
    const spin = group.add(new T.Group()).children[0];
    group.quaternion.set(q[1], q[2], q[3], q[0]);
    draw(spin, { ...wheel.disc, r: [0, 0, 0], q: [1, 0, 0, 0] }, "--c2");
    // Marks on both faces, by which the rotation is seen.
    draw(spin, { kind: "box", size: [0.96 * size[0], 0.12 * size[0], 1.06 * size[2]], r: [0, 0, 0], q: [1, 0, 0, 0] }, "--c1");
    const angle = decode(wheel.angle);
    return { ...wheel, group, spin, angle };
  });
  // Turns between two drawn instants could not be seen: all wheels are shown slower by one factor.
  const turn = Math.max(0, ...wheels.flatMap(({ angle }) => Array.from(angle.subarray(1), (a, k) => Math.abs(a - angle[k]))));
  const slower = Math.max(1, Math.ceil(turn / 0.4));

  // Marks of joints. Those of bodies with written shapes would hide them: they are shown with the
  // axes, thinner and in front.
  const jointMarks = [];
  for (const joint of motion.joints) {
    const body = bodies[joint.body];
    const isInside = body.shapes.length > 0 && !body.shapes[0].stand_in;
    const thickness = isInside ? 0.5 * thick : thick;
    const material = paint("--joint");
    const marks = new T.Group().add(new T.Mesh(new T.SphereGeometry(2.2 * thickness, 20, 14), material));
    for (const axis of joint.axes) {
      const half = vector(axis).normalize().multiplyScalar(7 * thick);
      tube(marks, half.clone().negate(), half, 0.55 * thickness, material);
    }
    body.group.add(marks);
    if (!isInside) continue;
    material.depthTest = marks.visible = false;
    for (const mark of marks.children) mark.renderOrder = 2;
    jointMarks.push(marks);
  }
  const cables = tethers.map(() => {
    const line = placed(new T.Line(new T.BufferGeometry(), painting(new T.LineBasicMaterial(), "--link")));
    line.frustumCulled = false; // its bounds change
    return line;
  });

  // The y axis of an ANCF beam's section at its root: carried through the run without turning about
  // the beam's direction.
  function carried(across, slope) {
    const directions = Array.from({ length: slope.length / 3 }, (_, i) => at(slope, i).normalize());
    const turn = new T.Quaternion();
    const y = [vector(across)];
    for (let i = 1; i < directions.length; i++) {
      turn.setFromUnitVectors(directions[i - 1], directions[i]);
      y.push(y[i - 1].clone().applyQuaternion(turn));
    }
    return y;
  }
  const nodal = motion.nodal.map((beam, k) => {
    const lengths = [0];
    for (const element of beam.elements) for (let i = 1, start = lengths.at(-1); i <= 8; i++) lengths.push(start + (element * i) / 8);
    const group = placed(new T.Group());
    const drawn = beam.shapes.flatMap((shape) => draw(group, visible(shape), "--beam", lengths.at(-1)));
    const slope = beam.slope?.map(decode);
    return { ...beam, r: nodes[k], slope, across: beam.across && carried(beam.across, slope[0]), q: beam.q?.map(decode), followers: drawn.map((g) => shapes.follower(g, lengths)) };
  });
  const orbit = motion.orbit && decode(motion.orbit);
  const earth = orbit && placed(new T.ArrowHelper(new T.Vector3(1, 0, 0), new T.Vector3(), size * 0.25));
  const planet = orbit && motion.planet_radius ? craftPlanet(T, motion.planet_radius) : null;
  const world = vector(motion.world);
  placed(new T.AxesHelper(size / 8)).position.copy(world);
  let grid;
  function colour() {
    for (const [material, name] of painted) material.color.set(css(name));
    earth?.setColor(new T.Color(css("--c0")));
    if (grid) {
      scene.remove(grid);
      grid.dispose();
    }
    if (orbit) return;
    const step = 10 ** Math.floor(Math.log10(size / 4));
    grid = placed(new T.GridHelper(20 * step, 20, css("--edge"), css("--edge")));
    grid.rotation.x = Math.PI / 2;
    grid.position.z = (roams ? boundsAt(0) : whole).min.z;
  }

  // A possible contact has a ring around one frame and a dot on the other, in front of
  // everything and of constant size on the screen.
  const states = { apart: "--note", struck: "--warn", held: "--good" };
  const interfaces = motion.interfaces.map(({ a, b, state }) => {
    const look = Object.fromEntries(Object.entries(states).map(([is, name]) => [is, painting(new T.MeshBasicMaterial({ depthTest: false, transparent: true }), name)]));
    const ring = placed(new T.Mesh(new T.TorusGeometry(12, 1.8, 10, 48)));
    const dot = placed(new T.Mesh(new T.SphereGeometry(5, 20, 14)));
    ring.renderOrder = dot.renderOrder = 1;
    for (const mark of [ring, dot]) mark.position.copy(world); // where "world" stays
    return { ends: [[ring, pathOf.get(a)], [dot, pathOf.get(b)]], state, look };
  });

  // Paths of frames and bodies up to now, relative to the followed object.
  const trails = [...pathOf].map(([name, r]) => {
    const geometry = new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(r.slice(), 3));
    const line = placed(new T.Line(geometry, painting(new T.LineBasicMaterial(), "--c4")));
    line.visible = line.frustumCulled = false;
    return { name, line };
  });
  function layTrails() {
    for (const { name, line } of trails) {
      const { position } = line.geometry.attributes;
      const r = pathOf.get(name);
      for (let i = 0; i < time.length; i++) {
        at(r, i).sub(camp(i)).applyQuaternion(axes(i).invert()).toArray(position.array, 3 * i);
      }
      position.needsUpdate = true;
      placeTrail(line);
    }
  }
  function placeTrail(line) {
    line.position.copy(camp(instant));
    line.quaternion.copy(axes(instant));
  }

  // The camera stays at the followed body or frame, in inertial axes, its own or those of the LVLH
  // frame: `camp` is its position, `axes` its attitude. With axes that turn, the scene is turned
  // back, so that they are at rest in the picture.
  const turned = (q, k) => new T.Quaternion(q[k + 1], q[k + 2], q[k + 3], q[k]).normalize();
  const places = [...bodies, ...frames.filter((frame) => frame.q)];
  let [followed, turning] = [-1, "inertial"];
  const camp = (i) => (followed < 0 ? new T.Vector3() : at(places[followed].r, i));
  function axes(i) {
    if (turning === "LVLH") {
      const [x, k] = [at(orbit, i).normalize(), Math.min(i, time.length - 2)];
      const z = at(orbit, k).cross(at(orbit, k + 1)).normalize();
      const y = z.clone().cross(x);
      return new T.Quaternion().setFromRotationMatrix(new T.Matrix4().makeBasis(x, y, z));
    }
    if (turning === "inertial" || followed < 0) return new T.Quaternion();
    const { q, body } = places[followed];
    if (body == null) return turned(q, 4 * i);
    return turned(bodies[body].q, 4 * i).multiply(turned(q, 0));
  }
  // Axes of the picture: the vertical is that of the camera.
  const upright = () => {
    if (turning === "LVLH") return axes(0);
    return turning === "own" && followed >= 0 ? new T.Quaternion().setFromUnitVectors(new T.Vector3(0, 0, 1), camera.up) : new T.Quaternion();
  };
  function turnBack() {
    scene.quaternion.copy(upright()).multiply(axes(instant).invert());
    scene.position.copy(camp(instant)).applyQuaternion(scene.quaternion).negate();
    if (turning === "inertial") scene.position.set(0, 0, 0);
    scene.updateMatrixWorld();
  }

  // Length of one pixel at a point, m.
  const pixelAt = (place) => (2 * camera.position.distanceTo(place) * Math.tan((camera.fov * Math.PI) / 360)) / into.clientHeight;

  // The bar has its nominal length at the distance of the view's centre of rotation.
  const scale = into.appendChild(document.createElement("div"));
  scale.className = "scale";
  function measure() {
    if (!into.clientHeight) return; // hidden page
    const perPixel = pixelAt(controls.target);
    const most = 130 * perPixel;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = power * [5, 2, 1].find((digit) => digit * power <= most);
    const [unit, metres] = [["km", 1e3, 1e3], ["m", 1, 0.1], ["mm", 1e-3, 0]].find(([, , least]) => length >= 0.999 * least);
    scale.style.width = `${length / perPixel}px`;
    scale.textContent = `${Number((length / metres).toPrecision(1))} ${unit}`;
  }

  // Samples along a beam's axis: position, y and z axis of the section, nine numbers each.
  function alongModal(beam, i) {
    const n = beam.rest.length;
    const points = beam.rest.map((p, k) => vector(p).addScaledVector(at(beam.bent, i * n + k), magnification));
    const curve = new T.CatmullRomCurve3(points);
    const q = new T.Quaternion(beam.axes[1], beam.axes[2], beam.axes[3], beam.axes[0]);
    const [x, y, z] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((e) => vector(e).applyQuaternion(q));
    const swing = new T.Quaternion();
    return beam.lengths.flatMap((_, k) => {
      const s = (k * (n - 1)) / 64;
      const j = Math.min(n - 2, Math.floor(s));
      const twist = beam.twist ? magnification * (beam.twist[i * n + j] + (s - j) * (beam.twist[i * n + j + 1] - beam.twist[i * n + j])) : 0;
      swing.setFromUnitVectors(x, curve.getTangent(k / 64)).multiply(q.clone().setFromAxisAngle(x, twist));
      return [curve.getPoint(k / 64), y.clone().applyQuaternion(swing), z.clone().applyQuaternion(swing)].flatMap((v) => v.toArray());
    });
  }
  function alongNodal(beam, i) {
    const quaternion = (k) => {
      const q = beam.q[k].subarray(4 * i, 4 * i + 4);
      return new T.Quaternion(q[1], q[2], q[3], q[0]).normalize();
    };
    const slope = (k) => (beam.q ? new T.Vector3(1, 0, 0).applyQuaternion(quaternion(k)) : at(beam.slope[k], i));
    const samples = [];
    const y = beam.across ? beam.across[i].clone() : new T.Vector3(0, 1, 0);
    for (let e = 0; e + 1 < beam.r.length; e++) {
      const [a, b, u, v] = [at(beam.r[e], i), at(beam.r[e + 1], i), slope(e), slope(e + 1)];
      for (let k = e ? 1 : 0; k <= 8; k++) {
        const s = k / 8;
        const h = beam.elements[e];
        const point = a.clone().multiplyScalar(1 - 3 * s * s + 2 * s ** 3).addScaledVector(b, 3 * s * s - 2 * s ** 3);
        point.addScaledVector(u, h * (s - 2 * s * s + s ** 3)).addScaledVector(v, h * (s ** 3 - s * s));
        const z = new T.Vector3(0, 0, 1);
        if (beam.q) {
          const turned = quaternion(e).slerp(quaternion(e + 1), s);
          y.set(0, 1, 0).applyQuaternion(turned);
          z.applyQuaternion(turned);
        } else {
          // An ANCF beam has no torsion: the section is carried along the axis without turning.
          const x = a.clone().multiplyScalar(6 * s * s - 6 * s).addScaledVector(b, 6 * s - 6 * s * s);
          x.addScaledVector(u, h * (1 - 4 * s + 3 * s * s)).addScaledVector(v, h * (3 * s * s - 2 * s)).normalize();
          y.addScaledVector(x, -y.dot(x));
          if (y.length() < 1e-6) y.set(x.y, x.z, x.x).addScaledVector(x, -(x.x * x.y + x.y * x.z + x.z * x.x));
          z.crossVectors(x, y.normalize());
        }
        samples.push(...point.toArray(), ...y.toArray(), ...z.toArray());
      }
    }
    return samples;
  }
  let magnification = 1;
  let instant = 0;
  function render() {
    camera.updateMatrixWorld(); // names are projected before the drawing
    for (const [mark] of interfaces.flatMap(({ ends }) => ends)) {
      mark.quaternion.copy(scene.quaternion).invert().multiply(camera.quaternion);
      mark.scale.setScalar(pixelAt(scene.localToWorld(mark.position.clone())));
    }
    measure();
    layers.place();
    renderer.autoClear = false;
    renderer.clear();
    planet?.render(renderer, camera, at(orbit, instant), scene.quaternion);
    renderer.render(scene, camera);
  }
  function shift(by) {
    camera.position.add(by);
    controls.target.add(by);
  }
  function show(i) {
    const before = scene.localToWorld(camp(instant));
    instant = i;
    turnBack();
    for (const b of bodies) {
      b.group.position.copy(at(b.r, i));
      b.group.quaternion.set(b.q[4 * i + 1], b.q[4 * i + 2], b.q[4 * i + 3], b.q[4 * i]).normalize();
    }
    for (const beam of beamOf.values()) {
      const samples = alongModal(beam, i);
      for (const follow of beam.followers) follow(samples);
    }
    for (const beam of nodal) {
      const samples = alongNodal(beam, i);
      for (const follow of beam.followers) follow(samples);
    }
    tethers.forEach((line, k) => cables[k].geometry.setFromPoints(line.map((r) => at(r, i))));
    for (const { spin, angle } of wheels) spin.rotation.z = (angle[i] / slower) % (2 * Math.PI);
    layers.show(i);
    if (earth) {
      earth.position.copy(bodies[0].group.position);
      earth.setDirection(at(orbit, i).negate().normalize());
    }
    for (const { ends, state, look } of interfaces) {
      for (const [mark, r] of ends) {
        if (r) mark.position.copy(at(r, i));
        mark.material = look[state[i]];
      }
    }
    for (const { line } of trails) {
      line.geometry.setDrawRange(0, i + 1);
      placeTrail(line);
    }
    shift(scene.localToWorld(camp(instant)).sub(before));
    render();
  }
  function view(direction, all = boundsAt(instant)) {
    scene.localToWorld(all.getCenter(controls.target));
    const far = across(all) / 2 / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
    camera.position.copy(controls.target).addScaledVector(vector(direction).applyQuaternion(upright()).normalize(), 0.7 * far);
    camera.near = far / 1000;
    camera.far = far * 100;
    camera.updateProjectionMatrix();
    controls.update();
    render();
  }
  controls.addEventListener("change", render);
  const resize = () => {
    const [w, h] = [into.clientWidth, into.clientHeight];
    renderer.setSize(w, h);
    camera.aspect = w / h;
    camera.updateProjectionMatrix();
    render();
  };
  const layers = craftLayers({ T, motion, bodies, pathOf, wheels, slower, into, scene, camera, size, thick, paint, at, vector, decode, render: () => render(), frames, jointMarks, turned });
  colour();
  show(0);
  resize();
  // In orbit the view is slightly downwards, with the horizon in it.
  const start = radial ? radial.clone().multiplyScalar(0.55).add(new T.Vector3(1, -1.2, 0.8).projectOnPlane(radial).normalize()).toArray() : [1, -1.2, 0.8];
  view(start, roams ? undefined : whole);
  new ResizeObserver(resize).observe(into);
  return {
    roams, // so far that it leaves the picture, unless it is followed
    canvas: renderer.domElement,
    render,
    touch,
    show,
    view,
    places, // that can be followed
    follow(k) {
      followed = k;
      turnBack();
      if (k >= 0) shift(scene.localToWorld(camp(instant)).sub(controls.target));
      layTrails();
      render();
    },
    // Fixes the camera in axes: "inertial", "own" (of the followed object) or "LVLH".
    turn(by) {
      const offset = camera.position.clone().sub(controls.target).applyQuaternion(upright().invert());
      const centre = scene.worldToLocal(controls.target.clone());
      turning = by;
      turnBack();
      scene.localToWorld(controls.target.copy(centre));
      camera.position.copy(controls.target).add(offset.applyQuaternion(upright()));
      controls.update();
      layTrails();
      render();
    },
    trail(names) {
      for (const { name, line } of trails) line.visible = names.includes(name);
      render();
    },
    magnify(by) {
      magnification = by;
      show(instant);
    },
    repaint() {
      colour();
      render();
    },
  };
}

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
    return { roams: false, show() {}, magnify() {}, view() {}, follow() {}, trail() {}, repaint() {} };
  }
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  into.append(renderer.domElement);
  const scene = new T.Scene();
  const camera = new T.PerspectiveCamera(38, 1, 0.01, 1e6);
  camera.up.set(0, 0, 1);
  const controls = new T.OrbitControls(camera, renderer.domElement);
  scene.add(new T.HemisphereLight(0xffffff, 0x667080, 2.2));
  const sun = new T.DirectionalLight(0xffffff, 2);
  sun.position.set(3, -5, 8);
  scene.add(sun);
  const vector = (p) => new T.Vector3(...p);
  const at = (values, i) => new T.Vector3(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
  // Each material by the name of its colour, since the theme may change.
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
  const frames = motion.frames.map((f) => ({ ...f, r: decode(f.r) }));
  const pathOf = new Map([...bodies, ...frames].map((place) => [place.name, place.r]));

  const nodes = motion.nodal.map((beam) => beam.r.map(decode));

  // The spacecraft's size determines line widths, the extent of its motion the camera's position.
  const reach = bodies.map((b) => Math.max(0, ...(b.ellipsoid?.half_axes ?? []).map((a) => vector(a).length()), ...b.reaches.map((p) => vector(p).length())));
  const boundsAt = (i) => {
    const box = new T.Box3();
    bodies.forEach((b, k) => {
      const centre = at(b.r, i);
      const half = new T.Vector3(reach[k], reach[k], reach[k]);
      box.expandByPoint(centre.clone().add(half)).expandByPoint(centre.sub(half));
    });
    for (const beam of nodes) for (const r of beam) box.expandByPoint(at(r, i));
    return box;
  };
  const across = (box) => box.getSize(new T.Vector3()).length();
  const size = Math.max(across(boundsAt(0)), 1e-3);
  const whole = new T.Box3();
  for (let k = 0; k <= 50; k++) whole.union(boundsAt(Math.round((k / 50) * (time.length - 1))));
  const roams = Boolean(motion.orbit) || across(whole) > 6 * size;
  const thick = size / 220;

  const tube = (group, from, to, radius, material) => {
    const along = to.clone().sub(from);
    if (along.length() < 1e-9) return;
    const mesh = new T.Mesh(new T.CylinderGeometry(radius, radius, along.length(), 16), material);
    mesh.position.copy(from).addScaledVector(along, 0.5);
    mesh.quaternion.setFromUnitVectors(new T.Vector3(0, 1, 0), along.normalize());
    group.add(mesh);
  };
  const beamOf = new Map(motion.beams.map((beam) => [beam.body, { ...beam, bent: decode(beam.bent) }]));
  bodies.forEach((b, k) => {
    if (b.ellipsoid) {
      const { centre, half_axes } = b.ellipsoid;
      const solid = new T.Mesh(new T.SphereGeometry(1, 40, 24), paint("--body"));
      const [x, y, z] = half_axes.map(vector);
      if (x.clone().cross(y).dot(z) < 0) z.negate();
      solid.matrixAutoUpdate = false;
      solid.matrix.makeBasis(x, y, z).setPosition(vector(centre));
      b.group.add(solid);
      for (const p of b.reaches) tube(b.group, new T.Vector3(), vector(p), thick, paint("--link"));
      tube(b.group, new T.Vector3(), vector(centre), thick, paint("--link"));
    } else if (beamOf.has(k)) {
      const beam = beamOf.get(k);
      beam.mesh = new T.Mesh(new T.BufferGeometry(), paint("--beam"));
      b.group.add(beam.mesh);
    }
  });
  for (const joint of motion.joints) {
    const { group } = bodies[joint.body];
    group.add(new T.Mesh(new T.SphereGeometry(2.2 * thick, 20, 14), paint("--joint")));
    for (const axis of joint.axes) {
      const half = vector(axis).normalize().multiplyScalar(7 * thick);
      tube(group, half.clone().negate(), half, 0.55 * thick, paint("--joint"));
    }
  }
  const nodal = motion.nodal.map((beam, k) => {
    const mesh = placed(new T.Mesh(new T.BufferGeometry(), paint("--beam")));
    return { ...beam, r: nodes[k], slope: beam.slope.map(decode), mesh };
  });
  const orbit = motion.orbit && decode(motion.orbit);
  const earth = orbit && placed(new T.ArrowHelper(new T.Vector3(1, 0, 0), new T.Vector3(), size * 0.25));
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
    const seen = followed < 0 ? null : bodies[followed];
    for (const { name, line } of trails) {
      const { position } = line.geometry.attributes;
      const r = pathOf.get(name);
      position.array.set(seen ? r.map((x, k) => x - seen.r[k]) : r);
      position.needsUpdate = true;
      line.position.set(0, 0, 0);
      if (seen) line.position.copy(seen.group.position);
    }
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

  const bend = (mesh, points) => {
    mesh.geometry.dispose();
    mesh.geometry = new T.TubeGeometry(new T.CatmullRomCurve3(points), 4 * points.length, 1.2 * thick, 12);
  };
  let magnification = 1;
  let instant = 0;
  let followed = -1;
  function render() {
    for (const [mark] of interfaces.flatMap(({ ends }) => ends)) {
      mark.quaternion.copy(camera.quaternion);
      mark.scale.setScalar(pixelAt(mark.position));
    }
    measure();
    renderer.render(scene, camera);
  }
  function shift(by) {
    camera.position.add(by);
    controls.target.add(by);
  }
  function show(i) {
    const before = followed < 0 ? null : bodies[followed].group.position.clone();
    instant = i;
    for (const b of bodies) {
      b.group.position.copy(at(b.r, i));
      b.group.quaternion.set(b.q[4 * i + 1], b.q[4 * i + 2], b.q[4 * i + 3], b.q[4 * i]).normalize();
    }
    for (const beam of beamOf.values()) {
      const n = beam.rest.length;
      bend(beam.mesh, beam.rest.map((p, k) => vector(p).addScaledVector(at(beam.bent, i * n + k), magnification)));
    }
    for (const beam of nodal) {
      const points = [];
      for (let e = 0; e + 1 < beam.r.length; e++) {
        const [a, b, u, v] = [at(beam.r[e], i), at(beam.r[e + 1], i), at(beam.slope[e], i), at(beam.slope[e + 1], i)];
        for (let k = e ? 1 : 0; k <= 8; k++) {
          const s = k / 8;
          const point = a.clone().multiplyScalar(1 - 3 * s * s + 2 * s ** 3);
          point.addScaledVector(b, 3 * s * s - 2 * s ** 3);
          point.addScaledVector(u, beam.elements[e] * (s - 2 * s * s + s ** 3));
          points.push(point.addScaledVector(v, beam.elements[e] * (s ** 3 - s * s)));
        }
      }
      bend(beam.mesh, points);
    }
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
      if (before) line.position.copy(bodies[followed].group.position);
    }
    if (before) shift(bodies[followed].group.position.clone().sub(before));
    render();
  }
  function view(direction, all = boundsAt(instant)) {
    all.getCenter(controls.target);
    const far = across(all) / 2 / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
    camera.position.copy(controls.target).addScaledVector(vector(direction).normalize(), 0.7 * far);
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
  colour();
  show(0);
  resize();
  view([1, -1.2, 0.8], roams ? undefined : whole);
  new ResizeObserver(resize).observe(into);
  return {
    roams, // so far that it leaves the picture, unless it is followed
    show,
    view,
    follow(k) {
      followed = k;
      if (k >= 0) shift(bodies[k].group.position.clone().sub(controls.target));
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

"use strict";
// The craft in space: bodies, joints and beams where they are at an instant. three.js draws them.
function craftScene(motion, time, into, css, decode) {
  const T = THREE;
  let renderer;
  try {
    renderer = new T.WebGLRenderer({ antialias: true, alpha: true });
  } catch {
    const note = into.appendChild(document.createElement("p"));
    note.className = "no-webgl";
    note.textContent = "This browser has no WebGL: the craft cannot be drawn. Everything else on this page works.";
    return { show() {}, magnify() {}, view() {}, follow() {} };
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
  const paint = (name, more = {}) => new T.MeshStandardMaterial({ color: css(name), roughness: 0.55, metalness: 0.15, ...more });
  const bodies = motion.bodies.map((b) => ({ ...b, r: decode(b.r), q: decode(b.q), group: scene.add(new T.Group()).children.at(-1) }));

  const nodes = motion.nodal.map((beam) => beam.r.map(decode));

  // How large everything is over the whole run decides how thick lines are and where the camera stands.
  const reach = bodies.map((b) => Math.max(...b.half_axes.map((a) => vector(a).length()), ...b.reaches.map((p) => vector(p).length())));
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
  const box = boundsAt(0);
  const size = Math.max(box.getSize(new T.Vector3()).length(), 1e-3);
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
    if (!beamOf.has(k)) {
      const solid = new T.Mesh(new T.SphereGeometry(1, 40, 24), paint("--body"));
      const [x, y, z] = b.half_axes.map(vector);
      if (x.clone().cross(y).dot(z) < 0) z.negate();
      solid.matrixAutoUpdate = false;
      solid.matrix.makeBasis(x, y, z).setPosition(vector(b.centre));
      b.group.add(solid);
      for (const p of b.reaches) tube(b.group, new T.Vector3(), vector(p), thick, paint("--link"));
      tube(b.group, new T.Vector3(), vector(b.centre), thick, paint("--link"));
    } else {
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
    const mesh = scene.add(new T.Mesh(new T.BufferGeometry(), paint("--beam"))).children.at(-1);
    return { ...beam, r: nodes[k], slope: beam.slope.map(decode), mesh };
  });
  const orbit = motion.orbit && decode(motion.orbit);
  const earth = orbit && new T.ArrowHelper(new T.Vector3(1, 0, 0), new T.Vector3(), size * 0.25, css("--c0"));
  if (earth) scene.add(earth);
  const step = 10 ** Math.floor(Math.log10(size / 4));
  const grid = new T.GridHelper(20 * step, 20, css("--soft"), css("--edge"));
  grid.rotation.x = Math.PI / 2;
  grid.position.z = box.min.z;
  scene.add(grid, new T.AxesHelper(size / 8));

  const bend = (mesh, points) => {
    mesh.geometry.dispose();
    mesh.geometry = new T.TubeGeometry(new T.CatmullRomCurve3(points), 4 * points.length, 1.2 * thick, 12);
  };
  let magnification = 1;
  let instant = 0;
  let followed = -1;
  const render = () => renderer.render(scene, camera);
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
          point.addScaledVector(u, beam.element * (s - 2 * s * s + s ** 3));
          points.push(point.addScaledVector(v, beam.element * (s ** 3 - s * s)));
        }
      }
      bend(beam.mesh, points);
    }
    if (earth) {
      earth.position.copy(bodies[0].group.position);
      earth.setDirection(at(orbit, i).negate().normalize());
    }
    if (before) {
      const moved = bodies[followed].group.position.clone().sub(before);
      camera.position.add(moved);
      controls.target.add(moved);
    }
    render();
  }
  function view(direction) {
    const now = boundsAt(instant);
    now.getCenter(controls.target);
    const far = now.getSize(new T.Vector3()).length() / 2 / Math.sin((camera.fov * Math.PI) / 360) / Math.min(1, camera.aspect);
    camera.position.copy(controls.target).addScaledVector(vector(direction).normalize(), 0.8 * far);
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
  show(0);
  resize();
  view([1, -1.2, 0.8]);
  new ResizeObserver(resize).observe(into);
  return { show, view, follow(k) { followed = k; }, magnify(by) { magnification = by; show(instant); } };
}

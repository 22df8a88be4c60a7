"use strict";
// Geometry of bodies: shapes in the axes of their body, and shapes that follow a beam's axis. Lengths
// are in m. On a beam of length `along` the sides are divided, so that they bend.
function craftShapes(T, meshes) {
  const decoded = (text, type) => new type(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const pieces = (side, along) => (along ? Math.min(64, Math.max(1, Math.ceil((48 * side) / along))) : 1);
  const geometry = (positions, index) => {
    const made = new T.BufferGeometry().setAttribute("position", new T.BufferAttribute(new Float32Array(positions), 3));
    if (index) made.setIndex(index);
    return made;
  };

  // Line segments on a box: (n + 1) lines along one side for each division of the other.
  function ruled([u, v, t], n, heights, size, along) {
    const at = [];
    const line = (from, to) => {
      const k = pieces(Math.hypot(...from.map((x, i) => to[i] - x)), along);
      for (let i = 0; i < k; i++) for (const s of [i / k, (i + 1) / k]) at.push(...from.map((x, j) => x + s * (to[j] - x)));
    };
    const point = (a, b, h) => {
      const p = [0, 0, 0];
      [p[u], p[v], p[t]] = [(a - 0.5) * size[u], (b - 0.5) * size[v], h * size[t]];
      return p;
    };
    for (const h of heights) {
      for (let i = 0; i <= n[0]; i++) line(point(i / n[0], 0, h), point(i / n[0], 1, h));
      for (let j = 0; j <= n[1]; j++) line(point(0, j / n[1], h), point(1, j / n[1], h));
    }
    return { at, line, point };
  }
  function edges(size, along) {
    const { at, line, point } = ruled([0, 1, 2], [1, 1], [-0.5, 0.5], size, along);
    for (const a of [0, 1]) for (const b of [0, 1]) line(point(a, b, -0.5), point(a, b, 0.5));
    return geometry(at);
  }
  // Square cells on the two faces across the thinnest side.
  function cells(size, along) {
    const t = size.indexOf(Math.min(...size));
    const [u, v] = [0, 1, 2].filter((i) => i !== t);
    const cell = Math.max(Math.min(size[u], size[v]) / 4, Math.max(size[u], size[v]) / 40);
    return geometry(ruled([u, v, t], [u, v].map((i) => Math.max(1, Math.round(size[i] / cell))), [-0.52, 0.52], size, along).at);
  }
  // Rods from point to point, with six sides.
  function rods(pairs, radius) {
    const [positions, index] = [[], []];
    for (const [from, to] of pairs) {
      const axis = to.clone().sub(from).normalize();
      const x = new T.Vector3(1, 0, 0).cross(axis);
      if (x.length() < 0.1) x.set(0, 1, 0).cross(axis);
      x.normalize();
      const y = axis.clone().cross(x);
      const first = positions.length / 3;
      for (const end of [from, to]) {
        for (let k = 0; k < 6; k++) {
          const p = end.clone().addScaledVector(x, radius * Math.cos((k * Math.PI) / 3)).addScaledVector(y, radius * Math.sin((k * Math.PI) / 3));
          positions.push(p.x, p.y, p.z);
        }
      }
      for (let k = 0; k < 6; k++) {
        const [a, b] = [first + k, first + ((k + 1) % 6)];
        index.push(a, b, b + 6, a, b + 6, a + 6);
      }
    }
    return geometry(positions, index);
  }
  function truss(size) {
    const a = size.indexOf(Math.max(...size));
    const [b, c] = [0, 1, 2].filter((i) => i !== a);
    const radius = 0.035 * Math.min(size[b], size[c]);
    const bays = Math.min(60, Math.max(1, Math.round(size[a] / Math.max(size[b], size[c]))));
    const node = (i, k) => {
      const p = [0, 0, 0];
      p[a] = (i / bays - 0.5) * (size[a] - 2 * radius);
      p[b] = [-0.5, 0.5, 0.5, -0.5][k % 4] * (size[b] - 2 * radius);
      p[c] = [-0.5, -0.5, 0.5, 0.5][k % 4] * (size[c] - 2 * radius);
      return new T.Vector3(...p);
    };
    const pairs = [];
    for (let i = 0; i <= bays; i++) {
      for (let k = 0; k < 4; k++) {
        pairs.push([node(i, k), node(i, k + 1)]);
        if (i < bays) pairs.push([node(i, k), node(i + 1, k)], [node(i, k + (i % 2)), node(i + 1, k + 1 - (i % 2))]);
      }
    }
    return rods(pairs, radius);
  }

  // Triangles of a mesh, with smooth normals where faces meet at less than 40°.
  function part({ low, unit, vertices, triangles }, scale) {
    const steps = decoded(vertices, Uint16Array);
    const index = decoded(triangles, steps.length > 3 << 16 ? Uint32Array : Uint16Array);
    const at = Float64Array.from(steps, (x, k) => scale[k % 3] * (low[k % 3] + x * unit[k % 3]));
    const mirrored = scale[0] * scale[1] * scale[2] < 0;
    const corners = mirrored ? index.map((_, k) => index[k - (k % 3) + 2 - (k % 3)]) : index;
    const positions = new Float32Array(3 * corners.length);
    corners.forEach((v, k) => positions.set(at.subarray(3 * v, 3 * v + 3), 3 * k));
    const faces = new Float32Array(corners.length); // normals times twice the area
    const [a, b] = [new T.Vector3(), new T.Vector3()];
    for (let k = 0; k < positions.length; k += 9) {
      a.set(positions[k + 3] - positions[k], positions[k + 4] - positions[k + 1], positions[k + 5] - positions[k + 2]);
      b.set(positions[k + 6] - positions[k], positions[k + 7] - positions[k + 1], positions[k + 8] - positions[k + 2]);
      a.cross(b).toArray(faces, k / 3);
    }
    const around = Array.from({ length: steps.length / 3 }, () => []);
    corners.forEach((v, k) => around[v].push(k - (k % 3)));
    const normals = new Float32Array(positions.length);
    corners.forEach((v, k) => {
      const own = a.fromArray(faces, k - (k % 3)).normalize();
      const sum = new T.Vector3();
      for (const face of around[v]) {
        b.fromArray(faces, face);
        if (own.dot(b) > 0.766 * b.length()) sum.add(b);
      }
      sum.normalize().toArray(normals, 3 * k);
    });
    return geometry(positions).setAttribute("normal", new T.BufferAttribute(normals, 3));
  }

  // A surface of revolution about z: a band for each edge of its meridian.
  function lathe(meridian) {
    const [positions, index, sides] = [[], [], 40];
    for (let e = 0; e + 1 < meridian.length; e++) {
      const first = positions.length / 3;
      for (let k = 0; k <= sides; k++) {
        const [c, s] = [Math.cos((2 * Math.PI * k) / sides), Math.sin((2 * Math.PI * k) / sides)];
        for (const [rho, z] of [meridian[e], meridian[e + 1]]) positions.push(rho * c, rho * s, z);
      }
      for (let a = first; a < first + 2 * sides; a += 2) index.push(a, a + 2, a + 1, a + 1, a + 2, a + 3);
    }
    return geometry(positions, index);
  }

  // The surfaces of a shape, each with its colour, and its lines, in axes of the body or beam.
  function made({ kind, size, r, q, mesh, meridian, facets }, along) {
    const n = size.map((side) => pieces(side, along));
    const [x, y, z] = size;
    let [surfaces, lines] = [[], null];
    const surface = (made) => surfaces.push({ surface: made });
    if (kind === "box" || kind === "panel") surface(new T.BoxGeometry(x, y, z, ...n));
    if (kind === "box") lines = edges(size, along);
    if (kind === "panel") lines = cells(size, along);
    if (kind === "truss") surface(truss(size));
    if (kind === "sphere") surface(new T.SphereGeometry(x / 2, 40, 24));
    if (kind === "cylinder") surface(new T.CylinderGeometry(x / 2, x / 2, z, 40, n[2]).rotateX(Math.PI / 2));
    if (kind === "cone") surface(new T.CylinderGeometry(0, x / 2, z, 40, n[2]).rotateX(Math.PI / 2));
    if (kind === "lathe") surface(lathe(meridian));
    if (kind === "hull") surface(geometry(facets.flat(2)));
    if (kind === "tube") surface(new T.CylinderGeometry(y / 2, y / 2, x, 16, n[0]).rotateZ(-Math.PI / 2));
    if (kind === "mesh") surfaces = meshes[mesh].parts.map((of) => ({ surface: part(of, size), colour: of.colour }));
    const pose = new T.Matrix4().compose(new T.Vector3(...r), new T.Quaternion(q[1], q[2], q[3], q[0]).normalize(), new T.Vector3(1, 1, 1));
    for (const each of [...surfaces.map((of) => of.surface), ...(lines ? [lines] : [])]) {
      each.applyMatrix4(pose);
      if (!each.attributes.normal) each.computeVertexNormals();
    }
    return { surfaces, lines };
  }

  // Returns a function that moves a geometry with a beam's axis. `lengths` are those along the axis
  // at its samples. The function takes the samples: position, and y and z axes of the section.
  function follower(geometry, lengths) {
    const { position, normal } = geometry.attributes;
    const rest = position.array.slice();
    const places = Array.from({ length: rest.length / 3 }, (_, k) => {
      const x = rest[3 * k];
      let i = lengths.findIndex((length) => length > x) - 1;
      if (i < 0) i = x < lengths[0] ? 0 : lengths.length - 2;
      return [i, (x - lengths[i]) / (lengths[i + 1] - lengths[i])];
    });
    return (samples) => {
      places.forEach(([i, s], k) => {
        const [y, z] = [rest[3 * k + 1], rest[3 * k + 2]];
        for (let c = 0; c < 3; c++) {
          const [a, b] = [9 * i + c, 9 * i + 9 + c];
          const mixed = (of) => samples[a + of] + s * (samples[b + of] - samples[a + of]);
          position.array[3 * k + c] = mixed(0) + y * mixed(3) + z * mixed(6);
        }
      });
      position.needsUpdate = true;
      if (normal) geometry.computeVertexNormals();
    };
  }
  return { made, follower };
}

export {
  AmbientLight, ArrowHelper, AxesHelper, Box3, BoxGeometry, BufferAttribute, BufferGeometry, CatmullRomCurve3, Color, CylinderGeometry,
  DirectionalLight, GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshStandardMaterial,
  PerspectiveCamera, Quaternion, Scene, SphereGeometry, TorusGeometry, TubeGeometry, Vector3, WebGLRenderer, Matrix4,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";

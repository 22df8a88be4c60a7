// Times MuJoCo's mj_forward on the chains of chain.hpp (file format and output are documented
// at the head of that file).
//
//   mujoco_forward [--check] [--dir DIR] [--seconds T] [--flags=fair|none]  n...
//
// prints  n  median_microseconds  min_microseconds  checksum  for each DIR/chain_<n>.txt;
// the checksum is the norm of the first state's acceleration vector.
//
// Options (--flags=fair, the default) disable all parts that the acceleration of a free-floating
// chain does not need:
//   CONSTRAINT   the whole constraint solver (with it equality, friction loss, limits)
//   CONTACT      collision detection
//   GRAVITY      (gravity is also the zero vector)
//   SPRING, DAMPER   passive forces: the model has none
//   ACTUATION    the model has no actuators; the torques are set in qfrc_applied
//   SENSOR       the model has none
//   ISLAND, WARMSTART   belong to the constraint solver
// --flags=none leaves MuJoCo's defaults and only sets gravity to zero.
// Armature, damping, friction loss and stiffness are zero. The rest of mj_forward (loops over empty
// lists of tendons, cameras and lights, ...) remains.
//
// The measured time covers writing qpos, qvel and qfrc_applied into mjData, then mj_forward.
#include <mujoco/mujoco.h>

#include <memory>

#include "chain.hpp"

namespace {

struct Options {
  bool fair = true;
};

class MuJoCo {
 public:
  MuJoCo(const Chain& c, const Options& o) : n_(c.n) {
    model_ = make_model(c);
    model_->opt.gravity[0] = model_->opt.gravity[1] = model_->opt.gravity[2] = 0;
    if (o.fair)
      model_->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_GRAVITY |
                                  mjDSBL_SPRING | mjDSBL_DAMPER | mjDSBL_ACTUATION |
                                  mjDSBL_SENSOR | mjDSBL_ISLAND | mjDSBL_WARMSTART;
    data_ = mj_makeData(model_);
    if (!data_) throw std::runtime_error("mj_makeData failed");
    if (model_->nq != n_ + 7 || model_->nv != n_ + 6)
      throw std::runtime_error("MuJoCo built a model of another size");
    for (int i = 0; i < model_->nv; ++i)
      if (model_->dof_armature[i] != 0 || model_->dof_damping[i] != 0)
        throw std::runtime_error("MuJoCo added armature or damping");
    for (const State& s : c.states) states_.push_back(convert(s));
  }
  MuJoCo(const MuJoCo&) = delete;
  MuJoCo& operator=(const MuJoCo&) = delete;
  ~MuJoCo() {
    mj_deleteData(data_);
    mj_deleteModel(model_);
  }

  void evaluate(int s) {
    const Converted& x = states_[s];
    std::memcpy(data_->qpos, x.qpos.data(), x.qpos.size() * sizeof(mjtNum));
    std::memcpy(data_->qvel, x.qvel.data(), x.qvel.size() * sizeof(mjtNum));
    std::memcpy(data_->qfrc_applied, x.tau.data(), x.tau.size() * sizeof(mjtNum));
    mj_forward(model_, data_);
  }

  double square(int s) { return sum_of_squares(acceleration(s)); }

  std::vector<double> acceleration(int s) {
    evaluate(s);
    // Free joint: qacc is d/dt of qvel, so its linear part is already the classical
    // acceleration in world axes and its angular part the body-axes derivative.
    const mjtNum* a = data_->qacc;
    std::vector<double> out(a, a + n_ + 6);
    for (int k = 0; k < 3; ++k) {
      out[k] = a[3 + k];
      out[3 + k] = a[k];
    }
    return out;
  }

 private:
  struct Converted {
    std::vector<mjtNum> qpos, qvel, tau;
  };

  static mjModel* make_model(const Chain& c) {
    // The C API instead of MJCF text, so that no digit is lost.
    std::unique_ptr<mjSpec, void (*)(mjSpec*)> spec(mj_makeSpec(), mj_deleteSpec);
    spec->compiler.degree = false;
    spec->compiler.balanceinertia = false;
    spec->compiler.boundmass = 0;
    spec->compiler.boundinertia = 0;
    spec->compiler.inertiafromgeom = mjINERTIAFROMGEOM_FALSE;

    std::vector<mjsBody*> body(c.n + 1);
    for (int i = 0; i <= c.n; ++i) {
      mjsBody* parent = i == 0 ? mjs_findBody(spec.get(), "world")
                               : body[c.joints[i - 1].parent];
      mjsBody* b = body[i] = mjs_addBody(parent, nullptr);
      const Body& in = c.bodies[i];
      b->explicitinertial = true;
      b->mass = in.mass;
      for (int k = 0; k < 3; ++k) b->ipos[k] = in.com[k];
      // fullinertia is xx yy zz xy xz yz, tensor elements, about ipos: the order of the file.
      for (int k = 0; k < 6; ++k) b->fullinertia[k] = in.inertia[k];
      if (i == 0) {
        // "Aligned" would move the body frame to the centre of mass.
        mjs_addFreeJoint(b)->align = mjALIGNFREE_FALSE;
        continue;
      }
      const Joint& j = c.joints[i - 1];
      mjsJoint* hinge = mjs_addJoint(b, nullptr);
      hinge->type = mjJNT_HINGE;
      for (int k = 0; k < 3; ++k) b->pos[k] = j.origin[k];
      for (int k = 0; k < 4; ++k) b->quat[k] = j.quat[k];
      for (int k = 0; k < 3; ++k) hinge->pos[k] = 0;
      for (int k = 0; k < 3; ++k) hinge->axis[k] = j.axis[k];
    }
    mjModel* m = mj_compile(spec.get(), nullptr);
    if (!m) throw std::runtime_error(std::string("mj_compile: ") + mjs_getError(spec.get()));
    // MuJoCo numbers bodies depth first, which in a chain is the file's order. In a branching tree
    // the orders may differ, and q would have to be permuted.
    for (int i = 0; i < c.n; ++i)
      if (c.joints[i].parent != i) {
        mj_deleteModel(m);
        throw std::runtime_error("only unbranched chains are supported");
      }
    return m;
  }

  static Converted convert(const State& s) {
    Converted x;
    x.qpos.assign(s.pos.begin(), s.pos.end());
    x.qpos.insert(x.qpos.end(), s.quat.begin(), s.quat.end());  // wxyz
    x.qpos.insert(x.qpos.end(), s.q.begin(), s.q.end());
    // Free joint velocity: linear in world axes, angular in body axes, as in the file.
    x.qvel.assign(s.lin_world.begin(), s.lin_world.end());
    x.qvel.insert(x.qvel.end(), s.ang_body.begin(), s.ang_body.end());
    x.qvel.insert(x.qvel.end(), s.qd.begin(), s.qd.end());
    x.tau.assign(6, 0.0);
    x.tau.insert(x.tau.end(), s.tau.begin(), s.tau.end());
    return x;
  }

  int n_;
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
  std::vector<Converted> states_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Arguments args = read_arguments(argc, argv);
  Options o;
  for (const std::string& s : args.options) {
    if (s == "--flags=fair") o.fair = true;
    else if (s == "--flags=none") o.fair = false;
    else throw std::runtime_error("unknown option " + s);
  }
  if (mj_version() != mjVERSION_HEADER)
    throw std::runtime_error("libmujoco and its headers are of different versions");
  return run_peer(args, [&](const Chain& c) { return std::make_unique<MuJoCo>(c, o); });
} catch (const std::exception& e) {
  std::fprintf(stderr, "mujoco_forward: %s\n", e.what());
  return 1;
}

// Times Pinocchio's articulated-body algorithm, pinocchio::aba, or its derivatives,
// pinocchio::computeABADerivatives, on the chains of chain.hpp (file format and output are
// documented at the head of that file).
//
//   pinocchio_aba [--check] [--dir DIR] [--seconds T] [--joint=rz|unaligned]
//                 [--convention=local|world] [--derivatives]  n...
//
// prints  n  median_microseconds  min_microseconds  checksum  for each DIR/chain_<n>.txt;
// the checksum is the norm of the first state's acceleration vector, or of the derivatives of the
// joints' accelerations with respect to their angles and rates.
//
// Options:
//   --joint=rz          the body frames are turned so that every joint axis is z, which
//                       lets Pinocchio use JointModelRZ, its sparse specialisation (default);
//   --joint=unaligned   axes as they are in the file, JointModelRevoluteUnaligned.
//   --derivatives       accelerations with their partial derivatives with respect to q, v, tau.
//   --convention=...    Pinocchio's recursion: local is its default and grapple's convention;
//                       world was the faster one in most measurements.
//
// Compiled without further options, aba is instantiated HERE from the headers, with the compile
// flags of this build. Compiled with -DPEER_WHEEL_ABA -DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION and
// linked with libpinocchio_default.so, the wheel's own instantiation is called instead. That
// library is built for plain x86-64: such a build must not use -march=..., because with AVX Eigen
// aligns Pinocchio's structures to 32 or 64 bytes and the two layouts would differ.
#include "pinocchio/multibody.hpp"
#include "pinocchio/algorithm/aba.hpp"
#include "pinocchio/algorithm/aba-derivatives.hpp"

#include <memory>

#include "chain.hpp"

namespace {

using pinocchio::SE3;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Options {
  bool aligned = true;
  bool derivatives = false;
  pinocchio::Convention convention = pinocchio::Convention::LOCAL;
};

Vector3d vec(const std::array<double, 3>& a) { return Vector3d(a[0], a[1], a[2]); }

// Eigen's four-argument constructor takes w first (its storage, like Pinocchio's q, is xyzw).
Quaterniond quat(const std::array<double, 4>& a) {
  return Quaterniond(a[0], a[1], a[2], a[3]).normalized();
}

// Returns a rotation that takes z to `axis`. Quaterniond::FromTwoVectors is not used: near -z it
// loses digits, and residuals were a hundred times larger.
Matrix3d frame_with_z(const Vector3d& axis) {
  Eigen::Index least;
  axis.cwiseAbs().minCoeff(&least);
  Matrix3d R;
  R.col(2) = axis;
  R.col(0) = Vector3d::Unit(least).cross(axis).normalized();
  R.col(1) = axis.cross(R.col(0));
  return R;
}

class Pinocchio {
 public:
  Pinocchio(const Chain& c, const Options& o)
      : derivatives_(o.derivatives), convention_(o.convention), model_(make_model(c, o)), data_(model_) {
    for (const State& s : c.states) states_.push_back(convert(s));
  }

  void evaluate(int s) {
    const Converted& x = states_[s];
#ifdef PEER_WHEEL_ABA
    // The library contains one instantiation, with Eigen::Ref<const VectorXd>.
    using Ref = Eigen::Ref<const VectorXd>;
    const Ref q(x.q), v(x.v), tau(x.tau);
#else
    const VectorXd &q = x.q, &v = x.v, &tau = x.tau;
#endif
    if (derivatives_) {
      pinocchio::computeABADerivatives(model_, data_, q, v, tau);
      asm volatile("" : : "r"(data_.ddq_dq.data()), "r"(data_.ddq_dv.data()) : "memory");
    } else {
      pinocchio::aba(model_, data_, q, v, tau, convention_);
    }
    // Prevents the compiler from dropping computations whose result is not read.
    asm volatile("" : : "r"(data_.ddq.data()) : "memory");
  }

  // Returns the sum of squares of the timed result; of derivatives, only those with respect to the
  // joints' angles and rates.
  double square(int s) {
    if (!derivatives_) return sum_of_squares(acceleration(s));
    evaluate(s);
    const auto n = data_.ddq.size() - 6;
    return data_.ddq_dq.bottomRightCorner(n, n).squaredNorm() +
           data_.ddq_dv.bottomRightCorner(n, n).squaredNorm();
  }

  std::vector<double> acceleration(int s) {
    evaluate(s);
    const Converted& x = states_[s];
    const auto& a = data_.ddq;
    // The free-flyer's acceleration is the spatial one, d/dt of the BODY components of the origin's
    // velocity. The classical acceleration is d/dt (R v) = R (dv/dt + w x v).
    const Vector3d v = x.v.head<3>(), w = x.v.segment<3>(3);
    const Vector3d linear = x.R * (a.head<3>() + w.cross(v));
    std::vector<double> out(a.size());
    Eigen::Map<VectorXd> r(out.data(), a.size());
    r.head<3>() = a.segment<3>(3);
    r.segment<3>(3) = linear;
    r.tail(a.size() - 6) = a.tail(a.size() - 6);
    return out;
  }

 private:
  struct Converted {
    VectorXd q, v, tau;
    Matrix3d R;
  };

  static pinocchio::Model make_model(const Chain& c, const Options& o) {
    pinocchio::Model m;
    m.gravity.setZero();  // the default is 9.81 along -z
    // turn[i]: rotation from the body frame used here to the file's frame of body i.
    std::vector<Matrix3d> turn(c.n + 1, Matrix3d::Identity());
    std::vector<pinocchio::JointIndex> index(c.n + 1);
    index[0] = m.addJoint(0, pinocchio::JointModelFreeFlyer(), SE3::Identity(), "base");
    for (int i = 1; i <= c.n; ++i) {
      const Joint& j = c.joints[i - 1];
      const Vector3d axis = vec(j.axis).normalized();
      if (o.aligned) turn[i] = frame_with_z(axis);
      const Matrix3d& P = turn[j.parent];
      const SE3 placement(P.transpose() * quat(j.quat).toRotationMatrix() * turn[i],
                          P.transpose() * vec(j.origin));
      const std::string name = "j" + std::to_string(i);
      index[i] = o.aligned
          ? m.addJoint(index[j.parent], pinocchio::JointModelRZ(), placement, name)
          : m.addJoint(index[j.parent], pinocchio::JointModelRevoluteUnaligned(axis),
                       placement, name);
    }
    for (int i = 0; i <= c.n; ++i) {
      const Body& b = c.bodies[i];
      Matrix3d I;  // a full matrix: Pinocchio's packed order (xx xy yy xz yz zz) differs from the file's
      I << b.inertia[0], b.inertia[3], b.inertia[4],
           b.inertia[3], b.inertia[1], b.inertia[5],
           b.inertia[4], b.inertia[5], b.inertia[2];
      const Matrix3d It = turn[i].transpose() * I * turn[i];
      m.appendBodyToJoint(index[i],
                          pinocchio::Inertia(b.mass, turn[i].transpose() * vec(b.com),
                                             0.5 * (It + It.transpose())),
                          SE3::Identity());
    }
    return m;
  }

  Converted convert(const State& s) const {
    const int n = static_cast<int>(s.q.size());
    const Quaterniond Q = quat(s.quat);
    Converted x{VectorXd(n + 7), VectorXd(n + 6), VectorXd::Zero(n + 6),
                Q.toRotationMatrix()};
    x.q.head<3>() = vec(s.pos);
    x.q.segment<4>(3) = Q.coeffs();  // xyzw
    // Free-flyer velocity: linear then angular, BOTH in body axes.
    x.v.head<3>() = x.R.transpose() * vec(s.lin_world);
    x.v.segment<3>(3) = vec(s.ang_body);
    x.q.tail(n) = Eigen::Map<const VectorXd>(s.q.data(), n);
    x.v.tail(n) = Eigen::Map<const VectorXd>(s.qd.data(), n);
    x.tau.tail(n) = Eigen::Map<const VectorXd>(s.tau.data(), n);
    return x;
  }

  bool derivatives_;
  pinocchio::Convention convention_;
  pinocchio::Model model_;
  pinocchio::Data data_;
  std::vector<Converted> states_;
};

}  // namespace

int main(int argc, char** argv) try {
  const Arguments args = read_arguments(argc, argv);
  Options o;
  for (const std::string& s : args.options) {
    if (s == "--joint=rz") o.aligned = true;
    else if (s == "--joint=unaligned") o.aligned = false;
    else if (s == "--derivatives") o.derivatives = true;
    else if (s == "--convention=local") o.convention = pinocchio::Convention::LOCAL;
    else if (s == "--convention=world") o.convention = pinocchio::Convention::WORLD;
    else throw std::runtime_error("unknown option " + s);
  }
  return run_peer(args, [&](const Chain& c) { return std::make_unique<Pinocchio>(c, o); });
} catch (const std::exception& e) {
  std::fprintf(stderr, "pinocchio_aba: %s\n", e.what());
  return 1;
}

// Shared by pinocchio_aba.cpp and mujoco_forward.cpp: the chain description file, its
// reader, the command line and the timing loop. Nothing here depends on either library, so
// each program converts the plain data into its own library's conventions.
//
// CHAIN DESCRIPTION FILE
// ======================
// Plain text, tokens separated by any white space (line breaks mean nothing); '#' starts a
// comment that runs to the end of the line. SI units, radians. Tokens in this order:
//
//   n                                        number of revolute joints; bodies are 0..n
//   n+1 times, body 0 (the free base) to n:
//     mass                                   (1)
//     com                                    (3) centre of mass, in the body frame
//     ixx iyy izz ixy ixz iyz                (6) inertia about the com, body axes; ELEMENTS
//                                                of the tensor (ixy = I[0][1] = -sum m x y),
//                                                not positive products of inertia
//   n times, joint 1 to n (joint i moves body i):
//     parent                                 (1) index of the parent BODY, 0 <= parent < i
//     origin xyz                             (3) of the joint frame, in the parent body frame
//     quaternion w x y z                     (4) joint frame -> parent body frame
//     axis xyz                               (3) unit vector, in the joint frame
//   S                                        number of states
//   S times:
//     base position                          (3) of the base body's origin, in the world
//     base quaternion w x y z                (4) body -> world, unit
//     q                                      (n)
//     base linear velocity                   (3) of the base body's ORIGIN, in WORLD axes
//     base angular velocity                  (3) in BODY axes
//     qd                                     (n)
//     tau                                    (n) joint torques; nothing acts on the base
//
// The frame of body i is the joint frame turned by q about the axis, so its pose in its
// parent is  Trans(origin) * Rot(quaternion) * Rot(axis, q).  There is no gravity.
//
// OUTPUT of --check, one line per state ("%.17g"):  n  state  values(6+n)  with the values
//     base angular acceleration              (3) derivative of the body-axes components
//     base linear acceleration               (3) classical acceleration of the base origin,
//                                                that is d/dt of the WORLD-axes velocity
//     qdd                                    (n)
// NOTE the order: angular first here, linear first in the states above.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

struct Body {
  double mass;
  std::array<double, 3> com;
  std::array<double, 6> inertia;  // ixx iyy izz ixy ixz iyz, about com
};

struct Joint {
  int parent;
  std::array<double, 3> origin;
  std::array<double, 4> quat;  // wxyz
  std::array<double, 3> axis;
};

struct State {
  std::array<double, 3> pos;
  std::array<double, 4> quat;  // wxyz
  std::vector<double> q;
  std::array<double, 3> lin_world;
  std::array<double, 3> ang_body;
  std::vector<double> qd;
  std::vector<double> tau;
};

struct Chain {
  int n = 0;
  std::vector<Body> bodies;  // n + 1
  std::vector<Joint> joints;  // n
  std::vector<State> states;
};

namespace detail {

class Tokens {
 public:
  explicit Tokens(const std::string& path) : path_(path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path);
    text_.assign(std::istreambuf_iterator<char>(in), {});
    for (size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '#')
        while (i < text_.size() && text_[i] != '\n') text_[i++] = ' ';
    at_ = text_.c_str();
  }
  double real() {
    char* end = nullptr;
    const double x = std::strtod(at_, &end);
    if (end == at_ || !std::isfinite(x)) fail("a finite number was expected");
    at_ = end;
    return x;
  }
  int integer(int lo, int hi) {
    const double x = real();
    if (x != std::floor(x) || x < lo || x > hi) fail("an integer in range was expected");
    return static_cast<int>(x);
  }
  template <class Sequence>
  void fill(Sequence& s) {
    for (double& x : s) x = real();
  }
  template <class Sequence>
  void fill_unit(Sequence& s) {
    fill(s);
    double norm2 = 0;
    for (double x : s) norm2 += x * x;
    if (std::fabs(norm2 - 1) > 1e-9) fail("a unit vector or quaternion was expected");
  }
  void finish() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') ++at_;
    if (*at_) fail("the file goes on after the last state");
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(path_ + ": " + what + ", at byte " +
                             std::to_string(at_ - text_.c_str()));
  }
  std::string path_, text_;
  const char* at_ = nullptr;
};

}  // namespace detail

inline Chain read_chain(const std::string& path) {
  detail::Tokens in(path);
  Chain c;
  c.n = in.integer(0, 100000);
  c.bodies.resize(c.n + 1);
  for (Body& b : c.bodies) {
    b.mass = in.real();
    in.fill(b.com);
    in.fill(b.inertia);
  }
  c.joints.resize(c.n);
  for (int i = 0; i < c.n; ++i) {
    Joint& j = c.joints[i];
    j.parent = in.integer(0, i);  // joints[i] moves body i+1, so parents 0..i exist
    in.fill(j.origin);
    in.fill_unit(j.quat);
    in.fill_unit(j.axis);
  }
  c.states.resize(in.integer(1, 1000000));
  for (State& s : c.states) {
    s.q.resize(c.n);
    s.qd.resize(c.n);
    s.tau.resize(c.n);
    in.fill(s.pos);
    in.fill_unit(s.quat);
    in.fill(s.q);
    in.fill(s.lin_world);
    in.fill(s.ang_body);
    in.fill(s.qd);
    in.fill(s.tau);
  }
  in.finish();
  return c;
}

struct Arguments {
  bool check = false;
  double seconds = 1.0;              // measuring time per chain
  std::string dir = "chains";
  std::vector<std::string> files;    // dir/chain_<n>.txt for an argument that is a number
  std::vector<std::string> options;  // other --words, for the program to read
};

inline Arguments read_arguments(int argc, char** argv) {
  Arguments a;
  std::vector<std::string> chains;
  for (int i = 1; i < argc; ++i) {
    const std::string s = argv[i];
    if (s == "--check") a.check = true;
    else if (s == "--dir" && i + 1 < argc) a.dir = argv[++i];
    else if (s == "--seconds" && i + 1 < argc) a.seconds = std::atof(argv[++i]);
    else if (s.rfind("--", 0) == 0) a.options.push_back(s);
    else chains.push_back(s);
  }
  for (const std::string& s : chains) {
    const bool number = s.find_first_not_of("0123456789") == std::string::npos;
    a.files.push_back(number ? a.dir + "/chain_" + s + ".txt" : s);
  }
  if (a.files.empty()) throw std::runtime_error("give one or more n's or chain files");
  return a;
}

struct Timing {
  double median_us, min_us;
};

// Times eval(s), s cycling through all S states: a repeated state would give branch predictors and
// value caches an unrealistic advantage. A batch is a whole number of sweeps, so that all batches
// do the same work, and lasts about a millisecond, so that the clock's overhead is negligible. The
// result is the median over batches; the minimum beside it shows the influence of other load.
template <class Eval>
Timing time_evaluations(int S, double seconds, Eval&& eval) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const auto batch = [&](long sweeps) {
    const auto t = Clock::now();
    for (long k = 0; k < sweeps; ++k)
      for (int s = 0; s < S; ++s) eval(s);
    return since(t) / (double(sweeps) * S);
  };
  // Warm-up: caches, page faults, clock frequency; it also determines the batch size.
  const auto start = Clock::now();
  double per_eval = batch(1);
  while (since(start) < std::max(0.2, 0.2 * seconds)) per_eval = batch(1);
  const long sweeps = std::max(1L, std::lround(1e-3 / (per_eval * S)));

  std::vector<double> t;
  const auto measured = Clock::now();
  const std::clock_t cpu = std::clock();
  while (t.size() < 31 || since(measured) < seconds) t.push_back(batch(sweeps));
  // The measured wall time is the program's own only if it had a core to itself.
  const double share = double(std::clock() - cpu) / CLOCKS_PER_SEC / since(measured);
  if (share < 0.97)
    std::fprintf(stderr, "# disturbed: the program had a core for only %.0f %% of the time\n",
                 100 * share);
  std::sort(t.begin(), t.end());
  const size_t k = t.size();
  const double median = k % 2 ? t[k / 2] : 0.5 * (t[k / 2 - 1] + t[k / 2]);
  return {1e6 * median, 1e6 * t.front()};
}

inline double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (double x : values) sum += x * x;
  return sum;
}

// The common main: `Peer` is built from a Chain and has
//   void evaluate(int state);                           -- the timed function
//   std::vector<double> acceleration(int state);        -- evaluates, and converts to the file's order
//   double square(int state);                           -- square of the checksum
template <class MakePeer>
int run_peer(const Arguments& args, MakePeer&& make) {
  for (const std::string& file : args.files) {
    const Chain chain = read_chain(file);
    const int S = static_cast<int>(chain.states.size());
    auto peer = make(chain);
    if (args.check) {
      for (int s = 0; s < S; ++s) {
        std::printf("%d %d", chain.n, s);
        for (double x : peer->acceleration(s)) std::printf(" %.17g", x);
        std::printf("\n");
      }
      continue;
    }
    const Timing t =
        time_evaluations(S, args.seconds, [&](int s) { peer->evaluate(s); });
    const double norm2 = peer->square(0);
    std::printf("%d %.4f %.4f %.15g\n", chain.n, t.median_us, t.min_us, std::sqrt(norm2));
    std::fflush(stdout);
    if (!std::isfinite(norm2)) throw std::runtime_error(file + ": acceleration not finite");
  }
  return 0;
}

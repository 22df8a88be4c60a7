// Stand-ins for the parts of the Modelica Standard Library that the packages and examples use, written
// for these tests from the library's documentation: connectors, the FMU adaptors and their sign
// conventions, orientation objects. With the library itself in MODELICAPATH the tests use that.
package Modelica
  package Blocks
    package Interfaces
      connector RealInput = input Real;
      connector RealOutput = output Real;
      connector BooleanOutput = output Boolean;
      package Adaptors
        package Functions
          function state1 "Returns u[1]; u[2] is its derivative"
            input Real u[2];
            input Real dummy;
            output Real s;
          algorithm
            s := u[1];
            annotation(derivative(noDerivative = u) = state1_rate);
          end state1;
          function state1_rate
            input Real u[2];
            input Real dummy;
            input Real dummy_der;
            output Real s;
          algorithm
            s := u[2];
          end state1_rate;
          function state2 "Returns u[1]; u[2] and u[3] are its derivatives"
            input Real u[3];
            input Real dummy;
            output Real s;
          algorithm
            s := u[1];
            annotation(derivative(noDerivative = u) = state2_rate);
          end state2;
          function state2_rate
            input Real u[3];
            input Real dummy;
            input Real dummy_der;
            output Real s;
          algorithm
            s := u[2];
            annotation(derivative(noDerivative = u, order = 2) = state2_acceleration);
          end state2_rate;
          function state2_acceleration
            input Real u[3];
            input Real dummy;
            input Real dummy_der;
            input Real dummy_der2;
            output Real s;
          algorithm
            s := u[3];
          end state2_acceleration;
        end Functions;
        partial model PositionIn "The position is a signal; f is the force on the component behind the flange"
          parameter Boolean use_pder = true;
          parameter Boolean use_pder2 = true;
          RealInput p;
          RealInput pder if use_pder;
          RealInput pder2 if use_pder and use_pder2;
          RealOutput f;
        protected
          RealInput v;
          RealInput a;
          Real position;
        equation
          connect(pder, v);
          if use_pder2 then
            connect(pder2, a);
            position = Functions.state2({p, v, a}, time);
          else
            a = 0;
            position = Functions.state1({p, v}, time);
          end if;
        end PositionIn;
        partial model ForceIn "The force on the adaptor is a signal; p is the position"
          parameter Boolean use_pder = true;
          parameter Boolean use_pder2 = true;
          RealOutput p;
          RealOutput pder;
          RealInput f;
        equation
          pder = der(p);
        end ForceIn;
      end Adaptors;
    end Interfaces;
  end Blocks;
  package Mechanics
    package Rotational
      package Interfaces
        connector Flange_a
          Real phi;
          flow Real tau "Torque into the component";
        end Flange_a;
        connector Flange_b = Flange_a;
      end Interfaces;
      package Components
        model GeneralAngleToTorqueAdaptor
          extends Modelica.Blocks.Interfaces.Adaptors.PositionIn;
          Interfaces.Flange_b flange;
        equation
          flange.phi = position;
          f = -flange.tau;
        end GeneralAngleToTorqueAdaptor;
        model GeneralTorqueToAngleAdaptor
          extends Modelica.Blocks.Interfaces.Adaptors.ForceIn;
          Interfaces.Flange_a flange;
        equation
          p = flange.phi;
          flange.tau = f;
        end GeneralTorqueToAngleAdaptor;
        model SpringDamper
          parameter Real c;
          parameter Real d;
          Interfaces.Flange_a flange_a;
          Interfaces.Flange_b flange_b;
          Real phi_rel;
          Real w_rel;
          Real a_rel;
        equation
          phi_rel = flange_b.phi - flange_a.phi;
          w_rel = der(phi_rel);
          a_rel = der(w_rel);
          flange_b.tau = c*phi_rel + d*w_rel;
          flange_a.tau = -flange_b.tau;
        end SpringDamper;
      end Components;
    end Rotational;
    package Translational
      package Interfaces
        connector Flange_a
          Real s;
          flow Real f "Force into the component";
        end Flange_a;
        connector Flange_b = Flange_a;
      end Interfaces;
      package Components
        model GeneralPositionToForceAdaptor
          extends Modelica.Blocks.Interfaces.Adaptors.PositionIn;
          Interfaces.Flange_b flange;
        equation
          flange.s = position;
          f = -flange.f;
        end GeneralPositionToForceAdaptor;
      end Components;
    end Translational;
    package MultiBody
      package Types
        type GravityTypes = enumeration(NoGravity, UniformGravity, PointGravity);
      end Types;
      model World
        parameter Types.GravityTypes gravityType = Types.GravityTypes.UniformGravity;
        parameter Boolean enableAnimation = true;
      end World;
      package Frames
        record Orientation
          Real T[3, 3] "Components in the world to components in the frame";
          Real w[3] "Angular velocity, the frame's axes";
        end Orientation;
        function from_Q
          input Real Q[4] "Quaternion (x, y, z, w) of the rotation of the world into the frame";
          input Real w[3];
          output Orientation R;
        algorithm
          R.T := {{1 - 2*(Q[2]^2 + Q[3]^2), 2*(Q[1]*Q[2] + Q[3]*Q[4]), 2*(Q[1]*Q[3] - Q[2]*Q[4])},
                  {2*(Q[1]*Q[2] - Q[3]*Q[4]), 1 - 2*(Q[1]^2 + Q[3]^2), 2*(Q[2]*Q[3] + Q[1]*Q[4])},
                  {2*(Q[1]*Q[3] + Q[2]*Q[4]), 2*(Q[2]*Q[3] - Q[1]*Q[4]), 1 - 2*(Q[1]^2 + Q[2]^2)}};
          R.w := w;
        end from_Q;
        function resolve1
          input Orientation R;
          input Real v2[3] "In the frame";
          output Real v1[3] "In the world";
        algorithm
          v1 := transpose(R.T)*v2;
        end resolve1;
      end Frames;
      package Interfaces
        connector Frame_a
          Real r_0[3];
          Frames.Orientation R;
          flow Real f[3] "Force on the component, the frame's axes";
          flow Real t[3] "Torque on the component, the frame's axes";
        end Frame_a;
        connector Frame_b = Frame_a;
      end Interfaces;
      package Forces
        model SpringDamperParallel
          parameter Real c;
          parameter Real d;
          parameter Real s_unstretched;
          Interfaces.Frame_a frame_a;
          Interfaces.Frame_b frame_b;
          Real r[3];
          Real s;
          Real f "Tension";
        equation
          r = frame_b.r_0 - frame_a.r_0;
          s = sqrt(r[1]^2 + r[2]^2 + r[3]^2);
          f = c*(s - s_unstretched) + d*der(s);
          frame_a.f = -f/s*(frame_a.R.T*r);
          frame_b.f = f/s*(frame_b.R.T*r);
          frame_a.t = zeros(3);
          frame_b.t = zeros(3);
        end SpringDamperParallel;
      end Forces;
    end MultiBody;
  end Mechanics;
end Modelica;

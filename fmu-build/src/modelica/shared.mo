  partial model Wrapper "Icon of the models that wrap an FMU"
    annotation(Icon(graphics = {
      Rectangle(extent = {{-100,100},{100,-100}}, lineColor = {0,0,127}, fillColor = {255,255,255}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-20,14},{20,-14}}, lineColor = {64,64,64}, fillColor = {215,215,215}, fillPattern = FillPattern.Solid),
      Rectangle(extent = {{-62,10},{-26,-10}}, lineColor = {0,0,127}, fillColor = {170,190,230}, fillPattern = FillPattern.Solid),
      Line(points = {{-26,0},{-20,0}}, color = {64,64,64}),
      Line(points = {{20,0},{42,24},{66,6}}, color = {64,64,64}, thickness = 1),
      Ellipse(extent = {{38,28},{46,20}}, lineColor = {64,64,64}, fillColor = {255,255,255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-100,90},{100,60}}, textString = "%name")}));
  end Wrapper;

  model Port "Frame of a port: pose from the FMU, force and torque to the FMU"
    import Modelica.Mechanics.MultiBody.Frames;
    import Modelica.Blocks.Interfaces.Adaptors.Functions.state1;
    parameter Real lag(unit = "s") "Time constant of the force and the torque";
    parameter Boolean worldAxes "True if the port's inputs are in inertial axes, false if in the frame's";
    input Real r[3](each unit = "m") "Position, inertial axes";
    input Real q[4] "Attitude: quaternion (w, x, y, z), frame to inertial";
    input Real v[3](each unit = "m/s") "Velocity, inertial axes";
    input Real w[3](each unit = "rad/s") "Angular velocity, the frame's axes";
    Real f[3](each unit = "N", each start = 0, each fixed = true) "Force on the FMU";
    Real t[3](each unit = "N.m", each start = 0, each fixed = true) "Torque on the FMU";
    Modelica.Mechanics.MultiBody.Interfaces.Frame_a frame;
  equation
    Connections.root(frame.R);
    // state1 returns r[i], and v[i] as its derivative: an output of an FMU cannot be differentiated.
    for i in 1:3 loop
      frame.r_0[i] = state1({r[i], v[i]}, time);
    end for;
    // The library's quaternions have the scalar last; its T takes inertial axes to the frame's.
    frame.R = Frames.from_Q({q[2], q[3], q[4], q[1]}, w);
    lag*der(f) + f = if worldAxes then Frames.resolve1(frame.R, frame.f) else frame.f;
    lag*der(t) + t = if worldAxes then Frames.resolve1(frame.R, frame.t) else frame.t;
  end Port;

  annotation(uses(Modelica(version = "4.0.0")), Documentation(info = "<html>
<p>Each model wraps the model that OpenModelica's <code>importFMU</code> makes of an FMU.</p>
<ul>
<li>Flanges have the position of a joint's axis and the torque or force on it, by the library's FMU
adaptors. A flange of a controller is connected to that of a spacecraft.</li>
<li>Frames have the pose of a port's frame and the force and torque on it. They connect to force
elements; a body that is fixed to one belongs in the spec.</li>
<li><code>commands</code> has the other inputs, with their start values as defaults. A modification
replaces one by any expression: <code>commands(grip_on = step.y)</code>.</li>
<li><code>sensors</code> is a bus of all outputs.</li>
<li>The parameters are those of the FMU: <code>fmu(base_mass = 5.0)</code>.</li>
<li>The forces and torques of the connectors reach the FMU with the time constant <code>lag</code>: a
state between its outputs and its inputs, without which OpenModelica finds an algebraic loop. At a
spring of stiffness c it acts like a damper of -c*lag.</li>
</ul>
</html>"));

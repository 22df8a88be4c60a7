model TwoSpacecraft "A tether between the boom's tip of chaser and the edge of target"
  inner Modelica.Mechanics.MultiBody.World world(
    gravityType = Modelica.Mechanics.MultiBody.Types.GravityTypes.NoGravity, enableAnimation = false);
  Spacecraft.chaser chaser;
  Spacecraft.target target;
  Modelica.Mechanics.MultiBody.Forces.SpringDamperParallel tether(c = 20, d = 10, s_unstretched = 1);
equation
  connect(chaser.hook_frame, tether.frame_a);
  connect(tether.frame_b, target.eye_frame);
  annotation(experiment(StopTime = 20, Interval = 0.05, Tolerance = 1e-8));
end TwoSpacecraft;

model ClosedLoop "The arm of servoed_arm, controlled by springs and dampers at the flanges of its joints"
  Spacecraft.servoed_arm craft "Its own servos are off: commands.shoulder_servo, commands.elbow_servo";
  Modelica.Mechanics.Rotational.Components.SpringDamper shoulder(c = 900, d = 600) "kp (q_ref - q) + kd (qd_ref - qd)";
  Modelica.Mechanics.Rotational.Components.SpringDamper elbow(c = 400, d = 250);
  Modelica.Mechanics.Rotational.Components.GeneralAngleToTorqueAdaptor shoulder_plan(use_pder2 = false) "Flange that follows the plan";
  Modelica.Mechanics.Rotational.Components.GeneralAngleToTorqueAdaptor elbow_plan(use_pder2 = false);
equation
  connect(craft.shoulder_flange, shoulder.flange_a);
  connect(shoulder.flange_b, shoulder_plan.flange);
  connect(craft.sensors.shoulder_q_ref, shoulder_plan.p);
  connect(craft.sensors.shoulder_qd_ref, shoulder_plan.pder);
  connect(craft.elbow_flange, elbow.flange_a);
  connect(elbow.flange_b, elbow_plan.flange);
  connect(craft.sensors.elbow_q_ref, elbow_plan.p);
  connect(craft.sensors.elbow_qd_ref, elbow_plan.pder);
  annotation(experiment(StopTime = 12, Interval = 0.01, Tolerance = 1e-8));
end ClosedLoop;

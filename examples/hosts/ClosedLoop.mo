model ClosedLoop "The Model Exchange FMU of servoed_arm.toml, its two joints controlled from outside"
  servoed_arm_me_FMU craft "what importFMU makes of servoed_arm.fmu; omc writes shoulder_q for shoulder.q";
  parameter Real kp[2](each unit = "N.m/rad") = {900, 400};
  parameter Real kd[2](each unit = "N.m.s/rad") = {600, 250};
  parameter Real lag(unit = "s") = 1e-3 "of the drives; a state between measurement and torque, so there is no algebraic loop";
  Real tau[2](each unit = "N.m", each start = 0, each fixed = true) "of shoulder and elbow";
equation
  lag*der(tau[1]) + tau[1] = kp[1]*(craft.shoulder_q_ref - craft.shoulder_q) + kd[1]*(craft.shoulder_qd_ref - craft.shoulder_qd);
  lag*der(tau[2]) + tau[2] = kp[2]*(craft.elbow_q_ref - craft.elbow_q) + kd[2]*(craft.elbow_qd_ref - craft.elbow_qd);
  craft.shoulder_tau = tau[1];
  craft.elbow_tau = tau[2];
  craft.shoulder_servo = 0 "those inside stay off";
  craft.elbow_servo = 0;
end ClosedLoop;

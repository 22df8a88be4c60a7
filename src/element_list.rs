/// Passes the list of all elements to a macro. An entry has a description, the name of the list in
/// [`Elements`](crate::elements::Elements) and the element's type; for elements whose tables the
/// user names (`[grasp.<name>]`), brackets add the section of the spec and the type of its tables.
macro_rules! for_each_element {
    ($then:ident) => {
        $then! {
            "Controller of joints and attitudes in other FMUs, if the spec is that of a controller."
            controllers: Controller,
            "Reference orbit, if there is one."
            orbits: orbit::Orbit,
            "Outputs of the bodies and of their joints' coordinates."
            bodies: body::Body,
            "Attitude servos of free bodies."
            attitude_servos: AttitudeServo,
            "Outputs of the servos of joints, one for each joint."
            joint_servos: JointServo,
            "Torque inputs of joints without a motor."
            torques: joint::Torque,
            "Viscous friction of joints."
            dampers: joint::Damper,
            "Dry friction of joints."
            frictions: joint::Friction,
            "Springs of joints."
            joint_springs: joint::Spring,
            "Springs of spherical joints."
            ball_joint_springs: joint::BallSpring,
            "Drive trains of joints."
            drive_trains: joint::DriveTrain,
            "Servos of joint axes without a motor."
            axis_servos: joint::AxisServo,
            "Servos of spherical joints."
            ball_servos: joint::BallServo,
            "Modes of flexible bodies."
            modes: modal::Modes,
            "Motors with limited torque and rate, one for each axis of a joint."
            motors: Motor,
            "Electric parts of the motors of joints."
            dc_motors: DcMotor,
            "Reaction wheels."
            wheels: wheel::Wheel,
            "Control moment gyros."
            cmgs: cmg::Cmg [cmg: crate::spec::Cmg],
            "Tanks with liquids that slosh."
            tanks: tank::Tank [tank: crate::spec::Tank],
            "Frames on which an external wrench acts, as inputs."
            ports: Port [port: crate::spec::Port],
            "Thrusters."
            thrusters: Thruster [thruster: crate::spec::Thruster],
            "Beams on which an external distributed force acts, as inputs."
            line_loads: line_load::LineLoad [line_load: crate::spec::LineLoad],
            "Beams whose curvature by temperature differences is an input."
            thermal_bending: thermal_bending::ThermalBending [thermal_bending: crate::spec::ThermalBending],
            "Surfaces on which sunlight and the atmosphere act."
            exposed_surfaces: exposed_surface::ExposedSurface [exposed_surface: crate::spec::ExposedSurface],
            "Magnetic dipoles, whose moments are inputs."
            magnetic_dipoles: magnetic_dipole::MagneticDipole [magnetic_dipole: crate::spec::MagneticDipole],
            "Joints whose motion is locked or prescribed, always or when commanded."
            drives: Drive,
            "Dry friction that sticks, of joints with one axis."
            sticking: StickingFriction,
            "Outputs of the wrenches that joints transmit."
            reactions: reaction::Reaction,
            "Outputs of beams with modes."
            beams: beam::Beam,
            "Outputs of bodies with modal data."
            modal_bodies: modal::ModalBody,
            "Geometrically exact beams."
            geometrically_exact_beams: geometrically_exact_beam::Beam,
            "Limits of linear bending, one for each beam or segment of one."
            deflection_limits: deflection_limit::DeflectionLimit,
            "Outputs of frames."
            frames: frame::Frame,
            "ANCF beams."
            ancf_beams: ancf_beam::Beam,
            "Outputs of frames on ANCF beams."
            points: frame::Point,
            "Relative motions of two frames, as outputs."
            measures: measure::Measure [measure: crate::spec::Measure],
            "Sensors."
            sensors: Sensor [sensor: crate::spec::Sensor],
            "Ranges of joint coordinates and their stops."
            ranges: Range,
            "Pairs of frames between which an impact, a compliant contact force or a capture may act."
            contacts: Contact [contact: crate::spec::Contact],
            "Joints that close kinematic loops."
            closed_loops: ClosedLoop,
            "Linear couplings of two joints."
            couplings: Coupling [coupling: crate::elements::coupling::LinearCoupling],
            "Switched spring-dampers between two frames: models of compliant grippers."
            grasps: Grasp [grasp: crate::spec::Grasp],
            "Elastic connections to frames of other FMUs."
            interfaces: interface::Interface [interface: crate::elements::interface::ElasticInterface],
            "Springs and dampers between two frames."
            springs: spring::Spring [spring: crate::elements::spring::SpringDamper],
            "Tethers with mass."
            tethers: tether::Tether [tether: crate::spec::Tether],
            "Task-space control of frames."
            tasks: Task [task: crate::spec::Task],
            "Gravity."
            gravity: gravity::Gravity,
            "Signals that set inputs."
            signals: SignalSource,
            "Outputs of the whole system."
            diagnostics: diagnostics::Diagnostics,
            "Jacobians of frames, as outputs."
            kinematics: FrameKinematics [kinematics: crate::spec::Kinematics],
            "Outputs of effective masses."
            effective_masses: EffectiveMass,
        }
    };
}

//! A discrete-event model of Linux scheduling on modelled hardware.

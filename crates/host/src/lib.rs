//! The live host as figures: what /proc, /sys, control groups and netlink tell, sampled at an interval.

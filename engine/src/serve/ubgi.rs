//! The Universal Backgammon Interface.

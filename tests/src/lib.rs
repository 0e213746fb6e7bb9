//! Golden data, whole programs and real peers.

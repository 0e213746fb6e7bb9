//! zar-train
fn main(){}

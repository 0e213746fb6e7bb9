//! zar
fn main(){}

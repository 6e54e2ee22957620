
#[cfg(test)]
#[macro_use]
extern crate quickcheck;
#[cfg(test)]
mod tests;

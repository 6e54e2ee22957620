//! The kernels in this program have the proved machine code.

use gfsmith::check_kernels;

#[test]
fn kernels_have_the_proved_machine_code() {
    match check_kernels() {
        Ok(found) => println!("{} functions compared, {} compiled from C", found.compared, found.compiled),
        Err(name) => panic!("{name}: its machine code is not the proved one"),
    }
}

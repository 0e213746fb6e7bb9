#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    zar_fuzz::weights(data);
});

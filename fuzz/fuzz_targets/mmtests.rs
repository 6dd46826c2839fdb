//! Logs of MMTests' benchmarks: the first line is `BENCHMARK/FILE`, the rest the file, packed where its name says so.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some(end) = bytes.iter().position(|&b| b == b'\n') else { return };
    let Ok(path) = std::str::from_utf8(&bytes[..end]) else { return };
    let Some((benchmark, name)) = path.split_once('/') else { return };
    let _ = mmtests::read_file(benchmark, name, &bytes[end + 1..]);
});

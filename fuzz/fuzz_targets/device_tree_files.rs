//! Device trees as directories: paths and contents by turns, told apart by bytes 255.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.split(|&byte| byte == 255);
    let mut files = Vec::new();
    while let (Some(path), Some(content)) = (parts.next(), parts.next()) {
        files.push((String::from_utf8_lossy(path).into_owned(), content.to_vec()));
    }
    if let Ok(machine) = machine::devicetree::read_files(files, "fuzz") {
        whole::use_machine(&machine);
    }
});

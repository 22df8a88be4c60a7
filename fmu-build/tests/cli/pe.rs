//! A minimal Windows library: headers and an export table, enough for the inspection.

/// Returns a 64-bit DLL for x86-64 that exports these names.
pub fn dll(names: &[impl AsRef<str>]) -> Vec<u8> {
    let table = export_table(names);
    let table_size = u32::try_from(table.len()).expect("a small table");

    let mut file = vec![0; 64];
    file[..2].copy_from_slice(b"MZ");
    file[60] = 64;
    file.extend(b"PE\0\0");
    numbers16(&mut file, &[0x8664, 1]); // x86-64, one section
    numbers32(&mut file, &[0, 0, 0]);
    numbers16(&mut file, &[240, 0x2022]); // size of the optional header; a DLL

    numbers16(&mut file, &[0x20b, 0]); // 64 bits
    numbers32(&mut file, &[0, 0, 0, 0, 0, 0x1000_0000, 0, 0x1000, 0x200]); // image base, alignments
    numbers16(&mut file, &[6, 0, 0, 0, 6, 0]);
    numbers32(&mut file, &[0, 0x1000 + 0x1000, 0x200, 0]); // sizes of image and headers
    numbers16(&mut file, &[2, 0]);
    numbers32(&mut file, &[0; 8]);
    numbers32(&mut file, &[0, 16, ADDRESS, table_size]); // sixteen directories; the first: exports
    file.extend([0; 15 * 8]);

    file.extend(b".rdata\0\0");
    numbers32(
        &mut file,
        &[table_size, ADDRESS, table_size, 0x200, 0, 0, 0, 0x4000_0040],
    );
    file.resize(0x200, 0);
    file.extend(table);
    file
}

/// Address of the export table in memory, relative to the image base.
const ADDRESS: u32 = 0x1000;

/// Returns an export table: directory, addresses of functions, pointers to names, ordinals,
/// strings.
fn export_table(names: &[impl AsRef<str>]) -> Vec<u8> {
    let n = u32::try_from(names.len()).expect("a few names");
    let functions = ADDRESS + 40;
    let (pointers, ordinals, strings) = (functions + 4 * n, functions + 8 * n, functions + 10 * n);
    let mut table = Vec::new();
    numbers32(&mut table, &[0, 0, 0, strings, 1, n, n, functions, pointers, ordinals]);
    numbers32(&mut table, &vec![0x10; names.len()]);
    let mut text = b"library.dll\0".to_vec();
    for name in names {
        let place = strings + u32::try_from(text.len()).expect("a few names");
        numbers32(&mut table, &[place]);
        text.extend(name.as_ref().as_bytes());
        text.push(0);
    }
    for ordinal in 0..names.len() {
        numbers16(&mut table, &[u16::try_from(ordinal).expect("a few names")]);
    }
    table.extend(text);
    table
}

fn numbers16(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn numbers32(bytes: &mut Vec<u8>, numbers: &[u32]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

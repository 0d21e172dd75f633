//! Compiles the BPF programs: each folder under `src/programs` to an object that the crate embeds.

fn main() {
    #[cfg(feature = "bpf")]
    bpf::compile();
}

#[cfg(feature = "bpf")]
mod bpf {
    use libbpf_cargo::SkeletonBuilder;
    use std::env;
    use std::path::{Path, PathBuf};

    pub(super) fn compile() {
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        println!("cargo:rerun-if-changed=src/bpf");
        println!("cargo:rerun-if-changed=src/programs");
        let arch = match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
            Ok("x86_64") => "x86",
            Ok("aarch64") => "arm64",
            other => panic!(
                "no BPF programs for this architecture yet: {other:?}; build with --no-default-features"
            ),
        };
        let mut folders: Vec<PathBuf> = std::fs::read_dir("src/programs")
            .expect("src/programs")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
        for folder in folders {
            one(&folder, &out, arch);
        }
    }

    fn one(folder: &Path, out: &Path, arch: &str) {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("a folder's name");
        let target = format!("-D__TARGET_ARCH_{arch}");
        let result = SkeletonBuilder::new()
            .source(folder.join(format!("{name}.bpf.c")))
            .obj(out.join(format!("{name}.bpf.o")))
            .clang_args(["-mcpu=v3", "-Wall", "-Werror", &target])
            .build();
        if let Err(error) = result {
            panic!(
                "the BPF program {name} does not compile: {error:?}\n\
                 needed: clang 14 or newer (apt-get install clang libelf-dev zlib1g-dev). Without it: --no-default-features"
            );
        }
    }
}

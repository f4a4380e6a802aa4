//! Finding ptxas and asking it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The PTX version of the questions, the newest that ptxas 13.5 reads.
pub const VERSION: &str = "9.5";

/// A ptxas that reads [`VERSION`].
pub struct Assembler {
    path: PathBuf,
}

/// What it said.
pub struct Answer {
    /// Whether it made code.
    pub accepted: bool,
    /// Its messages.
    pub text: String,
}

impl Assembler {
    /// The one in the workspace's `.venv`, where `make setup` installs it.
    pub fn found() -> Assembler {
        let Some(path) = in_workspace() else { panic!("no ptxas in .venv: `make setup` installs it") };
        let ptxas = Assembler { path };
        let empty = format!(".version {VERSION}\n.target sm_80\n.address_size 64\n");
        let read = ptxas.ask("sm_80", &empty);
        assert!(read.accepted, "{} does not read PTX {VERSION}: {}", ptxas.path.display(), read.text);
        ptxas
    }

    /// Assembles a module.
    pub fn ask(&self, chip: &str, module: &str) -> Answer {
        self.assemble(chip, module, |_| ()).0
    }

    /// Assembles a module; the machine code, as nvdisasm writes it.
    pub fn machine_code(&self, chip: &str, module: &str) -> String {
        let nvdisasm = self.path.with_file_name("nvdisasm");
        let shown =
            self.assemble(chip, module, |cubin| Command::new(nvdisasm).arg(cubin).output().unwrap()).1;
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    /// Assembles a module, and looks at the file that it made.
    fn assemble<R>(&self, chip: &str, module: &str, look: impl FnOnce(&Path) -> R) -> (Answer, R) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("k.ptx");
        std::fs::write(&file, module).unwrap();
        let output = folder.path().join("k.cubin");
        let run = Command::new(&self.path).arg("-arch").arg(chip).arg("-o").arg(&output).arg(&file).output();
        let run = run.unwrap();
        let text = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
        (Answer { accepted: run.status.success(), text }, look(&output))
    }
}

/// The workspace's `.venv`: two folders above this crate.
fn in_workspace() -> Option<PathBuf> {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    search(&crate_root.parent()?.parent()?.join(".venv"), 8)
}

/// A file `bin/ptxas` under this folder, at most so many folders deep.
fn search(folder: &Path, depth: u32) -> Option<PathBuf> {
    let here = folder.join("bin").join("ptxas");
    if here.is_file() {
        return Some(here);
    }
    let deeper = depth.checked_sub(1)?;
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders.iter().find_map(|inside| search(inside, deeper))
}

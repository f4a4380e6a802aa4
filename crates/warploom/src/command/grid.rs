//! Extents of a grid on the command line.

/// Up to three extents, separated by commas.
pub fn grid(text: &str) -> Result<[u32; 3], String> {
    let mut grid = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("at most three extents".into());
    }
    for (slot, part) in grid.iter_mut().zip(parts) {
        *slot =
            part.trim().parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("`{part}` is no extent"))?;
    }
    Ok(grid)
}

//! Linear algebra over GF(2): vectors are the bits of a `u64`, addition is exclusive-or.

/// Independent vectors, each with a tag that is added up as they are: an xor basis by leading bit.
#[derive(Clone)]
pub(crate) struct Echelon {
    vectors: [u64; 64],
    tags: [u64; 64],
    /// The leading bits that are taken.
    leading: u64,
}

impl Echelon {
    pub fn new() -> Echelon {
        Echelon { vectors: [0; 64], tags: [0; 64], leading: 0 }
    }

    pub fn of(vectors: &[u64]) -> Echelon {
        let mut echelon = Echelon::new();
        for &vector in vectors {
            echelon.insert(vector, 0);
        }
        echelon
    }

    /// The span of bit 0 up to, not including, bit `bits`.
    pub fn rank(&self) -> u32 {
        self.leading.count_ones()
    }

    /// Adds a vector with its tag. `Some(tag)` if it depends on what is there: the tags of the sum that is zero.
    pub fn insert(&mut self, vector: u64, tag: u64) -> Option<u64> {
        let (rest, sum) = self.reduce(vector);
        if rest == 0 {
            return Some(sum ^ tag);
        }
        let lead = 63 - rest.leading_zeros() as usize;
        self.vectors[lead] = rest;
        self.tags[lead] = sum ^ tag;
        self.leading |= 1 << lead;
        None
    }

    /// What is left of a vector, and the tags of the vectors that were taken away.
    pub fn reduce(&self, vector: u64) -> (u64, u64) {
        let (mut rest, mut tag) = (vector, 0);
        let mut hits = rest & self.leading;
        while hits != 0 {
            let lead = 63 - hits.leading_zeros() as usize;
            rest ^= self.vectors[lead];
            tag ^= self.tags[lead];
            hits = rest & self.leading & ((1 << lead) - 1);
        }
        (rest, tag)
    }

    pub fn contains(&self, vector: u64) -> bool {
        self.reduce(vector).0 == 0
    }

    /// The tags of the vectors that add up to this one.
    pub fn solve(&self, vector: u64) -> Option<u64> {
        let (rest, tag) = self.reduce(vector);
        (rest == 0).then_some(tag)
    }
}

/// The sum of the images of the bits of `x`; bits without an image count as zero.
pub(crate) fn apply(images: &[u64], x: u64) -> u64 {
    images.iter().enumerate().filter(|(bit, _)| x >> bit & 1 == 1).fold(0, |sum, (_, image)| sum ^ image)
}

/// How many of the vectors are independent.
pub(crate) fn rank(vectors: impl IntoIterator<Item = u64>) -> u32 {
    let mut echelon = Echelon::new();
    for vector in vectors {
        echelon.insert(vector, 0);
    }
    echelon.rank()
}

/// A basis of the sums of images that are zero: each as the bits that are summed.
pub(crate) fn kernel(images: &[u64]) -> Vec<u64> {
    let mut echelon = Echelon::new();
    images.iter().enumerate().filter_map(|(bit, &image)| echelon.insert(image, 1 << bit)).collect()
}

/// A basis of what two spans have in common (Zassenhaus, with the tags as second halves).
pub(crate) fn meet(left: &[u64], right: &[u64]) -> Vec<u64> {
    let mut echelon = Echelon::new();
    for &vector in left {
        echelon.insert(vector, vector);
    }
    let mut found = Echelon::new();
    let mut basis = Vec::new();
    for &vector in right {
        if let Some(common) = echelon.insert(vector, 0)
            && found.insert(common, 0).is_none()
        {
            basis.push(common);
        }
    }
    basis
}

/// `log2` of a power of two.
pub(crate) fn log2(size: u64) -> Option<u32> {
    size.is_power_of_two().then(|| size.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_what_it_spans() {
        let images = [0b011, 0b110, 0b101, 0b1000];
        assert_eq!(kernel(&images), [0b111]);
        assert_eq!(rank(images), 3);
        let mut echelon = Echelon::new();
        for (bit, image) in images.into_iter().enumerate() {
            echelon.insert(image, 1 << bit);
        }
        for x in 0..16u64 {
            match echelon.solve(x) {
                Some(tag) => assert_eq!(apply(&images, tag), x),
                None => assert!(x & 7 == 1 || (x & 7).count_ones() % 2 == 1),
            }
        }
    }

    #[test]
    fn meets_are_what_both_span() {
        let (left, right) = ([0b0001, 0b0110, 0b1000], [0b0111, 0b1010]);
        let common = meet(&left, &right);
        for x in 0..16u64 {
            let both = Echelon::of(&left).contains(x) && Echelon::of(&right).contains(x);
            assert_eq!(Echelon::of(&common).contains(x), both, "{x:b}");
        }
    }
}

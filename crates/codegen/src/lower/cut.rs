//! A conversion cut in two, which take turns in scratch memory (G12).

use warploom_layout::{Dim, Layout};

/// A bit of a tile's places that one bit of a register's number alone gives where elements come from, and one bit of a
/// register's or a thread's alone where they are wanted: elements with and without it never meet.
pub(super) struct Cut {
    /// The bit of the register's number that gives it.
    pub given: u32,
    /// What wants it.
    pub wanted: Wanted,
    /// The layouts of either half.
    pub from: Layout,
    pub to: Layout,
}

/// What a bit of the places depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wanted {
    /// A bit of a register's number.
    Register(u32),
    /// A bit of a thread's number in its partition.
    Thread(u32),
}

/// Places as numbers of outputs; nothing for zero.
type Image = Vec<(Dim, u64)>;

const INPUTS: [Dim; 3] = [Dim::Register, Dim::Lane, Dim::Warp];

impl Cut {
    /// A cut of a conversion, among registers where there is one.
    pub fn of(from: &Layout, to: &Layout) -> Option<Cut> {
        let (given, wanted) = (images(from), images(to));
        let mut cuts = Vec::new();
        for (bit, image) in (0..).zip(&given[0]) {
            let &[(dim, place)] = image.as_slice() else { continue };
            if !place.is_power_of_two() || users(&given, (dim, place)).len() != 1 {
                continue;
            }
            if let &[(input, at)] = users(&wanted, (dim, place)).as_slice()
                && wanted.get(input).and_then(|all| all.get(at)) == Some(image)
            {
                cuts.push((input != 0, bit, input, at));
            }
        }
        let (_, bit, input, at) = cuts.into_iter().min()?;
        let (mut less, mut half) = (given, wanted);
        less[0].remove(bit);
        if input == 0 {
            half[0].remove(at);
        } else {
            half[input][at].clear();
        }
        let number = u32::try_from(at).ok()?;
        let wanted = match input {
            0 => Wanted::Register(number),
            1 => Wanted::Thread(number),
            _ => Wanted::Thread(5 + number),
        };
        Some(Cut {
            given: u32::try_from(bit).ok()?,
            wanted,
            from: layout(&less, from)?,
            to: layout(&half, to)?,
        })
    }
}

/// The images of the bits of each input.
fn images(layout: &Layout) -> [Vec<Image>; 3] {
    INPUTS.map(|input| {
        let bits = layout.input_size(input).trailing_zeros();
        let image = |bit| -> Image {
            let outputs = layout.outputs().into_iter();
            outputs
                .map(|(dim, _)| (dim, layout.image(input, bit, dim)))
                .filter(|&(_, place)| place != 0)
                .collect()
        };
        (0..bits).map(image).collect()
    })
}

/// The bits of inputs that a bit of the places depends on: the number of the input, and of the bit.
fn users(images: &[Vec<Image>; 3], (dim, place): (Dim, u64)) -> Vec<(usize, usize)> {
    let has = |image: &Image| image.iter().any(|&(d, by)| d == dim && by & place != 0);
    let of = |(input, all): (usize, &Vec<Image>)| {
        (0..all.len()).filter(|&bit| has(&all[bit])).map(|bit| (input, bit)).collect::<Vec<_>>()
    };
    images.iter().enumerate().flat_map(of).collect()
}

/// The layout of these images, onto the outputs of another.
fn layout(images: &[Vec<Image>; 3], like: &Layout) -> Option<Layout> {
    let parts: Vec<Vec<&[(Dim, u64)]>> =
        images.iter().map(|all| all.iter().map(Vec::as_slice).collect()).collect();
    let inputs: Vec<_> = INPUTS.into_iter().zip(parts.iter().map(Vec::as_slice)).collect();
    Layout::new(&inputs, &like.outputs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(layout: &Layout) -> Vec<Vec<(Dim, u64)>> {
        let sizes = INPUTS.map(|input| layout.input_size(input));
        let all = |n: u64| {
            let at = [
                (INPUTS[0], n % sizes[0]),
                (INPUTS[1], n / sizes[0] % sizes[1]),
                (INPUTS[2], n / sizes[0] / sizes[1]),
            ];
            layout.apply(&at).unwrap()
        };
        let mut found: Vec<_> = (0..sizes.iter().product()).map(all).collect();
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn halves_have_the_same_elements() {
        let (x, y) = (Dim::Axis(0), Dim::Axis(1));
        let from =
            Layout::of(&[(Dim::Register, y, 4), (Dim::Register, x, 4), (Dim::Lane, y, 8), (Dim::Lane, x, 4)]);
        let to = Layout::of(&[(Dim::Register, x, 8), (Dim::Lane, y, 32), (Dim::Register, x, 2)]);
        let (from, to) = (from.unwrap(), to.unwrap());
        let cut = Cut::of(&from, &to).unwrap();
        assert_eq!((cut.given, cut.wanted), (2, Wanted::Register(0)));
        assert_eq!(elements(&cut.from), elements(&cut.to));
        assert_eq!(elements(&cut.from).len() * 2, elements(&from).len());
        let across = Layout::of(&[(Dim::Lane, x, 16), (Dim::Lane, y, 2), (Dim::Register, y, 16)]).unwrap();
        let cut = Cut::of(&from, &across).unwrap();
        assert_eq!((cut.given, cut.wanted), (1, Wanted::Register(0)), "a register, where there is one");
        let lanes =
            Layout::of(&[(Dim::Lane, y, 4), (Dim::Register, y, 8), (Dim::Lane, x, 8), (Dim::Register, x, 2)]);
        let cut = Cut::of(&from, &lanes.unwrap()).unwrap();
        assert_eq!((cut.given, cut.wanted), (0, Wanted::Thread(0)));
        assert_eq!(elements(&cut.from), elements(&cut.to));
    }

    #[test]
    fn places_that_several_bits_give_are_not_cut() {
        let x = Dim::Axis(0);
        let from =
            Layout::new(&[(Dim::Register, &[&[(x, 3)]]), (Dim::Lane, &[&[(x, 2)]])], &[(x, 4)]).unwrap();
        let to = Layout::of(&[(Dim::Register, x, 2), (Dim::Lane, x, 2)]).unwrap();
        assert!(Cut::of(&from, &to).is_none());
    }
}

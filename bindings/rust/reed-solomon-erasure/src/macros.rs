//! Macros for lists of shards, and the checks of arguments.

/// Makes a vector of shards, which are vectors.
///
/// ```
/// use reed_solomon_erasure::shards;
///
/// let shards: Vec<Vec<u8>> = shards!([1, 2, 3], [4, 5, 6]);
/// ```
#[macro_export]
macro_rules! shards {
    ($([$($element:expr),*]),*) => {{
        vec![$(vec![$($element),*]),*]
    }};
}

/// Makes a list of the items of another list: `=>into` moves them, `=>to` borrows them, `=>to_mut` borrows them mutably.
/// The type of the new list follows, with the function that makes an empty one; `=>into_vec`, `=>to_vec` and
/// `=>to_mut_vec` make vectors of the type of item that follows.
///
/// ```
/// use reed_solomon_erasure::convert_2D_slices;
///
/// let mut array = [[1u8, 2, 3], [4, 5, 6]];
/// let shards: Vec<&mut [u8]> = convert_2D_slices!(array =>to_mut_vec &mut [u8]);
/// let shared: Vec<&[u8]> = convert_2D_slices!(shards =>into Vec<&[u8]>, Vec::with_capacity);
/// ```
#[macro_export]
macro_rules! convert_2D_slices {
    ($list:expr =>into_vec $item:ty) => {
        $crate::convert_2D_slices!($list =>into Vec<$item>, Vec::with_capacity)
    };
    ($list:expr =>to_vec $item:ty) => {
        $crate::convert_2D_slices!($list =>to Vec<$item>, Vec::with_capacity)
    };
    ($list:expr =>to_mut_vec $item:ty) => {
        $crate::convert_2D_slices!($list =>to_mut Vec<$item>, Vec::with_capacity)
    };
    ($list:expr =>into $made:ty, $empty:path) => {
        $crate::convert_2D_slices!(@fill $list, into_iter, $made, $empty)
    };
    ($list:expr =>to $made:ty, $empty:path) => {
        $crate::convert_2D_slices!(@fill $list, iter, $made, $empty)
    };
    ($list:expr =>to_mut $made:ty, $empty:path) => {
        $crate::convert_2D_slices!(@fill $list, iter_mut, $made, $empty)
    };
    (@fill $list:expr, $iterator:ident, $made:ty, $empty:path) => {{
        let mut made: $made = $empty($list.len());
        for item in $list.$iterator() {
            made.push(item);
        }
        made
    }};
}

/// Returns the error `$few` or `$many` from the function if a list has another number of items.
macro_rules! check_count {
    ($list:expr, $count:expr, $few:ident, $many:ident) => {
        match $list.len().cmp(&$count) {
            core::cmp::Ordering::Less => return Err($crate::Error::$few),
            core::cmp::Ordering::Greater => return Err($crate::Error::$many),
            core::cmp::Ordering::Equal => {}
        }
    };
}

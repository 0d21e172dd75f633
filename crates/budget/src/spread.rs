//! Median and spread of what runs took.

/// Median, and median of the distances from it.
pub(crate) fn spread(values: &[f64]) -> (f64, f64) {
    let center = median(values);
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    (center, median(&distances))
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (len, middle) if len % 2 == 1 => sorted[middle],
        (_, middle) => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn the_spread_is_the_median_distance() {
        assert_eq!(spread(&[5.0, 1.0, 2.0]), (2.0, 1.0));
        assert_eq!(spread(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(spread(&[]), (0.0, 0.0));
    }
}

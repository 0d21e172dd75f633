//! What all views are made from: the selected profile, its total, its units, and the trimmed graph.

use super::{Needs, ProfileView};
use crate::graph::{CallGraph, Edges, Granularity, Node, Shape, Weights, magnitude};
use crate::select::{self, BASE_LABEL, SelectError, StackSelection};
use crate::units;
use regex::Regex;
use std::borrow::Cow;
use whyslow_model::profile::{Label, LabelSetId, LabelValue, Profile};
use whyslow_model::visible;

/// A profile made ready for a view.
pub struct PreparedProfile<'p> {
    /// What is left of the profile.
    pub profile: Cow<'p, Profile>,
    /// What was asked for.
    pub selection: &'p StackSelection,
    /// Which functions, where the view is about some.
    pub pattern: Option<Regex>,
    /// Options that matched nothing, in words.
    pub remarks: Vec<String>,
    /// The sum of all samples, of which percentages are.
    pub total: i64,
    /// The value that is shown.
    pub value_index: usize,
    /// Its name (`cpu`, `mean_delay`) and unit.
    pub sample_type: String,
    /// Its unit, as the profile has it.
    pub sample_unit: String,
    pub(super) needs: Needs,
}

/// A graph to be shown, and what was left out of it.
pub(crate) struct Trimmed {
    pub(crate) graph: CallGraph,
    pub(crate) edges: Edges,
    /// Nodes before they were cut to a number.
    pub(crate) nodes_before: usize,
    /// Nodes left out because they are small.
    pub(crate) dropped: usize,
    /// The unit for the values.
    pub(crate) unit: String,
}

impl<'p> PreparedProfile<'p> {
    /// A profile made ready for a view.
    ///
    /// # Errors
    /// If what is asked for is not in the profile, or a regular expression is none.
    pub fn new(
        profile: &'p Profile,
        selection: &'p StackSelection,
        view: &ProfileView,
        pattern: Option<&str>,
    ) -> Result<PreparedProfile<'p>, SelectError> {
        let value_index = select::sample_index(profile, &selection.sample_index)?;
        if selection.divide_by == 0.0 {
            return Err(SelectError::ZeroDivisor);
        }
        let pattern = match pattern {
            Some(text) => Some(
                Regex::new(text)
                    .map_err(|reason| SelectError::Regex { option: view.name, reason: Box::new(reason) })?,
            ),
            None if view.needs.pattern => return Err(SelectError::NoPattern(view.name)),
            None => None,
        };
        let value = profile.sample_types[value_index];
        let mut remarks = Vec::new();
        let mut report = PreparedProfile {
            profile: select::prepared(profile, selection, &mut remarks)?,
            selection,
            pattern,
            remarks,
            total: 0,
            value_index,
            sample_type: format!("{}{}", if selection.mean { "mean_" } else { "" }, profile.str(value.kind)),
            sample_unit: profile.str(value.unit).to_string(),
            needs: view.needs,
        };
        // Percentages are of the whole profile, unless they are asked to be of what is left of it.
        let whole = report.sum();
        report.profile = select::filtered(report.profile, selection, &mut report.remarks)?;
        report.total = if selection.relative_percentages { report.sum() } else { whole };
        if !view.needs.escapes && report.profile.acts() {
            report.profile.to_mut().show_texts();
            for text in [&mut report.sample_type, &mut report.sample_unit] {
                *text = visible::line(text).into_owned();
            }
        }
        Ok(report)
    }

    /// The sum of the samples' magnitudes; of the base's alone where there is one.
    fn sum(&self) -> i64 {
        let profile = &self.profile;
        let is_base = |label: &Label| match label.value {
            LabelValue::Text(value) => profile.str(value) == "true" && profile.str(label.key) == BASE_LABEL,
            LabelValue::Number(..) => false,
        };
        let sets = (0..profile.label_set_count()).map(|id| profile.labels(LabelSetId(id as u32)));
        let base_sets: Vec<bool> = sets.map(|labels| labels.iter().any(is_base)).collect();
        // The sums of values and divisors: of all samples, and of the base's.
        let mut sums = [(0_i64, 0_i64); 2];
        for sample in profile.samples() {
            let value = sample.values[self.value_index].saturating_abs();
            let divisor = if self.selection.mean { sample.values[0] } else { 0 };
            let of_base = base_sets.get(sample.label_set.0 as usize).is_some_and(|is_base| *is_base);
            for (total, divisors) in &mut sums[..1 + usize::from(of_base)] {
                *total = total.saturating_add(value);
                *divisors = divisors.saturating_add(divisor);
            }
        }
        let (total, divisor) = if sums[1].0 > 0 { sums[1] } else { sums[0] };
        total.checked_div(divisor).unwrap_or(total)
    }

    /// Values of each stack.
    pub(crate) fn weights(&self) -> Weights {
        Weights::of(&self.profile, self.value_index, self.selection.mean)
    }

    /// What makes two frames the same node in this view.
    pub(crate) fn shape(&self) -> Shape {
        let asked = self.needs.granularity.or(self.selection.granularity);
        Shape {
            granularity: asked.unwrap_or(Granularity::Functions),
            no_inlines: self.selection.no_inlines,
            columns: self.selection.show_columns,
            objects: self.needs.objects,
            trim_path: self.selection.trim_path.clone(),
            source_path: self.selection.source_path.clone(),
        }
    }

    /// The graph of all nodes, unsorted.
    pub(crate) fn full_graph(&self, weights: &Weights) -> CallGraph {
        CallGraph::new(&self.profile, &self.shape(), weights, self.selection.drop_negative)
    }

    /// The graph without what is small, sorted. Without `with_edges` it has only those that tell whether a
    /// function is inlined.
    pub(crate) fn trimmed(&self, with_edges: bool) -> Trimmed {
        let selection = self.selection;
        let trim = selection.trim && !self.needs.everything;
        let weights = self.weights();
        let mut graph = self.full_graph(&weights);
        let flat = graph.flat_sum() as f64;
        let cutoff = |fraction: f64| if trim { ((flat * fraction) as i64).saturating_abs() } else { 0 };
        let dropped = graph.drop_below(cutoff(selection.node_fraction));
        let nodes_before = graph.shown.len();
        graph.sort(selection.by_cum);
        match selection.node_count.unwrap_or(self.needs.node_count) {
            count if trim && count > 0 => graph.keep_first(count),
            _ => {}
        }
        let edges = if with_edges || graph.inlined_nodes().next().is_some() {
            graph.edges(&self.profile, &weights, cutoff(selection.edge_fraction), with_edges)
        } else {
            Edges::default()
        };
        let unit = self.unit_for(&graph);
        Trimmed { graph, edges, nodes_before, dropped, unit }
    }

    /// The unit for all values of a graph: fit for the smallest, or a hundred times that if the whole is far larger.
    fn unit_for(&self, graph: &CallGraph) -> String {
        let asked = &self.selection.unit;
        if asked != units::MINIMUM || graph.shown.is_empty() {
            return asked.clone();
        }
        let own = |node: &Node| match magnitude(node.flat_value()) {
            0 => magnitude(node.cum_value()),
            value => value,
        };
        let smallest = graph.shown.iter().map(|id| own(graph.node(*id))).filter(|value| *value > 0).min();
        let smallest = smallest.map_or(self.total, |value| i64::try_from(value).unwrap_or(i64::MAX));
        let (smallest, largest) = (self.divided(smallest), self.divided(self.total));
        let fit = |value: i64| units::scale(value, &self.sample_unit, units::MINIMUM).1;
        let (mut unit, widest) = (fit(smallest), fit(largest));
        if unit != widest && smallest.saturating_mul(100) < largest {
            unit = fit(smallest.saturating_mul(100));
        }
        if unit.is_empty() { self.sample_unit.clone() } else { unit }
    }

    /// A value as it is shown, `divide_by` taken into account.
    pub(crate) fn divided(&self, value: i64) -> i64 {
        let ratio = 1.0 / self.selection.divide_by;
        if ratio > 0.0 && ratio != 1.0 { (value as f64 * ratio) as i64 } else { value }
    }

    /// A value in `unit`.
    pub(crate) fn format(&self, value: i64, unit: &str) -> String {
        units::scaled_label(self.divided(value), &self.sample_unit, unit)
    }
}

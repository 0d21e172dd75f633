//! Table `hosts`: the host's resources.

part_table! {
    "hosts": "A figure of a resource of the host over a minute.",
    HostRow, sorted by ["host", "resource", "metric", "start"], over hosts: true;
    resource: String, Word, "`cpu`, `memory`, `disk:NAME`, `net:NAME`, `pressure` and others.";
    metric: String, Word, "What is measured of it.";
    value: f64, F64, "The figure; a row that would have none is not written.";
    unit: String, Word, "Its unit.";
}

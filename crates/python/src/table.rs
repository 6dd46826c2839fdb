//! Tables that leave through Arrow's C interface.

use crate::error::plain;
use ::results::columns::{Column, Values};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, Int32Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A table of columns in Arrow's form. `polars.DataFrame(t)`, `pyarrow.table(t)`, `pandas.DataFrame.from_arrow(t)` and DuckDB
/// (`duckdb.sql("from t")`) take it; numbers are not copied. The unit and the meaning of a column are metadata of its field.
#[pyclass(frozen, subclass, module = "schedscape")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    /// The same table; numbers stay where they are.
    pub fn of(table: ::results::columns::Table) -> PyResult<Table> {
        Table::named(table, &[])
    }

    /// The same with other names for its first columns.
    pub fn named(table: ::results::columns::Table, names: &[String]) -> PyResult<Table> {
        let (mut fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
            table.columns.into_iter().map(arrow).unzip();
        for (field, name) in fields.iter_mut().zip(names) {
            *field = field.clone().with_name(name);
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Table { batch: RecordBatch::try_new(schema, arrays).map_err(plain)? })
    }
}

fn arrow(column: Column) -> (Field, ArrayRef) {
    let (kind, array): (DataType, ArrayRef) = match column.values {
        Values::Text(of) => (DataType::Utf8, Arc::new(StringArray::from(of))),
        Values::Small(of) => (DataType::Int32, Arc::new(Int32Array::from(of))),
        Values::Whole(of) => (DataType::UInt64, Arc::new(UInt64Array::from(of))),
        Values::Real(of) => (DataType::Float64, Arc::new(Float64Array::from(of))),
        Values::Maybe(of) => (DataType::Float64, Arc::new(Float64Array::from(of))),
    };
    let about = [("unit", column.unit), ("help", column.help)];
    let metadata: HashMap<String, String> =
        about.into_iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let field = Field::new(column.name, kind, array.null_count() > 0);
    (field.with_metadata(metadata), array)
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|f| f.name().clone()).collect()
    }

    /// What each column holds, by its name.
    #[getter]
    fn help(&self) -> BTreeMap<String, String> {
        let schema = self.batch.schema();
        let help = |f: &Arc<Field>| {
            (f.name().clone(), f.metadata().get("help").cloned().unwrap_or_default())
        };
        schema.fields().iter().map(help).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Table of {} rows: {}", self.batch.num_rows(), self.columns().join(", "))
    }

    /// Arrow's PyCapsule interface: the rows as a stream of one batch. A schema that is asked for is not looked at, as the
    /// interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Arrow's PyCapsule interface: names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(plain)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

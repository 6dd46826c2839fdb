//! What can go wrong when a report is made.

/// One error.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A picture that cannot be drawn.
    #[error("picture `{picture}`: {reason}")]
    Picture {
        /// The picture's title.
        picture: String,
        /// The drawing library's reason.
        reason: String,
    },
    /// Samples that cannot be compared.
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
    /// An SMT mode that the machine does not have.
    #[error(transparent)]
    Online(#[from] machine::model::OnlineError),
    /// Domains that cannot be built.
    #[error(transparent)]
    Domains(#[from] kernel::KernelError),
    /// Results that cannot be analysed.
    #[error(transparent)]
    Results(#[from] results::ResultsError),
    /// A page that cannot be assembled.
    #[error("page: {0}")]
    Page(#[from] askama::Error),
    /// Data that cannot be written as comma-separated values.
    #[error("csv: {0}")]
    Csv(#[from] csv::Error),
}

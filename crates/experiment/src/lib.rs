//! The experiment file, replicas in parallel, the result store, published figures.

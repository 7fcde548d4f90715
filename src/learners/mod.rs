//! How it is learned: meta-learners on burn.

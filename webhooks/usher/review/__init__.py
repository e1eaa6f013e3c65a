"""AdmissionReview in, AdmissionReview out; no HTTP."""
